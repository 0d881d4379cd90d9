/// An encoder for values that cannot be encoded, in calls that cannot throw: everything encoded with it throws, and the
/// encoding as a whole fails.
struct RefusingEncoder: Encoder {
  private let encoding: RowEncoding
  private let path: String?

  init(_ encoding: RowEncoding, _ path: String?, _ reason: String? = nil) {
    self.encoding = encoding
    self.path = path
    if let reason { encoding.refuse(path, reason) }
  }

  var codingPath: [any CodingKey] { FieldKey.path(path) }
  var userInfo: [CodingUserInfoKey: Any] { [:] }

  func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
    KeyedEncodingContainer(RefusingKeyedContainer(RefusingEncodingContainer(encoding, path)))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    RefusingEncodingContainer(encoding, path)
  }

  func singleValueContainer() -> any SingleValueEncodingContainer {
    RefusingEncodingContainer(encoding, path)
  }
}

struct RefusingEncodingContainer: UnkeyedEncodingContainer, SingleValueEncodingContainer {
  private let encoding: RowEncoding
  private let path: String?

  init(_ encoding: RowEncoding, _ path: String?) {
    self.encoding = encoding
    self.path = path
  }

  var codingPath: [any CodingKey] { FieldKey.path(path) }
  var count: Int { 0 }

  func encodeNil() throws { throw encoding.refusal(path, "it cannot be encoded so") }

  func encode<Value: Encodable>(_ value: Value) throws { try encodeNil() }

  func nestedContainer<Key: CodingKey>(
    keyedBy type: Key.Type
  ) -> KeyedEncodingContainer<Key> { superEncoder().container(keyedBy: type) }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }

  func superEncoder() -> any Encoder { RefusingEncoder(encoding, path) }
}

private struct RefusingKeyedContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
  private let refusing: RefusingEncodingContainer

  init(_ refusing: RefusingEncodingContainer) {
    self.refusing = refusing
  }

  var codingPath: [any CodingKey] { refusing.codingPath }

  func encodeNil(forKey key: Key) throws { try refusing.encodeNil() }

  func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { try refusing.encodeNil() }

  func nestedContainer<Nested: CodingKey>(
    keyedBy type: Nested.Type, forKey key: Key
  ) -> KeyedEncodingContainer<Nested> { refusing.nestedContainer(keyedBy: type) }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { refusing }

  func superEncoder() -> any Encoder { refusing.superEncoder() }

  func superEncoder(forKey key: Key) -> any Encoder { refusing.superEncoder() }
}
