internal import FoundationEssentials

/// A codec: encodes values as bytes and decodes them, for fields of types that have no column type.
public protocol FieldCodec: Sendable {
  /// Stands for the codec in the store and in the fingerprint: bytes of one identifier must always be
  /// readable by it. At most 255 bytes of UTF-8.
  var identifier: String { get }

  func encode<Value: Encodable>(_ value: Value) throws -> [UInt8]
  func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value
}

/// JSON with sorted keys, so that equal values are equal bytes.
public struct JSONCodec: FieldCodec {
  public init() {}

  public var identifier: String { "json" }

  public func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return [UInt8](try encoder.encode(value))
  }

  public func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: [UInt8]
  ) throws -> Value {
    try JSONDecoder().decode(type, from: Data(bytes))
  }
}
