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
enum FieldAggregate {
  case sum(FieldSum)
  case average(FieldSum)
  /// The bytes that the value is sorted by, and the value.
  case extreme(KeyColumn, isHighest: Bool, bytes: [UInt8], value: FieldValue)
  case count(ColumnPlace, Int)

  /// - Throws: `.invalidQuery` where the field's values have no sum, or no order.
  init(_ kind: AggregateKind, _ field: String, in layout: RowLayout) throws(StoreError) {
    guard let column = layout.column(named: field) else {
      throw .invalidQuery(
        record: layout.record.name, field: field, reason: "there is no such field")
    }
    switch kind {
    case .sum: self = .sum(try FieldSum(of: column, in: layout))
    case .average: self = .average(try FieldSum(of: column, in: layout))
    case .lowest, .highest:
      let column = try BoundOrder.column(of: FieldOrder(field: field), in: layout)
      self = .extreme(column, isHighest: kind == .highest, bytes: [], value: .null)
    case .count: self = .count(column.place, 0)
    }
  }

  /// - Throws: `.corrupt`.
  mutating func add(_ record: RowReader, _ encoder: KeyEncoder) throws(StoreError) {
    switch self {
    case .sum(var sum):
      try sum.add(record)
      self = .sum(sum)
    case .average(var sum):
      try sum.add(record)
      self = .average(sum)
    case .extreme(let column, let isHighest, let bytes, let value):
      if record.isNull(column.place) { return }
      encoder.begin()
      try encoder.appendSorted(column, from: record)
      if value != .null {
        let order = encoder.key.compare(bytes.rawSpan)
        guard isHighest ? order > 0 : order < 0 else { return }
      }
      self = .extreme(
        column, isHighest: isHighest, bytes: encoder.key.array(),
        value: try record.value(Int(column.column)))
    case .count(let place, let count):
      if !record.isNull(place) { self = .count(place, count + 1) }
    }
  }

  /// - Throws: `.invalidQuery` for a sum of integers beyond 64 bits.
  func result(in record: Entity) throws(StoreError) -> FieldValue {
    switch self {
    case .sum(let sum):
      guard let total = sum.total else { throw record.sumTooLarge }
      return total
    case .average(let sum):
      if let average = sum.average { return average }
      return .null
    case .extreme(_, _, _, let value): return value
    case .count(_, let count): return .integer(Int64(count))
    }
  }
}

extension Entity {
  var sumTooLarge: StoreError {
    .invalidQuery(record: record.name, field: nil, reason: "a sum of integers is beyond 64 bits")
  }
}
