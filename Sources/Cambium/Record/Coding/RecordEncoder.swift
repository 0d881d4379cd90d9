/// The encoder of a record or a composite: its fields are a keyed container.
struct RecordEncoder: Encoder {
  private let encoding: RowEncoding
  private let node: CodingNode

  init(_ encoding: RowEncoding, _ node: CodingNode) {
    self.encoding = encoding
    self.node = node
  }

  var codingPath: [any CodingKey] { FieldKey.path(node.path) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(RecordEncodingContainer(encoding, node))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    encoding.refuse(node.path, "it is encoded without keys")
    return RefusingEncodingContainer(encoding, node.path)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    encoding.refuse(node.path, "it is encoded as a single value")
    return RefusingEncodingContainer(encoding, node.path)
  }
}

/// Takes the fields of a record or composite by their names.
struct RecordEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  private let encoding: RowEncoding
  private let node: CodingNode
  private var next = 0

  init(_ encoding: RowEncoding, _ node: CodingNode) {
    self.encoding = encoding
    self.node = node
  }

  var codingPath: [any CodingKey] { FieldKey.path(node.path) }

  @inline(__always)
  private mutating func target(_ key: Key) throws(StoreError) -> EncodingTarget {
    guard let slot = node.slot(for: key.stringValue, &next) else {
      throw encoding.refusal(node.path(of: key.stringValue), "there is no such field")
    }
    return EncodingTarget(slot)
  }

  mutating func encodeNil(forKey key: Key) throws { try encoding.putNull(in: target(key).slot) }

  mutating func encode(_ value: Bool, forKey key: Key) throws {
    try encoding.encode(value, as: .boolean, to: target(key))
  }
  mutating func encode(_ value: String, forKey key: Key) throws {
    try encoding.encode(value, as: .string, to: target(key))
  }
  mutating func encode(_ value: Double, forKey key: Key) throws {
    try encoding.encode(value, as: .double, to: target(key))
  }
  mutating func encode(_ value: Float, forKey key: Key) throws {
    try encoding.encode(value, as: .float, to: target(key))
  }
  mutating func encode(_ value: Int, forKey key: Key) throws {
    try encoding.encodeInteger(value, to: target(key))
  }
  mutating func encode(_ value: Int8, forKey key: Key) throws {
    try encoding.encodeInteger(value, to: target(key))
  }
  mutating func encode(_ value: Int16, forKey key: Key) throws {
    try encoding.encodeInteger(value, to: target(key))
  }
  mutating func encode(_ value: Int32, forKey key: Key) throws {
    try encoding.encodeInteger(value, to: target(key))
  }
  mutating func encode(_ value: Int64, forKey key: Key) throws {
    try encoding.encodeInteger(value, to: target(key))
  }
  mutating func encode(_ value: UInt, forKey key: Key) throws {
    try encoding.encodeInteger(value, to: target(key))
  }
  mutating func encode(_ value: UInt8, forKey key: Key) throws {
    try encoding.encodeInteger(value, to: target(key))
  }
  mutating func encode(_ value: UInt16, forKey key: Key) throws {
    try encoding.encodeInteger(value, to: target(key))
  }
  mutating func encode(_ value: UInt32, forKey key: Key) throws {
    try encoding.encodeInteger(value, to: target(key))
  }
  mutating func encode(_ value: UInt64, forKey key: Key) throws {
    try encoding.encodeInteger(value, to: target(key))
  }
  mutating func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
    try encoding.encode(value, to: target(key))
  }

  mutating func encodeIfPresent<Value: Encodable>(_ value: Value?, forKey key: Key) throws {
    let target = try target(key)
    guard !_isOptional(Value.self) else {
      throw encoding.refusal(target.slot, "an optional of an optional has two kinds of nil")
    }
    guard let value else { return try encoding.putNull(in: target.slot) }
    try encoding.encode(value, to: target)
  }

  mutating func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> {
    superEncoder(forKey: key).container(keyedBy: type)
  }

  mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    superEncoder(forKey: key).unkeyedContainer()
  }

  mutating func superEncoder() -> any Encoder { encoder(for: "super") }

  mutating func superEncoder(forKey key: Key) -> any Encoder { encoder(for: key.stringValue) }

  private mutating func encoder(for key: String) -> any Encoder {
    guard let slot = node.slot(for: key, &next) else {
      encoding.refuse(node.path(of: key), "there is no such field")
      return RefusingEncoder(encoding, node.path(of: key))
    }
    return FieldEncoder(encoding, EncodingTarget(slot))
  }
}

/// A key of a coding path: a field's name, or an element's place.
struct FieldKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = "\(intValue)"
    self.intValue = intValue
  }

  /// The coding path of a field.
  static func path(_ name: String?) -> [any CodingKey] {
    guard let name else { return [] }
    return name.split(separator: ".").map { FieldKey(stringValue: String($0)) }
  }
}
