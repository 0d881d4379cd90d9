/// The fields of a record without a Swift type: values by their stored names, in an order.
///
/// Fields that were read are in the order of the description, others in that in which they were set. Two are equal if they
/// have the same values for the same names, in whatever order.
///
/// ```swift
/// for (name, value) in record.fields where value != .null { print(name, value) }
/// ```
///
/// - Complexity: A field is found in O(count), with few fields.
public struct RecordFields: Sendable {
  /// The names of all fields, and of some that have no value here.
  private(set) var names: FieldNameList
  /// In step with the names; nil for those that the record does not have.
  private var values: [FieldValue?]
  /// The number of fields.
  public private(set) var count: Int

  /// Creates fields from values by name.
  public init(_ values: [String: FieldValue] = [:]) {
    self.init(FieldNameList(Array(values.keys)), values.values.map { .some($0) })
  }

  /// - Parameter values: One for each name.
  init(_ names: FieldNameList, _ values: [FieldValue?]) {
    self.names = names
    self.values = values
    count = values.count
  }

  /// The value of a field; nil if the record does not have it. Setting nil removes the field.
  public subscript(name: String) -> FieldValue? {
    get { names.place(of: name).flatMap { values[$0] } }
    set {
      guard let place = names.place(of: name) else {
        if let newValue { append(newValue, name) }
        return
      }
      count += (newValue == nil ? 0 : 1) - (values[place] == nil ? 0 : 1)
      values[place] = newValue
    }
  }

  private mutating func append(_ value: FieldValue, _ name: String) {
    names = FieldNameList(names.all + [name])
    values.append(value)
    count += 1
  }

  /// The value at a place in the list of names.
  @inline(__always)
  subscript(place: Int) -> FieldValue? { values[place] }
}

extension RecordFields: ExpressibleByDictionaryLiteral {
  /// Creates fields from a literal. Of several values for a name the last counts.
  public init(dictionaryLiteral elements: (String, FieldValue)...) {
    self.init(FieldNameList(elements.map { $0.0 }), elements.map { .some($0.1) })
    for place in 1..<Swift.max(1, elements.count) {
      guard let first = names.place(of: elements[place].0), first < place else { continue }
      values[first] = values[place]
      values[place] = nil
      count -= 1
    }
  }
}

extension RecordFields: Sequence {
  /// Returns an iterator over the fields with their names.
  public func makeIterator() -> AnyIterator<(key: String, value: FieldValue)> {
    var place = 0
    return AnyIterator { [self] in
      while place < values.count {
        defer { place += 1 }
        if let value = values[place] { return (names.all[place], value) }
      }
      return nil
    }
  }

  public var underestimatedCount: Int { count }
}

extension RecordFields: Hashable {
  /// Returns true if both have equal values for the same names.
  public static func == (one: RecordFields, other: RecordFields) -> Bool {
    if one.names === other.names { return one.values == other.values }
    return one.count == other.count && one.allSatisfy { other[$0.key] == $0.value }
  }

  /// Hashes the fields, in whatever order they are.
  public func hash(into hasher: inout Hasher) {
    var sum = 0
    for (name, value) in self {
      var field = Hasher()
      field.combine(name)
      field.combine(value)
      sum &+= field.finalize()
    }
    hasher.combine(sum)
  }
}

extension RecordFields: CustomStringConvertible {
  /// The fields as a dictionary has them.
  public var description: String {
    "[" + map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "]"
  }
}

/// Names of fields in an order. The records that were read with one layout share it.
final class FieldNameList: Sendable {
  let all: [String]
  /// The places of the names, if there are too many to compare them one by one.
  private let places: [String: Int]

  init(_ names: [String]) {
    all = names
    places =
      names.count < Self.indexedCountMin
      ? [:] : Dictionary(zip(names, names.indices)) { first, _ in first }
  }

  private static var indexedCountMin: Int { 24 }

  func place(of name: String) -> Int? {
    if !places.isEmpty { return places[name] }
    for place in 0..<all.count where all[place] == name { return place }
    return nil
  }
}
