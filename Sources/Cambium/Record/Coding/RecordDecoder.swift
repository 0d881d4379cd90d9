/// The decoder of a record or a composite: its fields are a keyed container.
struct RecordDecoder: Decoder {
  private let decoding: RowDecoding
  private let node: CodingNode

  init(_ decoding: RowDecoding, _ node: CodingNode) {
    self.decoding = decoding
    self.node = node
  }

  var codingPath: [any CodingKey] { FieldKey.path(node.path) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    KeyedDecodingContainer(RecordDecodingContainer(decoding, node))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    throw decoding.refusal(node.path, "it is decoded without keys")
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    throw decoding.refusal(node.path, "it is decoded as a single value")
  }
}

/// Gives the fields of a record or composite by their names.
final class RecordDecodingContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
  private let decoding: RowDecoding
  private let node: CodingNode
  // A container is used on one thread at a time.
  @exclusivity(unchecked) private var next = 0

  init(_ decoding: RowDecoding, _ node: CodingNode) {
    self.decoding = decoding
    self.node = node
  }

  var codingPath: [any CodingKey] { FieldKey.path(node.path) }

  var allKeys: [Key] {
    node.keys.compactMap { slot, property, name in
      guard slot.column >= 0, (try? decoding.isNull(slot)) == false else { return nil }
      return Key(stringValue: property) ?? Key(stringValue: name)
    }
  }

  @inline(__always)
  private func source(_ key: Key) throws(StoreError) -> DecodingSource {
    guard let slot = unsafe node.slot(for: key.stringValue, &next) else {
      throw decoding.refusal(node.path(of: key.stringValue), "there is no such field")
    }
    return DecodingSource(slot)
  }

  /// Returns nil if the field is null.
  @inline(__always)
  private func present(_ key: Key) throws(StoreError) -> DecodingSource? {
    let source = try source(key)
    return try decoding.isNull(source.slot) ? nil : source
  }

  func contains(_ key: Key) -> Bool {
    guard let slot = unsafe node.slot(for: key.stringValue, &next) else { return false }
    // So that what is asked for next is found at once.
    unsafe next -= 1
    return (try? decoding.isNull(slot)) == false
  }

  func decodeNil(forKey key: Key) throws -> Bool { try present(key) == nil }

  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try decoding.decode(type, as: .boolean, from: source(key))
  }
  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try decoding.decode(type, as: .string, from: source(key))
  }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try decoding.decode(type, as: .double, from: source(key))
  }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try decoding.decode(type, as: .float, from: source(key))
  }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
    try decoding.decodeInteger(type, from: source(key))
  }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 {
    try decoding.decodeInteger(type, from: source(key))
  }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 {
    try decoding.decodeInteger(type, from: source(key))
  }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 {
    try decoding.decodeInteger(type, from: source(key))
  }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
    try decoding.decodeInteger(type, from: source(key))
  }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt {
    try decoding.decodeInteger(type, from: source(key))
  }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 {
    try decoding.decodeInteger(type, from: source(key))
  }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 {
    try decoding.decodeInteger(type, from: source(key))
  }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 {
    try decoding.decodeInteger(type, from: source(key))
  }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 {
    try decoding.decodeInteger(type, from: source(key))
  }
  func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
    try decoding.decode(type, from: source(key))
  }

  // MARK: What may be null

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    guard let source = try present(key) else { return nil }
    return try decoding.decode(type, as: .boolean, from: source)
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    guard let source = try present(key) else { return nil }
    return try decoding.decode(type, as: .string, from: source)
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    guard let source = try present(key) else { return nil }
    return try decoding.decode(type, as: .double, from: source)
  }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    guard let source = try present(key) else { return nil }
    return try decoding.decode(type, as: .float, from: source)
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    guard let source = try present(key) else { return nil }
    return try decoding.decodeInteger(type, from: source)
  }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    guard let source = try present(key) else { return nil }
    return try decoding.decodeInteger(type, from: source)
  }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    guard let source = try present(key) else { return nil }
    return try decoding.decodeInteger(type, from: source)
  }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    guard let source = try present(key) else { return nil }
    return try decoding.decodeInteger(type, from: source)
  }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    guard let source = try present(key) else { return nil }
    return try decoding.decodeInteger(type, from: source)
  }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    guard let source = try present(key) else { return nil }
    return try decoding.decodeInteger(type, from: source)
  }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    guard let source = try present(key) else { return nil }
    return try decoding.decodeInteger(type, from: source)
  }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    guard let source = try present(key) else { return nil }
    return try decoding.decodeInteger(type, from: source)
  }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    guard let source = try present(key) else { return nil }
    return try decoding.decodeInteger(type, from: source)
  }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    guard let source = try present(key) else { return nil }
    return try decoding.decodeInteger(type, from: source)
  }
  func decodeIfPresent<Value: Decodable>(
    _ type: Value.Type, forKey key: Key
  ) throws -> Value? {
    guard !_isOptional(type) else {
      throw decoding.refusal(
        node.path(of: key.stringValue), "an optional of an optional has two kinds of nil")
    }
    guard let source = try present(key) else { return nil }
    return try decoding.decode(type, from: source)
  }

  // MARK: What is in it

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<Nested> {
    try superDecoder(forKey: key).container(keyedBy: type)
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    try superDecoder(forKey: key).unkeyedContainer()
  }

  func superDecoder() throws -> any Decoder { try decoder(for: "super") }

  func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(for: key.stringValue) }

  private func decoder(for key: String) throws(StoreError) -> any Decoder {
    guard let slot = unsafe node.slot(for: key, &next) else {
      throw decoding.refusal(node.path(of: key), "there is no such field")
    }
    return FieldDecoder(decoding, DecodingSource(slot))
  }
}
