/// The decoder of one field, or of an element of one, for types that decode themselves from something else:
/// enums, optionals, wrappers, arrays.
struct FieldDecoder: Decoder {
  private let decoding: RowDecoding
  private let source: DecodingSource

  init(_ decoding: RowDecoding, _ source: DecodingSource) {
    self.decoding = decoding
    self.source = source
  }

  var codingPath: [any CodingKey] { FieldKey.path(decoding.path(source.slot)) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
    guard case .composite(let node) = decoding.kind(source.slot) else {
      throw decoding.refusal(source.slot, "it is decoded with keys, but is no composite")
    }
    if try decoding.isNull(source.slot) { throw decoding.refusal(source.slot, "it is nil") }
    return KeyedDecodingContainer(RecordDecodingContainer(decoding, node))
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    guard case .array(let scalar) = decoding.kind(source.slot), source.element == nil else {
      throw decoding.refusal(source.slot, "it is decoded as an array, but is none")
    }
    if try decoding.isNull(source.slot) { throw decoding.refusal(source.slot, "it is nil") }
    return ArrayDecodingContainer(
      decoding, source.slot, try decoding.elements(of: source.slot, scalar))
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer {
    ValueDecodingContainer(decoding, source)
  }
}

private struct ValueDecodingContainer: SingleValueDecodingContainer {
  private let decoding: RowDecoding
  private let source: DecodingSource

  init(_ decoding: RowDecoding, _ source: DecodingSource) {
    self.decoding = decoding
    self.source = source
  }

  var codingPath: [any CodingKey] { FieldKey.path(decoding.path(source.slot)) }

  func decodeNil() -> Bool {
    source.element == nil && (try? decoding.isNull(source.slot)) == true
  }

  func decode(_ type: Bool.Type) throws -> Bool {
    try decoding.decode(type, as: .boolean, from: source)
  }
  func decode(_ type: String.Type) throws -> String {
    try decoding.decode(type, as: .string, from: source)
  }
  func decode(_ type: Double.Type) throws -> Double {
    try decoding.decode(type, as: .double, from: source)
  }
  func decode(_ type: Float.Type) throws -> Float {
    try decoding.decode(type, as: .float, from: source)
  }
  func decode(_ type: Int.Type) throws -> Int {
    try decoding.decodeInteger(type, from: source)
  }
  func decode(_ type: Int8.Type) throws -> Int8 {
    try decoding.decodeInteger(type, from: source)
  }
  func decode(_ type: Int16.Type) throws -> Int16 {
    try decoding.decodeInteger(type, from: source)
  }
  func decode(_ type: Int32.Type) throws -> Int32 {
    try decoding.decodeInteger(type, from: source)
  }
  func decode(_ type: Int64.Type) throws -> Int64 {
    try decoding.decodeInteger(type, from: source)
  }
  func decode(_ type: UInt.Type) throws -> UInt {
    try decoding.decodeInteger(type, from: source)
  }
  func decode(_ type: UInt8.Type) throws -> UInt8 {
    try decoding.decodeInteger(type, from: source)
  }
  func decode(_ type: UInt16.Type) throws -> UInt16 {
    try decoding.decodeInteger(type, from: source)
  }
  func decode(_ type: UInt32.Type) throws -> UInt32 {
    try decoding.decodeInteger(type, from: source)
  }
  func decode(_ type: UInt64.Type) throws -> UInt64 {
    try decoding.decodeInteger(type, from: source)
  }
  func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    guard !_isOptional(type) else {
      throw decoding.refusal(
        source.slot, "an optional of an optional has two kinds of nil")
    }
    return try decoding.decode(type, from: source)
  }
}

/// Gives the elements of an array column.
private struct ArrayDecodingContainer: UnkeyedDecodingContainer {
  private let decoding: RowDecoding
  private let slot: CodingSlot
  private let elements: [FieldValue]
  private(set) var currentIndex = 0

  init(_ decoding: RowDecoding, _ slot: CodingSlot, _ elements: [FieldValue]) {
    self.decoding = decoding
    self.slot = slot
    self.elements = elements
  }

  var codingPath: [any CodingKey] { FieldKey.path(decoding.path(slot)) }
  var count: Int? { elements.count }
  var isAtEnd: Bool { currentIndex >= elements.count }

  private mutating func next() throws(StoreError) -> DecodingSource {
    guard !isAtEnd else { throw decoding.refusal(slot, "the array has no more elements") }
    defer { currentIndex += 1 }
    return DecodingSource(slot, element: elements[currentIndex])
  }

  func decodeNil() throws -> Bool { false }

  mutating func decode(_ type: Bool.Type) throws -> Bool {
    try decoding.decode(type, as: .boolean, from: next())
  }
  mutating func decode(_ type: String.Type) throws -> String {
    try decoding.decode(type, as: .string, from: next())
  }
  mutating func decode(_ type: Double.Type) throws -> Double {
    try decoding.decode(type, as: .double, from: next())
  }
  mutating func decode(_ type: Float.Type) throws -> Float {
    try decoding.decode(type, as: .float, from: next())
  }
  mutating func decode(_ type: Int.Type) throws -> Int {
    try decoding.decodeInteger(type, from: next())
  }
  mutating func decode(_ type: Int8.Type) throws -> Int8 {
    try decoding.decodeInteger(type, from: next())
  }
  mutating func decode(_ type: Int16.Type) throws -> Int16 {
    try decoding.decodeInteger(type, from: next())
  }
  mutating func decode(_ type: Int32.Type) throws -> Int32 {
    try decoding.decodeInteger(type, from: next())
  }
  mutating func decode(_ type: Int64.Type) throws -> Int64 {
    try decoding.decodeInteger(type, from: next())
  }
  mutating func decode(_ type: UInt.Type) throws -> UInt {
    try decoding.decodeInteger(type, from: next())
  }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 {
    try decoding.decodeInteger(type, from: next())
  }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 {
    try decoding.decodeInteger(type, from: next())
  }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 {
    try decoding.decodeInteger(type, from: next())
  }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 {
    try decoding.decodeInteger(type, from: next())
  }
  mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
    try decoding.decode(type, from: next())
  }

  mutating func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) throws -> KeyedDecodingContainer<Key> { try superDecoder().container(keyedBy: type) }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try superDecoder().unkeyedContainer()
  }

  mutating func superDecoder() throws -> any Decoder { FieldDecoder(decoding, try next()) }
}
