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
  let outermostColumns: [Column]
  /// The names of those fields.
  let outermostNames: FieldNameList
  /// The record's name.
  let name: String
  let key: KeyLayout
  /// The places in `columns` of fields that are stored externally.
  let external: [Int]

  /// The offset of the ends, after flags, nulls and fixed columns.
  let fixedEnd: Int
  let variableCount: Int
  let nullByteCount: Int
  /// Bits of the last byte of nulls that are no column's.
  let unusedNulls: UInt8
  /// The kinds of its rows; nil if it has none.
  let kinds: RowKinds?
  /// Bits that must be set where another is, since they are of parts of that composite.
  let impliedNulls: [(composite: Int, part: Int)]
  /// Some of the rows, by which plans estimate.
  let latestSample = LatestSample()

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
    outermostColumns = outermost.map { making.columns[$0] }
    outermostNames = FieldNameList(outermostColumns.map(\.field.name))
    name = record.name
    fixedEnd = making.fixedEnd
    variableCount = making.variableCount
    unusedNulls = making.unusedNulls
    impliedNulls = making.impliedNulls
    indexByNumber = making.indexByNumber
    indexByName = making.indexByName
    nullByteCount = making.nullByteCount
    kinds = RowKinds(record, making.columns)
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

  /// True if fields are parts of others.
  var hasComposites: Bool { outermost.count < columns.count }

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
///
/// An object, since one is looked at for each value of each row, and copies of its parts would be counted.
final class Column: Sendable {
  let field: FieldSchema
  /// The type of its values, if each is one scalar.
  let scalar: ScalarType?
  let place: ColumnPlace
  /// The bits to be set where it is null: its own, and those of its parts.
  let nullBits: [Int]
  /// The parts of a composite, by their place in the layout's columns.
  let parts: [Int]

  init(
    field: FieldSchema, scalar: ScalarType?, place: ColumnPlace, nullBits: [Int], parts: [Int]
  ) {
    self.field = field
    self.scalar = scalar
    self.place = place
    self.nullBits = nullBits
    self.parts = parts
  }
}

extension Column: Hashable {
  static func == (one: Column, other: Column) -> Bool {
    one.field == other.field && one.scalar == other.scalar && one.place == other.place
      && one.nullBits == other.nullBits && one.parts == other.parts
  }

  func hash(into hasher: inout Hasher) {
    hasher.combine(field)
    hasher.combine(place)
  }
}

/// Places the fields of a record, by number.
struct RowLayoutBuilder {
  private let record: RecordSchema
  private let version: UInt32
  private(set) var columns: [Column] = []
  private(set) var indexByNumber: [UInt32: Int] = [:]
  private(set) var indexByName: [String: Int] = [:]
  private(set) var fixedEnd = 0
  private(set) var variableCount = 0
  private(set) var impliedNulls: [(composite: Int, part: Int)] = []

  private var keyParts: [UInt32: Int] = [:]
  /// The bit of each optional field, by the field's place.
  private var bits: [Int: Int] = [:]
  /// The place of the composite that each field is a part of.
  private var composites: [Int?] = []
  /// The places of the parts of each composite.
  private var parts: [Int: [Int]] = [:]
  /// The bits of each optional field and of all in it, ascending.
  private var bitsBelow: [Int: [Int]] = [:]

  init(_ record: RecordSchema, version: UInt32) {
    self.record = record
    self.version = version
  }

  mutating func placeAll() throws(StoreError) {
    try findFields()
    try findComposites()
    for (index, field) in record.fields.enumerated() where field.isOptional {
      let bit = bits.count
      bits[index] = bit
      for place in outwards(from: index) where record.fields[place].isOptional {
        bitsBelow[place, default: []].append(bit)
      }
    }
    try findKeyParts()
    fixedEnd = RowLayout.nullsOffset + nullByteCount
    for index in record.fields.indices { columns.append(column(at: index)) }
  }

  var nullByteCount: Int { (bits.count + 7) / 8 }

  var unusedNulls: UInt8 {
    bits.count % 8 == 0 ? 0 : UInt8.max << UInt8(bits.count % 8)
  }
}

extension RowLayoutBuilder {
  private mutating func findFields() throws(StoreError) {
    for (index, field) in record.fields.enumerated() {
      let isNew =
        indexByNumber.updateValue(index, forKey: field.number) == nil
        && indexByName.updateValue(index, forKey: field.name) == nil
      guard isNew else { throw refusal(field.name, "another field has its number or name") }
    }
  }

  private mutating func findKeyParts() throws(StoreError) {
    for (index, part) in record.primaryKey.enumerated() {
      guard let place = indexByNumber[part.field] else {
        throw refusal(nil, "a part of the primary key is no field")
      }
      let field = record.fields[place]
      guard field.type.canBeKey, nullBit(of: place) == nil else {
        throw refusal(field.name, "a \(field.type) or optional field cannot be in a primary key")
      }
      guard keyParts.updateValue(index, forKey: part.field) == nil else {
        throw refusal(field.name, "it is twice in the primary key")
      }
    }
    for index in record.indexes {
      for part in index.parts {
        guard let place = indexByNumber[part.field],
          record.fields[place].type.keyType(part.expansion) != nil
        else {
          throw refusal(nil, "the index \(index.name) has a part that cannot be in a key")
        }
      }
    }
  }

  private mutating func column(at index: Int) -> Column {
    let field = record.fields[index]
    if let bit = bits[index], let outer = composites[index].flatMap(nullBit) {
      impliedNulls.append((outer, bit))
    }
    return Column(
      field: field, scalar: field.type.scalar, place: place(field, nullBit: nullBit(of: index)),
      nullBits: bitsBelow[index] ?? [], parts: parts[index] ?? [])
  }

  private mutating func place(_ field: FieldSchema, nullBit: Int?) -> ColumnPlace {
    if let part = keyParts[field.number] {
      return ColumnPlace(.key, index: part, nullBit: nil)
    }
    if field.type == .composite {
      return ColumnPlace(.composite, index: 0, nullBit: nullBit)
    }
    if let width = field.type.fixedWidth {
      defer { fixedEnd += width }
      return ColumnPlace(.fixed, index: fixedEnd, nullBit: nullBit)
    }
    defer { variableCount += 1 }
    return ColumnPlace(.variable, index: variableCount, nullBit: nullBit)
  }
}

// MARK: Composites

extension RowLayoutBuilder {
  /// Finds the composite that has each field as a part.
  private mutating func findComposites() throws(StoreError) {
    for (place, field) in record.fields.enumerated() {
      guard let number = field.composite else {
        composites.append(nil)
        continue
      }
      guard let index = indexByNumber[number], record.fields[index].type == .composite else {
        throw refusal(field.name, "it is a part of a field that is no composite")
      }
      composites.append(index)
      parts[index, default: []].append(place)
    }
    try checkEnds()
  }

  /// Throws where a field is a part of itself, by whatever way.
  private func checkEnds() throws(StoreError) {
    var isWithinOutermost = composites.map { $0 == nil }
    for index in record.fields.indices {
      var way: Set<Int> = []
      var next = index
      while !isWithinOutermost[next] {
        guard way.insert(next).inserted, let outer = composites[next] else {
          throw refusal(record.fields[index].name, "it is a part of itself")
        }
        next = outer
      }
      for place in way { isWithinOutermost[place] = true }
    }
  }

  /// The field and all that it is in. There are not many: the names of composites are in those of their parts.
  private func outwards(from index: Int) -> [Int] {
    var found: [Int] = []
    var next: Int? = index
    while let place = next {
      found.append(place)
      next = composites[place]
    }
    return found
  }

  /// The bit of the nearest that is optional: the field, or a composite that it is in.
  private func nullBit(of index: Int) -> Int? {
    outwards(from: index).lazy.compactMap { bits[$0] }.first
  }

  private func refusal(_ field: String?, _ reason: String) -> StoreError {
    .invalidDescription(
      record: record.name, field: field, version: Int(version), reason: reason)
  }
}
