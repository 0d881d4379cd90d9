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

    /// The lowest value that is not null, in the order of sorting; null if there are none.
    @inlinable
    public static func min<Value>(_ field: KeyPath<Subject, Value>) -> Aggregate {
      Aggregate(.lowest, PropertyReference(field))
    }

    /// The highest value, in the order of sorting; null if there are none.
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
    guard let column = layout.column(named: field) else {
      throw .invalidQuery(
        record: layout.record.name, field: field, reason: "there is no such field")
    }
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
    encoder.begin()
    try encoder.appendSorted(column, from: record)
    if value != .null {
      let order = encoder.key.compare(bytes.rawSpan)
      guard isHighest ? order > 0 : order < 0 else { return }
    }
    bytes.assign(encoder.key)
    value = try record.value(Int(column.column))
  }
}

extension Entity {
  var sumTooLarge: StoreError {
    .invalidQuery(record: record.name, field: nil, reason: "a sum of integers is beyond 64 bits")
  }
}
