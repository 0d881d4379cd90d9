internal import FoundationEssentials

extension Query {
  /// A value that is computed of a property of all records of a group.
  public struct Aggregate: Hashable, Sendable {
    let kind: AggregateKind
    @usableFromInline let property: PropertyReference

    @usableFromInline
    init(_ kind: AggregateKind, _ property: PropertyReference) {
      self.kind = kind
      self.property = property
    }

    /// The sum of the values that are not null; 0 if there are none.
    @inlinable
    public static func sum<Value: FieldNumber>(_ field: KeyPath<Subject, Value>) -> Aggregate {
      Aggregate(.sum, PropertyReference(field))
    }

    /// The average of the values that are not null; null if there are none.
    @inlinable
    public static func average<Value: FieldNumber>(_ field: KeyPath<Subject, Value>) -> Aggregate {
      Aggregate(.average, PropertyReference(field))
    }

    /// The lowest value that is neither null nor NaN, in the order of sorting; null if there are none.
    @inlinable
    public static func min<Value>(_ field: KeyPath<Subject, Value>) -> Aggregate {
      Aggregate(.lowest, PropertyReference(field))
    }

    /// The highest value that is neither null nor NaN, in the order of sorting; null if there are none.
    @inlinable
    public static func max<Value>(_ field: KeyPath<Subject, Value>) -> Aggregate {
      Aggregate(.highest, PropertyReference(field))
    }

    /// The number of values that are not null.
    @inlinable
    public static func count<Value>(_ field: KeyPath<Subject, Value>) -> Aggregate {
      Aggregate(.count, PropertyReference(field))
    }
  }
}

@usableFromInline
enum AggregateKind: Hashable, Sendable {
  case sum, average, lowest, highest, count
}

/// One aggregate of one group, as far as its records were seen.
struct FieldAggregate {
  private let kind: AggregateKind
  private let place: ColumnPlace
  /// The number of values that are not null; of nothing else than `count`.
  private var count = 0
  /// Of kinds that add up.
  private var sum: FieldSum?
  /// Of kinds that compare.
  private var extreme: FieldExtreme?

  /// - Throws: `.invalidQuery` where the field's values have no sum, or no order.
  init(_ kind: AggregateKind, _ field: String, in layout: RowLayout) throws(StoreError) {
    let column = try layout.queriedColumn(field)
    self.kind = kind
    place = column.place
    switch kind {
    case .sum, .average: sum = try FieldSum(of: column, in: layout)
    case .lowest, .highest:
      let column = try BoundOrder.column(of: FieldOrder(field: field), in: layout)
      extreme = FieldExtreme(column: column, isHighest: kind == .highest)
    case .count: break
    }
  }

  /// - Throws: `.corrupt`.
  mutating func add(_ record: RowReader, _ encoder: KeyEncoder) throws(StoreError) {
    switch kind {
    case .sum, .average: try sum?.add(record)
    case .lowest, .highest: try extreme?.add(record, encoder)
    case .count: if !record.isNull(place) { count += 1 }
    }
  }

  /// - Throws: `.invalidQuery` for a sum of integers beyond 64 bits.
  func result(in record: Entity) throws(StoreError) -> FieldValue {
    switch kind {
    case .sum:
      guard let total = sum?.total else { throw record.sumTooLarge }
      return total
    case .average: return sum?.average ?? .null
    case .lowest, .highest: return extreme?.value ?? .null
    case .count: return .integer(Int64(count))
    }
  }
}

/// The lowest or highest value that was seen of a field.
private struct FieldExtreme {
  let column: KeyColumn
  let isHighest: Bool
  private var bytes: [UInt8] = []
  private(set) var value = FieldValue.null

  init(column: KeyColumn, isHighest: Bool) {
    self.column = column
    self.isHighest = isHighest
  }

  mutating func add(_ record: RowReader, _ encoder: KeyEncoder) throws(StoreError) {
    if record.isNull(column.place) { return }
    let found = try record.value(Int(column.column))
    if found.isNaN { return }
    encoder.begin()
    try encoder.appendSorted(column, from: record)
    if value != .null {
      let order = encoder.key.compare(bytes.rawSpan)
      guard isHighest ? order > 0 : order < 0 else { return }
    }
    bytes.assign(encoder.key)
    value = found
  }
}

extension Entity {
  var sumTooLarge: StoreError {
    .invalidQuery(record: record.name, field: nil, reason: "a sum of integers is beyond 64 bits")
  }
}

// MARK: - Sums

/// The sum of the numbers of a field; null is left out.
struct FieldSum: Sendable {
  /// The number of numbers.
  private(set) var count = 0
  private var integers: Int128 = 0
  private var doubles = 0.0
  /// Nil if they are too high or too low for a decimal.
  private var decimals: DecimalParts? = DecimalParts(isNegative: false, exponent: 0, magnitude: 0)
  private let place: ColumnPlace
  private let type: ScalarType
  /// The least length of a row that has the column; none is as long where it is no double of fixed place.
  private let fixedEnd: Int

  /// - Throws: `.invalidQuery` where the field's values are no numbers.
  init(of column: Column, in layout: RowLayout) throws(StoreError) {
    place = column.place
    guard let type = column.field.type.scalar, type.isNumber else {
      throw layout.queryRefusal(column, "values of \(column.field.type) have no sum")
    }
    self.type = type
    fixedEnd = type == .double && place.kind == .fixed ? layout.fixedEnd : .max
  }

  /// Adds a row's value of a column of doubles, of which only the sum is needed. False for other columns, and
  /// where the row may be damaged.
  @inline(__always)
  mutating func addFixed(_ row: RawSpan) -> Bool {
    guard row.byteCount >= fixedEnd, row.load(0, as: UInt8.self) <= RowFlags.endWidthMax else {
      return false
    }
    if let bit = place.nullBit, row.isNull(bit: bit) { return true }
    count &+= 1
    doubles += Double(bitPattern: row.load(place.index, as: UInt64.self))
    return true
  }

  /// Adds a record's value.
  ///
  /// - Throws: `.corrupt`.
  @inline(__always)
  mutating func add(_ record: RowReader) throws(StoreError) {
    if record.isNull(place) { return }
    count &+= 1
    if place.kind == .key { return try addKey(record) }
    let index = place.index
    if let value = record.row.integer(type, at: index) {
      integers &+= value
      return
    }
    switch type {
    case .double: doubles += record.double(index)
    case .float: doubles += Double(record.float(index))
    case .decimal: add(try record.decimal(index))
    default: break
    }
  }

  @inline(never)
  private mutating func addKey(_ record: RowReader) throws(StoreError) {
    switch try record.keyValue(place.index) {
    case .integer(let value): integers &+= Int128(value)
    case .unsigned(let value): integers &+= Int128(value)
    case .float(let value): doubles += Double(value)
    case .double(let value): doubles += value
    case .decimal(let value): add(value)
    default: break
    }
  }

  @inline(never)
  private mutating func add(_ value: Decimal) {
    guard let sum = decimals, !sum.isNaN else { return }
    let parts = DecimalParts(value)
    decimals = parts.isNaN ? parts : DecimalParts.sum(sum, parts)
  }

  private var decimalTotal: Decimal? { decimals?.decimal }

  private var decimalAverage: Decimal? {
    guard let decimals, count > 0 else { return nil }
    if decimals.isNaN { return .nan }
    let count = DecimalParts(isNegative: false, exponent: 0, magnitude: UInt128(count))
    return DecimalParts.quotient(decimals, count)?.decimal
  }
}

// MARK: Results

extension FieldSum {
  /// The sum as the widest of its kind; nil for integers that are beyond 64 bits together, and decimals beyond
  /// the range of a decimal.
  var total: FieldValue? {
    switch type {
    case .float, .double: .double(doubles)
    case .decimal: decimalTotal.map { .decimal($0) }
    default: Int64(exactly: integers).map { .integer($0) }
    }
  }

  /// The average; nil if there are no numbers.
  var average: FieldValue? {
    if count == 0 { return Optional.none }
    switch type {
    case .float, .double: return .double(doubles / Double(count))
    case .decimal: return decimalAverage.map { .decimal($0) }
    default: return .double(Double(integers) / Double(count))
    }
  }
}

// MARK: - Groups

/// Puts records into groups that have the same values in some fields.
struct RecordGrouping {
  private let record: Entity
  private let columns: [KeyColumn]
  private let template: [FieldAggregate]
  private let encoder = KeyEncoder()
  /// The places of the groups, by the bytes of their fields.
  private var places: [GroupKey: Int] = [:]
  private var counts: [Int] = []
  /// Those of one group follow those of the group before.
  private var aggregates: [FieldAggregate] = []
  /// The group of the present record.
  private var key = GroupKey()

  /// - Throws: `.invalidQuery` where values have no order, or no sum.
  init(
    _ record: Entity, by fields: [String],
    _ aggregates: [(kind: AggregateKind, field: String)]
  ) throws(StoreError) {
    self.record = record
    var columns: [KeyColumn] = []
    for field in fields {
      columns.append(try BoundOrder.column(of: FieldOrder(field: field), in: record.layout))
    }
    self.columns = columns
    var template: [FieldAggregate] = []
    for (kind, field) in aggregates {
      template.append(try FieldAggregate(kind, field, in: record.layout))
    }
    self.template = template
  }

  /// Makes the group of all records, which exists even if there are none. Only without fields, before the first record.
  mutating func beginWithAll() {
    places[GroupKey()] = 0
    counts = [0]
    aggregates = template
  }

  /// Adds a record to its group. True if that is new.
  ///
  /// - Throws: `.corrupt`.
  mutating func add(_ key: RawSpan, _ row: RawSpan) throws(StoreError) -> Bool {
    let (layout, encoder) = (record.layout, encoder)
    let reader = try RowReader(key: key, row: row, layout: layout)
    encoder.begin()
    for column in columns { try encoder.appendSorted(column, from: reader) }
    self.key.bytes.assign(encoder.key)
    let known = places[self.key]
    let place = known ?? counts.count
    if known == nil {
      places[self.key] = place
      counts.append(0)
      aggregates += template
    }
    counts[place] &+= 1
    let first = place * template.count
    for index in first..<first + template.count { try aggregates[index].add(reader, encoder) }
    return known == nil
  }

  /// The places of the groups, by their values.
  var sorted: [Int] {
    places.sorted { $0.key.bytes.rawSpan.compare($1.key.bytes.rawSpan) < 0 }.map(\.value)
  }

  func count(_ place: Int) -> Int { counts[place] }

  /// - Throws: `.invalidQuery` for a sum of integers beyond 64 bits.
  func values(_ place: Int) throws(StoreError) -> [FieldValue] {
    var values: [FieldValue] = []
    let first = place * template.count
    for aggregate in aggregates[first..<first + template.count] {
      values.append(try aggregate.result(in: record))
    }
    return values
  }
}

/// The bytes of a group's fields, hashed all at once, where an array would hash them one by one.
private struct GroupKey: Hashable {
  var bytes: [UInt8] = []

  func hash(into hasher: inout Hasher) {
    unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  }
}
