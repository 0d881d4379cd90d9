/// A field as a coding key names it: what every value of it needs.
struct CodingSlot: BitwiseCopyable, Sendable {
  /// Its place in the tree's entries.
  let number: Int
  /// Its place in the layout's columns; of what is not stored, −1.
  let column: Int
  let place: ColumnPlace
  let isOptional: Bool
  /// The type of the column's value, if it is one value.
  let scalar: ScalarType?
  /// The type of the elements, if it is an array.
  let element: ScalarType?
}

/// The rest of it.
struct CodingEntry: Sendable {
  /// For errors: the stored name, with the composites around it.
  let path: String
  let kind: Kind

  enum Kind: Sendable {
    case scalar
    case array(ScalarType)
    case coded(any FieldCodec)
    /// Binary data or a string, outside the row where it is long.
    case external(ColumnType)
    case composite(CodingNode)
    /// Not stored: what is decoded instead.
    case transient(any Sendable)
  }
}

/// The fields of a record or of a composite in it, as coding keys name them.
final class CodingNode: Sendable {
  /// The stored name of a composite.
  let path: String?
  /// The Swift properties; by default coding keys have their names.
  private let properties: [String]
  /// Their stored names, without the composites around them.
  private let names: [String]
  let slots: [CodingSlot]

  init(path: String?, properties: [String], names: [String], slots: [CodingSlot]) {
    self.path = path
    self.properties = properties
    self.names = names
    self.slots = slots
  }

  /// The field of a coding key: first the property of that name, then what is stored under it.
  ///
  /// - Parameter next: Where to look first. Keys come in one order as a rule, so that is where it is; it
  ///   is moved on.
  @inline(__always)
  func slot(for key: String, _ next: inout Int) -> CodingSlot? {
    let index = next
    if index < properties.count, properties[index] == key {
      next = index &+ 1
      return slots[index]
    }
    return search(key, &next)
  }

  @inline(never)
  private func search(_ key: String, _ next: inout Int) -> CodingSlot? {
    guard let found = properties.firstIndex(of: key) ?? names.firstIndex(of: key) else {
      return nil
    }
    next = found + 1
    return slots[found]
  }

  /// The keys of all fields, as a type may name them.
  var keys: [(slot: CodingSlot, property: String, name: String)] {
    slots.indices.map { (slots[$0], properties[$0], names[$0]) }
  }

  /// Returns the name of a key of this node in errors.
  func path(of key: String) -> String { path.map { "\($0).\(key)" } ?? key }
}
