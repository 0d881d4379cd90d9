/// Stands for a codec that only the program has whose store it is: bytes pass through unread.
struct StoredCodec: FieldCodec {
  let identifier: String

  func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
    guard let stored = value as? StoredBytes else { throw NotHere(codec: identifier) }
    return stored.bytes
  }

  func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
    throw NotHere(codec: identifier)
  }

  private struct NotHere: Error {
    let codec: String
  }
}

/// The bytes that a codec has made of a value.
struct StoredBytes: Encodable, Sendable {
  let bytes: [UInt8]
}
