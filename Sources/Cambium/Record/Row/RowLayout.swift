/// The layout of the rows of one record in one version.
///
///     ┌───────┬───────┬─────────────────┬────────────────────┬───────────────────┐
///     │ flags │ nulls │ fixed columns   │ ends of variable   │ variable columns  │
///     │ 1     │ bits  │                 │ ones, 1 2 or 4 each│                   │
///     └───────┴───────┴─────────────────┴────────────────────┴───────────────────┘
///
/// Everything but the ends' width follows from the schema. The fields of the primary key are in the key
/// alone. `FORMAT.md`, “Rows”, has it byte by byte.
final class RowLayout: Sendable {
  let record: RecordSchema
  /// The version of the model that describes the record so.
  let version: UInt32
  /// One for each field, in their order.
  let columns: [Column]
  /// The places in `columns` of fields that are in no composite.
  let outermost: [Int]
  let key: KeyLayout
  /// The places in `columns` of fields that are stored externally.
  let external: [Int]

  /// The offset of the ends, after flags, nulls and fixed columns.
  let fixedEnd: Int
  let variableCount: Int
  let nullByteCount: Int
  /// Bits of the last byte of nulls that are no column's.
  let unusedNulls: UInt8
  /// Bits that must be set where another is, since they are of parts of that composite.
  let impliedNulls: [(composite: Int, part: Int)]

  private let indexByName: [String: Int]
  private let indexByNumber: [UInt32: Int]

  /// - Throws: `.invalidDescription` where the schema contradicts itself.
  init(_ record: RecordSchema, version: UInt32) throws(StoreError) {
    var making = RowLayoutBuilder(record, version: version)
    try making.placeAll()
    self.record = record
    self.version = version
    columns = making.columns
    external = making.columns.indices.filter { making.columns[$0].field.type.isExternal }
    outermost = making.columns.indices.filter { making.columns[$0].field.composite == nil }
    fixedEnd = making.fixedEnd
    variableCount = making.variableCount
    unusedNulls = making.unusedNulls
    impliedNulls = making.impliedNulls
    indexByNumber = making.indexByNumber
    indexByName = making.indexByName
    nullByteCount = making.nullByteCount
    key = KeyLayout(record.primaryKey, columns: columns, numbers: indexByNumber, endsKey: true)
  }
}

extension RowLayout {
  /// The place of a field in `columns`, by its stored name.
  func index(named name: String) -> Int? { indexByName[name] }

  /// The place of a field in `columns`, by its number.
  func index(number: UInt32) -> Int? { indexByNumber[number] }

  /// Keys of the record's fields; parts of other key types than the fields' were refused.
  func keyLayout(_ parts: [KeyPart], endsKey: Bool) -> KeyLayout {
    KeyLayout(parts, columns: columns, numbers: indexByNumber, endsKey: endsKey)
  }

  func column(named name: String) -> Column? { index(named: name).map { columns[$0] } }

  /// The offset of the null bits, after the flags.
  static var nullsOffset: Int { 1 }
}

/// The bits of a row's first byte.
enum RowFlags {
  /// The flags of a row that this version knows are at most this: 0, 1 or 2, where ends take 1, 2 or 4 bytes.
  static var endWidthMax: UInt8 { 2 }
  /// The number of a record follows. Nothing writes such rows yet.
  static var recordNumber: UInt8 { 0b100 }
}

/// The place of a field in a record's bytes, and its null bit.
struct ColumnPlace: Hashable, Sendable, BitwiseCopyable {
  enum Kind: UInt8, BitwiseCopyable {
    /// In the primary key; `index` is the part.
    case key
    /// In the row, as many bytes as values of the type always are; `index` is the offset.
    case fixed
    /// In the row; `index` counts the variable columns.
    case variable
    /// Nowhere: a composite, whose parts are fields of their own.
    case composite
  }

  let kind: Kind
  private let storedIndex: UInt32
  private let storedBit: Int32

  init(_ kind: Kind, index: Int, nullBit: Int?) {
    self.kind = kind
    storedIndex = UInt32(index)
    storedBit = Int32(nullBit ?? -1)
  }

  @inline(__always)
  var index: Int { Int(storedIndex) }

  /// The bit in the row that says that there is no value; nil if there always is one.
  ///
  /// A field that is not optional, in a composite that is, has the composite's bit.
  @inline(__always)
  var nullBit: Int? { storedBit < 0 ? nil : Int(storedBit) }
}

/// A field as rows have it.
struct Column: Hashable, Sendable {
  let field: FieldSchema
  /// The type of its values, if each is one scalar.
  let scalar: ScalarType?
  let place: ColumnPlace
  /// The bits to be set where it is null: its own, and those of what is in it.
  let nullBits: [Int]
  /// The parts of a composite, by their place in the layout's columns.
  let parts: [Int]
}
