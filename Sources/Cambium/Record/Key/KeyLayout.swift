/// The form in which one part of a key is made of its value.
struct KeyForm: OptionSet, Hashable, Sendable, BitwiseCopyable {
  let rawValue: UInt8

  /// Values may be null: a byte before says so.
  static let isOptional = KeyForm(rawValue: 1)
  /// All bytes are inverted, so that high values come first.
  static let isDescending = KeyForm(rawValue: 2)
  /// Strings are folded.
  static let isCaseInsensitive = KeyForm(rawValue: 4)
  /// Nothing follows, so bytes that vary in number need no end.
  static let isLast = KeyForm(rawValue: 8)

  /// True if bytes that vary in number stand as they are, up to the end of the key.
  var isRaw: Bool { isSuperset(of: .isLast) && isDisjoint(with: .isDescending) }
}

/// One part of a key: a column and the form it has there.
struct KeyColumn: Hashable, Sendable, BitwiseCopyable {
  /// The place in the layout's columns.
  let column: UInt32
  let place: ColumnPlace
  /// The type of the values in the key: of a collated string that is binary data, its sort key.
  let type: ScalarType
  let form: KeyForm
  /// Nil if values are in the order of their own bytes.
  var collation: CollationReference?
}

/// A collation of a part of a key. It is not counted, since parts are copied for each value of each key: the schema or the
/// order that the part is made of has the collation, and outlives the part.
@safe struct CollationReference: Hashable, Sendable, BitwiseCopyable {
  private unowned(unsafe) let content: CollationContent

  init(_ collation: Collation) {
    unsafe content = collation.content
  }

  /// Returns the bytes that a string is sorted by; nil if the program has not given the collation.
  func sortKey(of bytes: RawSpan) -> [UInt8]? {
    guard let sortKey = unsafe content.sortKey else { return nil }
    return sortKey(String(decoding: bytes.array(), as: UTF8.self))
  }

  func missing(in record: String) -> StoreError {
    let content = unsafe content
    return .missingCollation(record: record, name: content.name, version: content.version)
  }

  static func == (one: CollationReference, other: CollationReference) -> Bool {
    unsafe one.content == other.content
  }

  func hash(into hasher: inout Hasher) { hasher.combine(unsafe content) }
}

/// The parts of a key, one after the other.
struct KeyLayout: Hashable, Sendable {
  let columns: [KeyColumn]
  /// The length of all keys; nil if it varies.
  let fixedLength: Int?

  /// - Parameter endsKey: True if the last part ends the key; otherwise more follows after it.
  init(_ columns: [KeyColumn], endsKey: Bool) {
    self.columns = columns.enumerated().map { index, column in
      let isLast = endsKey && index == columns.count - 1
      return KeyColumn(
        column: column.column, place: column.place, type: column.type,
        form: isLast ? column.form.union(.isLast) : column.form, collation: column.collation)
    }
    let widths = columns.map { $0.form.contains(.isOptional) ? nil : $0.type.fixedWidth }
    fixedLength = widths.reduce(0) { sum, width in sum.flatMap { sum in width.map { sum + $0 } } }
  }

  /// Creates the layout of parts that the schema of a record names, which were checked to exist and to be of key types.
  init(_ parts: [KeyPart], columns: [Column], numbers: [UInt32: Int], endsKey: Bool) {
    let made: [KeyColumn] = parts.compactMap { part in
      guard let index = numbers[part.field],
        let type = columns[index].field.type.keyType(part.expansion)
      else { return nil }
      var form: KeyForm = []
      // No element or word is null, and a record whose field is null has no entry.
      let canBeNull = columns[index].place.nullBit != nil && part.expansion == .none
      if canBeNull != part.flipsNullByte { form.insert(.isOptional) }
      if part.isDescending { form.insert(.isDescending) }
      if part.isCaseInsensitive, type == .string { form.insert(.isCaseInsensitive) }
      return KeyColumn(
        column: UInt32(index), place: columns[index].place,
        type: part.collation == nil ? type : .binaryData, form: form,
        collation: part.collation.map { CollationReference($0) })
    }
    self.init(made, endsKey: endsKey)
  }
}

extension KeyLayout {
  /// Returns where a part is in every key; nil if its place or its width varies.
  func fixedPlace(of part: Int) -> Range<Int>? {
    var offset = 0
    for column in columns.prefix(part) {
      guard let width = column.fixedWidth else { return nil }
      offset += width
    }
    return columns[part].fixedWidth.map { offset..<offset + $0 }
  }
}

extension KeyColumn {
  /// The number of bytes of each value; nil if it varies.
  var fixedWidth: Int? { form.contains(.isOptional) ? nil : type.fixedWidth }

  /// Returns true if values have the same bytes in another part as in this one, and their width is fixed.
  func hasFixedBytes(of other: KeyColumn) -> Bool {
    type == other.type && fixedWidth != nil && other.fixedWidth != nil && collation == nil
      && form.contains(.isDescending) == other.form.contains(.isDescending)
  }
}

/// The layout by which the entries of one index are made of a record's bytes.
final class IndexLayout: Sendable {
  let schema: IndexSchema
  /// Its place in the record's indexes.
  let place: Int
  /// The parts, with more after them: the primary key, or values to be sought.
  let parts: KeyLayout
  /// The parts where they are the whole key: in entries of a unique index without null.
  let wholeParts: KeyLayout
  /// Which records are in the index; nil for all.
  let condition: RowCondition?
  /// The length of primary keys if it is always the same and they end all keys that were not cut; else 0.
  let keyLength: Int
  /// The expanded part: a record has an entry for each of its values. Nil if a record has one entry at most.
  let expanded: ExpandedPart?
  /// True if the program has given the collations of all parts.
  let isProvided: Bool
  /// True if a record may be refused for its entries: since another has the same, or since a value is not a number.
  let canRefuse: Bool

  /// - Throws: `.invalidQuery` where the condition cannot be.
  fileprivate init(_ index: IndexSchema, place: Int, in layout: RowLayout) throws(StoreError) {
    var condition: RowCondition?
    if let term = index.condition { condition = try RowCondition(term, in: layout) }
    schema = index
    self.place = place
    parts = layout.keyLayout(index.parts, endsKey: false)
    wholeParts = layout.keyLayout(index.parts, endsKey: true)
    self.condition = condition
    keyLength = index.isUnique ? 0 : layout.key.fixedLength ?? 0
    let place = index.parts.firstIndex { $0.expansion != .none }
    expanded = place.map { ExpandedPart(place: $0, expansion: index.parts[$0].expansion) }
    isProvided = index.parts.allSatisfy { $0.collation?.isProvided ?? true }
    canRefuse =
      index.isUnique || condition != nil
      || parts.columns.contains { [.float, .double, .date, .decimal].contains($0.type) }
  }
}

/// The kind of an index entry's value.
enum IndexEntryValue: Sendable {
  /// Nothing: the key ends with the primary key.
  case empty
  /// The primary key, since the key is unique without it, or was cut.
  case primaryKey
}

extension RowLayout {
  /// The layouts of the record's indexes, in their order.
  ///
  /// - Throws: `.invalidQuery` where a condition cannot be.
  func indexLayouts() throws(StoreError) -> [IndexLayout] {
    var layouts: [IndexLayout] = []
    for index in record.indexes {
      layouts.append(try IndexLayout(index, place: layouts.count, in: self))
    }
    return layouts
  }
}

extension IndexLayout {
  /// The length of a key that was cut; others are shorter.
  static var cutLength: Int { StoreError.Limit.keyLength.bound }
  /// The number of bytes of a cut key that are those of its parts; a hash follows.
  static var cutPrefix: Int { cutLength - SipHash128.size }

  /// Puts the key of a record's entry together, in an index in which it has one at most.
  ///
  /// - Returns: The entry's value; nil if the record is not in the index.
  /// - Throws: `.invalidQuery` for a value that is not a number, `.corrupt` for a damaged record.
  func encode(_ record: RowReader, to key: KeyEncoder) throws(StoreError) -> IndexEntryValue? {
    if let condition, try !condition.holds(for: record) { return nil }
    let isWhole = schema.isUnique && !parts.columns.contains { record.isNull($0.place) }
    key.begin()
    for column in (isWhole ? wholeParts : parts).columns {
      try key.append(column, from: record)
    }
    return finish(key, of: record, isWhole: isWhole)
  }

  /// Ends an entry's key after its parts, and returns the entry's value.
  @inline(__always)
  func finish(_ key: KeyEncoder, of record: RowReader, isWhole: Bool) -> IndexEntryValue {
    if !isWhole { key.appendRaw(record.key) }
    guard key.key.byteCount >= Self.cutLength else { return isWhole ? .primaryKey : .empty }
    let hash = SipHash128(of: key.key)
    key.truncate(to: Self.cutPrefix)
    key.appendRaw(hash)
    return .primaryKey
  }

  /// Calls `body` with each entry that a record has in the index: one at most, or one for each different value of the
  /// expanded part.
  ///
  /// - Parameters:
  ///   - encoder: Memory for the entry's key.
  ///   - body: Is given the entry's key and value, and true if no other record may have the same.
  /// - Throws: as `encode(_:to:)`, and errors of `body`.
  @inline(__always)
  func forEachEntry(
    of record: RowReader, in encoder: KeyEncoder,
    _ body: (_ key: RawSpan, _ value: RawSpan, _ isSole: Bool) throws(StoreError) -> Void
  ) throws(StoreError) {
    if let expanded { return try forEachEntry(of: record, by: expanded, in: encoder, body) }
    guard let value = try encode(record, to: encoder) else { return }
    let isRecord = value == .primaryKey
    try body(encoder.key, isRecord ? record.key : RawSpan(), isRecord && schema.isUnique)
  }

  /// The primary key of the record whose entry this is.
  ///
  /// - Throws: `.corrupt` (K1, K2).
  @_lifetime(copy key, copy value)
  func primaryKey(
    key: RawSpan, value: RawSpan, layout: RowLayout
  ) throws(StoreError) -> RawSpan {
    if key.byteCount == Self.cutLength || isAlwaysWhole { return value }
    var reader = KeyReader(key, layout: layout, index: place)
    var hasNull = !schema.isUnique
    for (column, whole) in zip(parts.columns, wholeParts.columns) {
      if try reader.isNull(column.form) {
        hasNull = true
      } else if whole.form.contains(.isLast), !hasNull {
        return value
      } else {
        try reader.skipValue(column)
      }
    }
    guard value.byteCount == 0 else {
      throw reader.fault("it ends with a primary key, and its value has one", .keyValue)
    }
    return key.part(reader.offset, key.byteCount - reader.offset)
  }

  /// Returns the same to callers that look the record up next, and so notice a wrong key: the keys before it are
  /// not looked at if they have one length.
  ///
  /// - Throws: `.corrupt`.
  @_lifetime(copy key, copy value)
  @inline(__always)
  func soughtKey(
    key: RawSpan, value: RawSpan, layout: RowLayout
  ) throws(StoreError) -> RawSpan {
    let start = key.byteCount &- keyLength
    guard keyLength > 0, start >= 0, key.byteCount < Self.cutLength, value.byteCount == 0 else {
      return try primaryKey(key: key, value: value, layout: layout)
    }
    return key.part(start, keyLength)
  }

  /// True if no part of a unique key can be null.
  private var isAlwaysWhole: Bool {
    schema.isUnique && parts.columns.allSatisfy { !$0.form.contains(.isOptional) }
  }
}
