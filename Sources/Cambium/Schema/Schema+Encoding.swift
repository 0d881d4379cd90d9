// The bytes of a schema, as the tree `schema` has them under its version: its fingerprint, then elements.
// An element that this version does not know is passed over, or refuses the schema, as its flag says.
//
//     0             16
//     ┌─────────────┬────────┬────────┬─ ─     element: kind u16, flags u16, length u32, payload
//     │ fingerprint │element │element │
//     └─────────────┴────────┴────────┴─ ─

/// The kinds of elements.
enum SchemaElement: UInt16, CaseIterable {
  case label = 1
  case nextNumber = 2
  case record = 3
  case modifier = 4
  case field = 5
  case primaryKey = 6
  case index = 7
  case condition = 8

  /// The flag of an element without which the rest must not be used.
  static let mustUnderstand: UInt16 = 1
}

extension Schema {
  /// The name of the tree that holds the schemas of all versions that the store ever had.
  static let treeName = "schema"

  /// The key of a version in that tree.
  static func key(of version: UInt32) -> [UInt8] {
    var key: [UInt8] = []
    key.append(integer: version.byteSwapped)
    return key
  }

  /// - Complexity: O(fields).
  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(fingerprint.hash)
    if let label { bytes.appendElement(.label) { $0.append(contentsOf: label.utf8) } }
    bytes.appendElement(.nextNumber) { $0.append(integer: nextNumber) }
    for record in records {
      bytes.appendElement(.record) { record.encode(to: &$0) }
    }
    return bytes
  }
}

extension RecordSchema {
  fileprivate func encode(to bytes: inout [UInt8]) {
    bytes.append(integer: number)
    bytes.append(integer: nextField)
    bytes.append(text: name)
    bytes.appendModifier(modifier)
    for field in fields {
      bytes.appendElement(.field) { field.encode(to: &$0) }
    }
    bytes.appendElement(.primaryKey) { $0.append(parts: primaryKey) { $0.littleEndianBytes } }
    for index in indexes {
      bytes.appendElement(.index) { encode(index, to: &$0) }
    }
  }

  private func encode(_ index: IndexSchema, to bytes: inout [UInt8]) {
    bytes.append(integer: index.number)
    bytes.append(index.isUnique ? 1 : 0)
    bytes.append(text: index.name)
    bytes.append(parts: index.parts) { $0.littleEndianBytes }
    guard let condition = index.condition else { return }
    bytes.appendElement(.condition) { bytes in
      bytes.append(condition: condition) { name in
        (field(named: name)?.number ?? 0).littleEndianBytes
      }
    }
  }
}

extension FieldSchema {
  fileprivate func encode(to bytes: inout [UInt8]) {
    bytes.append(integer: number)
    bytes.append(integer: composite ?? 0)
    bytes.append(isOptional ? 1 : 0)
    bytes.append(type: type)
    bytes.append(text: name)
    bytes.appendModifier(modifier)
  }
}

extension UInt32 {
  fileprivate var littleEndianBytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: self)
    return bytes
  }
}

extension [UInt8] {
  fileprivate mutating func appendElement(
    _ kind: SchemaElement, _ encode: (inout [UInt8]) -> Void
  ) {
    var payload: [UInt8] = []
    encode(&payload)
    append(integer: kind.rawValue)
    append(integer: SchemaElement.mustUnderstand)
    append(integer: UInt32(payload.count))
    append(contentsOf: payload)
  }

  fileprivate mutating func appendModifier(_ modifier: String?) {
    if let modifier { appendElement(.modifier) { $0.append(contentsOf: modifier.utf8) } }
  }
}
