/// Finds the elements of a list by their names: the places of all are looked for once, when a name is first sought, so that a
/// list of 20,000 fields whose names are each sought takes linear time.
///
/// After each change of the list, call `renew(for:)`. All tables are equal, so that values which have one are compared by
/// their lists alone.
struct NameTable: Sendable {
  private final class Memory: @unchecked Sendable {
    let lock = ThreadLock()
    /// The first place of each name; nil before one is sought.
    var places: [String: Int]?
  }

  private let memory = Memory()

  /// The length up to which a list is searched from its beginning.
  private static var shortMax: Int { 16 }

  /// Begins another table, since the list has changed.
  ///
  /// - Parameter count: The number of elements that it has now.
  mutating func renew(for count: Int) {
    if count > Self.shortMax { self = NameTable() }
  }

  /// Returns the place of the first element with a name.
  ///
  /// - Parameter list: The same in each call.
  /// - Complexity: O(1); the first time, O(count).
  func place<Element>(
    of name: String, in list: [Element], by path: (Element) -> String
  ) -> Int? {
    if list.count <= Self.shortMax { return list.firstIndex { path($0) == name } }
    memory.lock.lock()
    defer { memory.lock.unlock() }
    let places = memory.places ?? Self.places(of: list.map(path))
    memory.places = places
    return places[name]
  }

  private static func places(of names: [String]) -> [String: Int] {
    var places: [String: Int] = [:]
    places.reserveCapacity(names.count)
    for (place, name) in names.enumerated() where places[name] == nil { places[name] = place }
    return places
  }
}

extension NameTable: Hashable {
  static func == (one: NameTable, other: NameTable) -> Bool { true }

  func hash(into hasher: inout Hasher) {}
}
