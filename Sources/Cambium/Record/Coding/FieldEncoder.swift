internal import FoundationEssentials

/// The encoder of one field, or of an element of one, for types that encode themselves as something else:
/// enums, optionals, wrappers, arrays.
struct FieldEncoder: Encoder {
  private let encoding: RowEncoding
  private let target: EncodingTarget

  init(_ encoding: RowEncoding, _ target: EncodingTarget) {
    self.encoding = encoding
    self.target = target
  }

  var codingPath: [any CodingKey] { FieldKey.path(encoding.path(target.slot)) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    guard case .composite(let node) = encoding.kind(target.slot) else {
      return RefusingEncoder(
        encoding, encoding.path(target.slot), "it is encoded with keys, but is no composite"
      )
      .container(keyedBy: type)
    }
    encoding.beginComposite(target.slot)
    return KeyedEncodingContainer(RecordEncodingContainer(encoding, node))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    guard case .array(let scalar) = encoding.kind(target.slot), !target.isElement else {
      return RefusingEncoder(
        encoding, encoding.path(target.slot), "it is encoded as an array, but is none"
      )
      .unkeyedContainer()
    }
    encoding.beginArray(target.slot, of: scalar)
    return ArrayEncodingContainer(encoding, target.slot)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    ValueEncodingContainer(encoding, target)
  }
}

private struct ValueEncodingContainer: SingleValueEncodingContainer {
  private let encoding: RowEncoding
  private let target: EncodingTarget

  init(_ encoding: RowEncoding, _ target: EncodingTarget) {
    self.encoding = encoding
    self.target = target
  }

  var codingPath: [any CodingKey] { FieldKey.path(encoding.path(target.slot)) }

  func encodeNil() throws {
    guard !target.isElement else {
      throw encoding.refusal(encoding.path(target.slot), "an element is nil")
    }
    try encoding.putNull(in: target.slot)
  }

  func encode(_ value: Bool) throws { try encoding.encode(value, as: .boolean, to: target) }
  func encode(_ value: String) throws { try encoding.encode(value, as: .string, to: target) }
  func encode(_ value: Double) throws { try encoding.encode(value, as: .double, to: target) }
  func encode(_ value: Float) throws { try encoding.encode(value, as: .float, to: target) }
  func encode(_ value: Int) throws { try encoding.encodeInteger(value, to: target) }
  func encode(_ value: Int8) throws { try encoding.encodeInteger(value, to: target) }
  func encode(_ value: Int16) throws { try encoding.encodeInteger(value, to: target) }
  func encode(_ value: Int32) throws { try encoding.encodeInteger(value, to: target) }
  func encode(_ value: Int64) throws { try encoding.encodeInteger(value, to: target) }
  func encode(_ value: UInt) throws { try encoding.encodeInteger(value, to: target) }
  func encode(_ value: UInt8) throws { try encoding.encodeInteger(value, to: target) }
  func encode(_ value: UInt16) throws { try encoding.encodeInteger(value, to: target) }
  func encode(_ value: UInt32) throws { try encoding.encodeInteger(value, to: target) }
  func encode(_ value: UInt64) throws { try encoding.encodeInteger(value, to: target) }

  func encode<Value: Encodable>(_ value: Value) throws {
    guard !_isOptional(Value.self) else {
      throw encoding.refusal(
        encoding.path(target.slot), "an optional of an optional has two kinds of nil")
    }
    try encoding.encode(value, to: target)
  }
}

/// Takes the elements of an array column.
private struct ArrayEncodingContainer: UnkeyedEncodingContainer {
  private let encoding: RowEncoding
  private let slot: CodingSlot
  private(set) var count = 0

  init(_ encoding: RowEncoding, _ slot: CodingSlot) {
    self.encoding = encoding
    self.slot = slot
  }

  var codingPath: [any CodingKey] { FieldKey.path(encoding.path(slot)) }

  private mutating func next() -> EncodingTarget {
    count += 1
    return EncodingTarget(slot, isElement: true)
  }

  mutating func encodeNil() throws { throw encoding.refusal(slot, "an element is nil") }

  mutating func encode(_ value: Bool) throws {
    try encoding.encode(value, as: .boolean, to: next())
  }
  mutating func encode(_ value: String) throws {
    try encoding.encode(value, as: .string, to: next())
  }
  mutating func encode(_ value: Double) throws {
    try encoding.encode(value, as: .double, to: next())
  }
  mutating func encode(_ value: Float) throws { try encoding.encode(value, as: .float, to: next()) }
  mutating func encode(_ value: Int) throws { try encoding.encodeInteger(value, to: next()) }
  mutating func encode(_ value: Int8) throws { try encoding.encodeInteger(value, to: next()) }
  mutating func encode(_ value: Int16) throws { try encoding.encodeInteger(value, to: next()) }
  mutating func encode(_ value: Int32) throws { try encoding.encodeInteger(value, to: next()) }
  mutating func encode(_ value: Int64) throws { try encoding.encodeInteger(value, to: next()) }
  mutating func encode(_ value: UInt) throws { try encoding.encodeInteger(value, to: next()) }
  mutating func encode(_ value: UInt8) throws { try encoding.encodeInteger(value, to: next()) }
  mutating func encode(_ value: UInt16) throws { try encoding.encodeInteger(value, to: next()) }
  mutating func encode(_ value: UInt32) throws { try encoding.encodeInteger(value, to: next()) }
  mutating func encode(_ value: UInt64) throws { try encoding.encodeInteger(value, to: next()) }
  mutating func encode<Value: Encodable>(_ value: Value) throws {
    try encoding.encode(value, to: next())
  }

  mutating func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) -> KeyedEncodingContainer<Key> { superEncoder().container(keyedBy: type) }

  mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    superEncoder().unkeyedContainer()
  }

  mutating func superEncoder() -> any Encoder { FieldEncoder(encoding, next()) }
}
