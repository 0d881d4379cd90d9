#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// One aggregate of all groups, as far as their records were seen.
struct AggregateColumn {
  /// The type of results.
  let type: ScalarType
  private let record: Entity
  private let kind: AggregateKind
  private let source: Source
  /// By group: the number of values that are not null; of records, or of different values, if those are counted.
  private var counts: [Int] = []
  // By group, of which only one is used, as the source says.
  private var doubles: [Double] = []
  private var integers: [Int128] = []
  /// Nil of a sum that is too high or too low for a decimal.
  private var decimals: [DecimalParts?] = []
  private var extremes: [FieldExtreme] = []
  private var computed: [ComputedValue] = []
  /// The different values, each after the number of its group.
  private var different = KeyNumbers()

  private enum Source {
    case records
    /// A field of the record's own, whose values are counted without being read.
    case place(ColumnPlace)
    /// A field whose lowest or highest values are sought, or different ones.
    case field(KeyColumn)
    case doubles(RowExpression)
    case integers(RowExpression)
    case decimals(RowExpression)
    case expression(RowExpression)
  }

  /// True if values are those of a field of the record's own: its integers have a sum of 64 bits with a sign, and its
  /// decimals one that is rounded.
  private let isOfField: Bool

  /// - Throws: `.invalidQuery` if the values have no sum, or no order, or cannot be computed.
  init(
    _ aggregate: FieldAggregate, of record: Entity, in reader: RecordReader
  ) throws(StoreError) {
    self.record = record
    kind = aggregate.kind
    var column: Column?
    if case .field(let name) = aggregate.value, let place = record.layout.index(named: name) {
      column = record.layout.columns[place]
    }
    isOfField = column != nil
    (source, type) =
      if kind == .records {
        (.records, .int64)
      } else if let column {
        try Self.source(kind, column, aggregate.value, of: record, in: reader)
      } else {
        try Self.source(kind, aggregate.value, of: record, in: reader)
      }
  }

  /// Returns the source and the type of results of an aggregate of a field of the record's own.
  private static func source(
    _ kind: AggregateKind, _ column: Column, _ value: FieldExpression, of record: Entity,
    in reader: RecordReader
  ) throws(StoreError) -> (Source, ScalarType) {
    switch kind {
    case .sum, .average:
      guard column.field.type.scalar?.isNumber == true else {
        throw record.layout.queryRefusal(column, "values of \(column.field.type) have no sum")
      }
      return try source(kind, value, of: record, in: reader)
    case .lowest, .highest, .distinct:
      let key = try BoundOrder.column(of: FieldOrder(field: column.field.name), in: record.layout)
      let type = column.field.type.scalar ?? key.type
      return (.field(key), kind == .distinct ? .int64 : type)
    case .count, .records: return (.place(column.place), .int64)
    }
  }

  private static func source(
    _ kind: AggregateKind, _ value: FieldExpression, of record: Entity, in reader: RecordReader
  ) throws(StoreError) -> (Source, ScalarType) {
    let expression = try RowExpression(value, of: record, in: reader)
    let type = expression.kind.columnType
    switch kind {
    case .sum, .average:
      let resultType: ScalarType = kind == .sum || type == .decimal ? type : .double
      switch expression.kind {
      case .double: return (.doubles(expression), resultType)
      case .integer: return (.integers(expression), resultType)
      case .decimal: return (.decimals(expression), resultType)
      case .null: return (.expression(expression), resultType)
      default:
        throw .invalidQuery(
          record: record.record.name, field: value.firstField, reason: "\(value) has no sum")
      }
    case .lowest, .highest: return (.expression(expression), type)
    case .count, .distinct, .records: return (.expression(expression), .int64)
    }
  }

  /// Adds a group without records.
  mutating func addGroup() {
    counts.append(0)
    switch source {
    case .records, .place: break
    case .field: if kind != .distinct { extremes.append(FieldExtreme()) }
    // Nothing changes a value that is added to −0.0.
    case .doubles: doubles.append(isOfField ? 0.0 : -0.0)
    case .integers: integers.append(0)
    case .decimals: decimals.append(DecimalParts(Int128(small: 0)))
    case .expression: computed.append(.null)
    }
  }
}

// MARK: Adding

extension AggregateColumn {
  /// Adds a record to a group.
  ///
  /// - Throws: `.invalidQuery` if a computation has no result; `.corrupt`, `.io`.
  mutating func add(
    _ record: RowReader, to group: Int, _ encoder: KeyEncoder
  ) throws(StoreError) {
    switch source {
    case .records: counts[group] &+= 1
    case .place(let place): if !record.isNull(place) { counts[group] &+= 1 }
    case .doubles(let expression):
      guard let value = try expression.double(of: record) else { return }
      counts[group] &+= 1
      doubles[group] += value
    case .integers(let expression): try add(expression, of: record, to: group)
    case .decimals(let expression): try addDecimal(expression, of: record, to: group)
    case .field(let column): try add(column, of: record, to: group, encoder)
    case .expression(let expression): try add(expression, of: record, to: group, encoder)
    }
  }

  @inline(__always)
  private mutating func add(
    _ expression: RowExpression, of record: RowReader, to group: Int
  ) throws(StoreError) {
    let value: Int128
    switch try expression.integer(of: record) {
    case .null: return
    case .value(let number): value = Int128(small: number)
    case .wide:
      guard case .integer(let number) = try expression.value(of: record) else { return }
      value = number
    }
    counts[group] &+= 1
    let (sum, overflows) = integers[group].addingReportingOverflow(value)
    if overflows {
      // Throws that there is no result.
      _ = try expression.sum(.integer(integers[group]), .integer(value), for: record)
    }
    integers[group] = sum
  }

  private mutating func addDecimal(
    _ expression: RowExpression, of record: RowReader, to group: Int
  ) throws(StoreError) {
    guard case .decimal(let value) = try expression.value(of: record) else { return }
    counts[group] &+= 1
    guard let sum = decimals[group], !sum.isNaN else { return }
    if value.isNaN {
      decimals[group] = value
    } else if let exact = DecimalParts.sum(sum, value, isExact: true) {
      decimals[group] = exact
    } else if isOfField {
      decimals[group] = DecimalParts.sum(sum, value)
    } else {
      // Throws that there is no exact result.
      _ = try expression.sum(.decimal(sum), .decimal(value), for: record)
    }
  }

  private mutating func add(
    _ column: KeyColumn, of record: RowReader, to group: Int, _ encoder: KeyEncoder
  ) throws(StoreError) {
    if record.isNull(column.place) { return }
    if kind == .distinct {
      begin(encoder, group)
      try encoder.appendSorted(column, from: record)
      if different.number(of: encoder.key).isNew { counts[group] &+= 1 }
      return
    }
    if try record.isNotANumber(column) { return }
    encoder.begin()
    try encoder.append(column, from: record)
    try extremes[group].add(
      encoder.key, isHighest: kind == .highest, Int(column.column), of: record)
  }

  private mutating func add(
    _ expression: RowExpression, of record: RowReader, to group: Int, _ encoder: KeyEncoder
  ) throws(StoreError) {
    let value = try expression.value(of: record)
    if case .null = value { return }
    switch kind {
    case .lowest, .highest:
      if value.isNotANumber { return }
      let order = value.order(to: computed[group])
      if order == .null || order == (kind == .lowest ? .less : .greater) { computed[group] = value }
    case .distinct:
      begin(encoder, group)
      encoder.append(value, isDescending: false)
      if different.number(of: encoder.key).isNew { counts[group] &+= 1 }
    case .count: counts[group] &+= 1
    case .sum, .average, .records: break
    }
  }

  private func begin(_ encoder: KeyEncoder, _ group: Int) {
    encoder.begin()
    encoder.append(UInt64(truncatingIfNeeded: group), [])
  }
}

// MARK: Results

extension AggregateColumn {
  /// The result of a group.
  ///
  /// - Throws: `.invalidQuery` for an integer beyond 64 bits.
  func result(_ group: Int) throws(StoreError) -> FieldValue {
    switch kind {
    case .count, .records, .distinct: return .integer(Int64(counts[group]))
    case .average: return average(group)
    case .sum, .lowest, .highest: break
    }
    switch source {
    case .doubles: return .double(counts[group] == 0 ? 0 : doubles[group])
    case .integers:
      if let sum = integers[group].small { return .integer(sum) }
      guard !isOfField, let sum = UInt64(exactly: integers[group]) else { throw record.sumTooLarge }
      return .unsigned(sum)
    case .decimals:
      guard let sum = decimals[group] else { throw record.sumTooLarge }
      return .decimal(sum.decimal)
    case .field: return extremes[group].value
    case .expression(let expression):
      guard let result = FieldValue(computed[group], of: expression.kind) else {
        throw record.sumTooLarge
      }
      return result
    case .records, .place: return .null
    }
  }

  private func average(_ group: Int) -> FieldValue {
    let count = counts[group]
    if count == 0 { return .null }
    switch source {
    case .doubles: return .double(doubles[group] / Double(count))
    case .integers:
      let sum = integers[group]
      return .double((sum.small.map { Double($0) } ?? Double(sum)) / Double(count))
    case .decimals: return decimals[group].flatMap { Self.average($0, count) } ?? .null
    case .records, .place, .field, .expression: return .null
    }
  }

  private static func average(_ sum: DecimalParts, _ count: Int) -> FieldValue? {
    if sum.isNaN { return .decimal(.nan) }
    return DecimalParts.quotient(sum, DecimalParts(Int128(small: Int64(count))))
      .map { .decimal($0.decimal) }
  }
}

/// The lowest or highest value that was seen of a field in a group.
private struct FieldExtreme {
  private var bytes: [UInt8] = []
  private(set) var value = FieldValue.null

  /// Adds a value, which is read only if it is lower or higher than those before.
  ///
  /// - Parameter key: Bytes that sort as values do.
  mutating func add(
    _ key: RawSpan, isHighest: Bool, _ column: Int, of record: RowReader
  ) throws(StoreError) {
    if value != .null {
      let order = key.compare(bytes.rawSpan)
      guard isHighest ? order > 0 : order < 0 else { return }
    }
    value = try record.value(column)
    bytes.assign(key)
  }
}

extension Entity {
  var sumTooLarge: StoreError {
    .invalidQuery(record: record.name, field: nil, reason: "a sum of integers is beyond 64 bits")
  }
}
