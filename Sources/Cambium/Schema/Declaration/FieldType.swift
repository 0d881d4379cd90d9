/// The type of a field, as declared.
public struct FieldType: Sendable {
  let kind: Kind
  /// The number of types that are nested in each other.
  fileprivate let depth: Int

  indirect enum Kind: Sendable {
    case scalar(ScalarType)
    case transformable(any FieldCodec)
    case array(FieldType)
    case composite(RecordDescription)
    /// Nested so deep that looking at it could exhaust the stack: it is refused when it is checked.
    case tooDeep
  }

  /// The depth to which composites may be nested.
  static var depthMax: Int { 100 }

  init(kind: Kind) {
    let inner: Int
    switch kind {
    case .scalar, .transformable, .tooDeep: inner = 0
    case .array(let element): inner = element.depth
    case .composite(let parts): inner = parts.elements.lazy.map(\.depth).max() ?? 0
    }
    self.kind = inner < Self.depthMax ? kind : .tooDeep
    depth = min(inner + 1, Self.depthMax)
  }
}

extension FieldType {
  /// An integer of 64 bits, or an enum that is a `RecordIntegerEnum`; narrower properties fit too.
  public static let integer = FieldType(.int64)
  public static let int8 = FieldType(.int8)
  public static let int16 = FieldType(.int16)
  public static let int32 = FieldType(.int32)
  public static let int64 = FieldType(.int64)
  public static let uint8 = FieldType(.uint8)
  public static let uint16 = FieldType(.uint16)
  public static let uint32 = FieldType(.uint32)
  public static let uint64 = FieldType(.uint64)
  public static let float = FieldType(.float)
  public static let double = FieldType(.double)
  /// Up to 38 digits.
  public static let decimal = FieldType(.decimal)
  /// UTF-8, or an enum that is a `RecordStringEnum`.
  public static let string = FieldType(.string)
  public static let boolean = FieldType(.boolean)
  public static let date = FieldType(.date)
  public static let binaryData = FieldType(.binaryData)
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

  init(_ type: ScalarType) {
    self.init(kind: .scalar(type))
  }
}

extension RecordDescription.Element {
  fileprivate var depth: Int {
    if case .field(let field) = kind { field.type.depth } else { 0 }
  }
}
