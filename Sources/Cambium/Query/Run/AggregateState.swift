#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// One aggregate of one group, as far as its records were seen.
struct AggregateState {
  private let kind: AggregateKind
  private let source: Source
  /// The number of values that are not null; of fields, only if it is the result.
  private var count = 0
  /// Of fields.
  private var sum: FieldSum?
  private var extreme: FieldExtreme?
  /// The sum, or the lowest or highest value so far, of an expression.
  private var computed = ComputedValue.null
  private var different: Set<EncodedKey> = []

  private enum Source {
    case records
    /// A field of the record's own, whose values are read without being computed.
    case field(ColumnPlace)
    case key(KeyColumn)
    case expression(RowExpression)
  }

  /// - Throws: `.invalidQuery` if the values have no sum, or no order, or cannot be computed.
  init(
    _ aggregate: FieldAggregate, of record: Entity, in reader: RecordReader
  ) throws(StoreError) {
    kind = aggregate.kind
    if kind == .records {
      source = .records
    } else if case .field(let name) = aggregate.value, record.layout.index(named: name) != nil {
      (source, sum, extreme) = try Self.parts(of: kind, name, record.layout)
    } else {
      let expression = try RowExpression(aggregate.value, of: record, in: reader)
      let isAdded = kind == .sum || kind == .average
      guard !isAdded || expression.kind.zero != nil || expression.kind == .null else {
        throw .invalidQuery(
          record: record.record.name, field: aggregate.value.firstField,
          reason: "\(aggregate.value) has no sum")
      }
      source = .expression(expression)
    }
  }

  private static func parts(
    of kind: AggregateKind, _ name: String, _ layout: RowLayout
  ) throws(StoreError) -> (Source, FieldSum?, FieldExtreme?) {
    let column = try layout.queriedColumn(name)
    let place = Source.field(column.place)
    switch kind {
    case .sum, .average: return (place, try FieldSum(of: column, in: layout), nil)
    case .lowest, .highest:
      let key = try BoundOrder.column(of: FieldOrder(field: name), in: layout)
      return (place, nil, FieldExtreme(column: key, of: layout, isHighest: kind == .highest))
    case .distinct:
      return (.key(try BoundOrder.column(of: FieldOrder(field: name), in: layout)), nil, nil)
    case .count, .records: return (place, nil, nil)
    }
  }

  /// Adds a record.
  ///
  /// - Throws: `.invalidQuery` if a computation has no result; `.corrupt`, `.io`.
  mutating func add(_ record: RowReader, _ encoder: KeyEncoder) throws(StoreError) {
    switch source {
    case .records: count += 1
    case .field(let place):
      switch kind {
      case .sum, .average: try sum?.add(record)
      case .lowest, .highest: try extreme?.add(record, encoder)
      default: if !record.isNull(place) { count += 1 }
      }
    case .key(let column):
      if record.isNull(column.place) { return }
      encoder.begin()
      try encoder.appendSorted(column, from: record)
      different.insert(EncodedKey(bytes: encoder.key.array()))
    case .expression(let expression): try add(expression, of: record, encoder)
    }
  }

  private mutating func add(
    _ expression: RowExpression, of record: RowReader, _ encoder: KeyEncoder
  ) throws(StoreError) {
    let value = try expression.value(of: record)
    if case .null = value { return }
    count += 1
    switch kind {
    case .sum, .average: try add(value, expression, record)
    case .lowest, .highest:
      if value.isNotANumber { return }
      let order = value.order(to: computed)
      if order == .null || order == (kind == .lowest ? .less : .greater) { computed = value }
    case .distinct:
      encoder.begin()
      encoder.append(value, isDescending: false)
      different.insert(EncodedKey(bytes: encoder.key.array()))
    case .count, .records: break
    }
  }

  private mutating func add(
    _ value: ComputedValue, _ expression: RowExpression, _ record: RowReader
  ) throws(StoreError) {
    switch (computed, value) {
    case (.null, _): computed = value
    // Doubles add up as in Swift, to what is no number if one of them is none.
    case (.double(let one), .double(let other)): computed = .double(one + other)
    case (.decimal(let one), .decimal(let other)) where one.isNaN || other.isNaN:
      computed = .decimal(.nan)
    default: computed = try expression.sum(computed, value, for: record)
    }
  }

  /// The type of results.
  var type: ScalarType {
    switch kind {
    case .count, .distinct, .records: return .int64
    case .sum, .lowest, .highest: return valueType
    case .average: return valueType == .decimal ? .decimal : .double
    }
  }

  private var valueType: ScalarType {
    if case .expression(let expression) = source { return expression.kind.columnType }
    return sum?.totalType ?? extreme?.type ?? .int64
  }

  /// The result for the group.
  ///
  /// - Throws: `.invalidQuery` for an integer beyond 64 bits.
  func result(in record: Entity) throws(StoreError) -> FieldValue {
    switch kind {
    case .count, .records: return .integer(Int64(count))
    case .distinct: return .integer(Int64(different.count))
    case .sum, .average, .lowest, .highest: break
    }
    guard case .expression(let expression) = source else { return try fieldResult(in: record) }
    if kind == .average { return average }
    let isEmptySum = kind == .sum && count == 0
    let value = isEmptySum ? expression.kind.zero ?? .null : computed
    guard let result = FieldValue(value, of: expression.kind) else { throw record.sumTooLarge }
    return result
  }

  private func fieldResult(in record: Entity) throws(StoreError) -> FieldValue {
    if kind == .average { return sum?.average ?? .null }
    guard kind == .sum else { return extreme?.value ?? .null }
    guard let total = sum?.total else { throw record.sumTooLarge }
    return total
  }

  private var average: FieldValue {
    switch computed {
    case .integer(let sum): .double(Double(sum) / Double(count))
    case .double(let sum): .double(sum / Double(count))
    case .decimal(let sum):
      Self.average(sum, count)
    case .null, .bytes: .null
    }
  }

  private static func average(_ sum: DecimalParts, _ count: Int) -> FieldValue {
    if sum.isNaN { return .decimal(.nan) }
    guard let average = DecimalParts.quotient(sum, DecimalParts(Int128(count))) else {
      return .null
    }
    return .decimal(average.decimal)
  }
}

/// The lowest or highest value that was seen of a field.
private struct FieldExtreme {
  let column: KeyColumn
  let isHighest: Bool
  let type: ScalarType
  private var bytes: [UInt8] = []
  private(set) var value = FieldValue.null

  init(column: KeyColumn, of layout: RowLayout, isHighest: Bool) {
    self.column = column
    self.isHighest = isHighest
    type = layout.columns[Int(column.column)].field.type.scalar ?? column.type
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

/// The bytes of values, hashed all at once, where an array would hash them one by one.
struct EncodedKey: Hashable {
  var bytes: [UInt8] = []

  func hash(into hasher: inout Hasher) {
    unsafe bytes.withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
  }
}
