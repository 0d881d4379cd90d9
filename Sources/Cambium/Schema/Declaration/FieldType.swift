#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// The type of a field, as declared.
public struct FieldType: Sendable {
  let kind: Kind
  /// The number of types that are nested in each other.
  fileprivate let depth: Int
  /// True if it, or a part of it, is the type of a property that is yet to be looked up.
  let isInferred: Bool

  indirect enum Kind: Sendable {
    case scalar(ScalarType)
    case transformable(any FieldCodec)
    case array(FieldType)
    case composite(RecordDescription)
    /// The primary key of another record, or an array of such; the column's type is that key's.
    case reference(ReferenceDeclaration)
    /// Nested so deep that looking at it could exhaust the stack: it is refused when it is checked.
    case tooDeep
    /// The type of the property, which is yet to be looked up.
    case inferred
    /// Not found at the property, for a reason: it is refused when it is checked.
    case unknown(String)
  }

  /// The depth to which composites may be nested.
  static var depthMax: Int { 100 }

  init(kind: Kind) {
    let inner: Int
    switch kind {
    case .scalar, .transformable, .reference, .tooDeep, .inferred, .unknown: inner = 0
    case .array(let element): inner = element.depth
    case .composite(let parts): inner = parts.elements.lazy.map(\.depth).max() ?? 0
    }
    isInferred =
      switch kind {
      case .inferred: true
      case .composite(let parts): parts.isInferred
      default: false
      }
    self.kind = inner < Self.depthMax ? kind : .tooDeep
    depth = min(inner + 1, Self.depthMax)
  }
}

extension FieldType {
  /// An integer of 64 bits, or an enum that is a `RecordIntegerEnum`; narrower properties fit too.
  public static let integer = FieldType(.int64)
  /// An integer of 8 bits.
  public static let int8 = FieldType(.int8)
  /// An integer of 16 bits.
  public static let int16 = FieldType(.int16)
  /// An integer of 32 bits.
  public static let int32 = FieldType(.int32)
  /// An integer of 64 bits.
  public static let int64 = FieldType(.int64)
  /// An unsigned integer of 8 bits.
  public static let uint8 = FieldType(.uint8)
  /// An unsigned integer of 16 bits.
  public static let uint16 = FieldType(.uint16)
  /// An unsigned integer of 32 bits.
  public static let uint32 = FieldType(.uint32)
  /// An unsigned integer of 64 bits.
  public static let uint64 = FieldType(.uint64)
  /// A number of 32 bits: `Float`.
  public static let float = FieldType(.float)
  /// A number of 64 bits: `Double`.
  public static let double = FieldType(.double)
  /// Up to 38 digits.
  public static let decimal = FieldType(.decimal)
  /// UTF-8, or an enum that is a `RecordStringEnum`.
  public static let string = FieldType(.string)
  /// True or false: `Bool`.
  public static let boolean = FieldType(.boolean)
  /// A time: `Date`.
  public static let date = FieldType(.date)
  /// Bytes: `Data`, or `Blob`.
  public static let binaryData = FieldType(.binaryData)
  /// A universally unique identifier: `UUID`.
  public static let uuid = FieldType(.uuid)
  /// An absolute URL.
  public static let url = FieldType(.url)
  /// Any `Codable`, as JSON.
  public static let transformable = transformable(using: JSONCodec())

  /// Any `Codable`, as the bytes that a codec makes of it.
  public static func transformable(using codec: some FieldCodec) -> FieldType {
    FieldType(kind: .transformable(codec))
  }

  /// An array of values of one type; not of arrays, composites or transformables.
  public static func array(of element: FieldType) -> FieldType {
    FieldType(kind: .array(element))
  }

  /// A struct whose properties are fields of the record: `address.street` can be queried and indexed. Composites nest at
  /// most 100 deep.
  ///
  /// - Parameter parts: `Field`s, and `Transient`s for properties that are not stored.
  public static func composite(
    @RecordDescription.ResultBuilder _ parts: () -> RecordDescription
  ) -> FieldType {
    FieldType(kind: .composite(parts()))
  }

  package init(_ type: ScalarType) {
    self.init(kind: .scalar(type))
  }
}

extension RecordDescription.Element {
  fileprivate var depth: Int {
    if case .field(let field) = kind { field.type.depth } else { 0 }
  }
}

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
  /// The identifier of the format, which is part of the fingerprint.
  public let identifier: String

  /// Creates a codec for values of any type, whose shape the fingerprint does not know.
  public init() { self.init(identifier: "json") }

  init(identifier: String) { self.identifier = identifier }

  /// Returns the JSON of a value.
  ///
  /// - Throws: errors of its `encode(to:)`.
  public func encode<Value: Encodable>(_ value: Value) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return [UInt8](try encoder.encode(value))
  }

  /// Returns the value of some JSON.
  ///
  /// - Throws: errors of its `init(from:)`.
  public func decode<Value: Decodable>(
    _ type: Value.Type, from bytes: [UInt8]
  ) throws -> Value {
    try JSONDecoder().decode(type, from: Data(bytes))
  }
}

/// An enum that is stored as its raw value, an integer. Conforming needs no code.
public protocol RecordIntegerEnum: RawRepresentable, Codable, FieldValueConvertible
where RawValue == Int {}

extension RecordIntegerEnum {
  public init?(fieldValue: FieldValue) {
    guard let value = Int(fieldValue: fieldValue) else { return nil }
    self.init(rawValue: value)
  }

  public var fieldValue: FieldValue { .integer(Int64(rawValue)) }
}

/// An enum that is stored as its raw value, a string. Conforming needs no code.
public protocol RecordStringEnum: RawRepresentable, Codable, FieldValueConvertible
where RawValue == String {}

extension RecordStringEnum {
  public init?(fieldValue: FieldValue) {
    guard case .string(let value) = fieldValue else { return nil }
    self.init(rawValue: value)
  }

  public var fieldValue: FieldValue { .string(rawValue) }
}

extension FieldType {
  /// The column's type, and the codec that it takes.
  func column(
    among destinations: Destinations
  ) throws(DescriptionFault) -> (ColumnType, (any FieldCodec)?) {
    switch kind {
    case .reference(let reference): return (try destinations.column(of: reference), nil)
    case .scalar(let type): return (.scalar(type), nil)
    case .transformable(let codec): return (.transformable(codec: codec.identifier), codec)
    case .composite: return (.composite, nil)
    case .tooDeep:
      throw DescriptionFault("composites are nested more than \(Self.depthMax) deep")
    case .inferred:
      throw DescriptionFault(
        "its type is not stated, and no Swift type stands for the record. State `type:`; or, if this is the description of a"
          + " type, use its `typedDescription(for:)`")
    case .unknown(let reason): throw DescriptionFault(reason)
    case .array(let element):
      guard case .scalar(let type) = element.kind else {
        throw DescriptionFault("an array has no arrays, composites or transformables in it")
      }
      return (.array(of: type), nil)
    }
  }
}
