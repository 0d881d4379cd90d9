/// Puts records into groups that have the same values of some expressions.
///
/// Nothing is allocated for a record, only for a group.
struct RecordGrouping {
  private let record: Entity
  private let terms: [Term]
  private let encoder = KeyEncoder()
  /// The groups, by the bytes of their values.
  private var groups = KeyNumbers()
  private var counts: [Int] = []
  private var aggregates: [AggregateColumn] = []
  /// The place of the group of the present record.
  private(set) var place = 0

  /// A value by which records are grouped.
  private enum Term {
    /// A part of the primary key, where each of those has it, and the column that it is.
    case keyPart(Range<Int>, KeyColumn)
    /// A field of the record's own, whose values are compared as they lie in rows.
    case field(KeyColumn)
    case expression(RowExpression)
  }

  /// - Throws: `.invalidQuery` if values have no order, no sum, or cannot be computed.
  init(
    _ record: Entity, by values: [FieldExpression], _ aggregates: [FieldAggregate],
    in reader: RecordReader
  ) throws(StoreError) {
    self.record = record
    var terms: [Term] = []
    for value in values { terms.append(try Self.term(value, of: record, in: reader)) }
    self.terms = terms
    for aggregate in aggregates {
      self.aggregates.append(try AggregateColumn(aggregate, of: record, in: reader))
    }
    if isOfAll {
      _ = groups.number(of: RawSpan())
      addGroup()
    }
  }

  private static func term(
    _ value: FieldExpression, of record: Entity, in reader: RecordReader
  ) throws(StoreError) -> Term {
    let layout = record.layout
    guard case .field(let name) = value, layout.index(named: name) != nil else {
      return .expression(try RowExpression(value, of: record, in: reader))
    }
    let column = try BoundOrder.column(of: FieldOrder(field: name), in: layout)
    let part = column.place.index
    if column.place.kind == .key, layout.key.columns[part].hasFixedBytes(of: column),
      let place = layout.key.fixedPlace(of: part)
    {
      return .keyPart(place, column)
    }
    return .field(column)
  }

  private mutating func addGroup() {
    counts.append(0)
    for index in aggregates.indices { aggregates[index].addGroup() }
  }

  /// True without values: all records are a group, even if there are none.
  var isOfAll: Bool { terms.isEmpty }

  /// The number of groups.
  var groupCount: Int { counts.count }

  /// Adds a record to its group. True if that is new.
  ///
  /// - Throws: `.invalidQuery` if a computation has no result; `.corrupt`, `.io`.
  mutating func add(_ key: RawSpan, _ row: RawSpan) throws(StoreError) -> Bool {
    let (layout, encoder) = (record.layout, encoder)
    let reader = try RowReader(key: key, row: row, layout: layout)
    encoder.begin()
    for term in terms {
      switch term {
      case .keyPart(let place, _) where place.upperBound <= key.byteCount:
        encoder.appendRaw(key.part(place.lowerBound, place.count))
      case .keyPart(_, let column), .field(let column):
        try encoder.appendSorted(column, from: reader)
      case .expression(let expression): try append(expression, of: reader)
      }
    }
    let (number, isNew) = groups.number(of: encoder.key)
    place = number
    if isNew { addGroup() }
    counts[number] &+= 1
    for index in aggregates.indices { try aggregates[index].add(reader, to: number, encoder) }
    return isNew
  }

  @inline(__always)
  private func append(_ expression: RowExpression, of record: RowReader) throws(StoreError) {
    encoder.append(try expression.value(of: record), isDescending: false)
  }

  /// Appends the values of the group that a record is in.
  ///
  /// - Throws: `.invalidQuery` for an integer beyond 64 bits; `.corrupt`, `.io`.
  fileprivate func append(
    valuesOf record: RowReader, to values: inout [FieldValue]
  ) throws(StoreError) {
    for term in terms {
      switch term {
      case .keyPart(_, let column), .field(let column):
        values.append(try record.value(Int(column.column)))
      case .expression(let expression):
        values.append(try expression.fieldValue(of: record, self.record))
      }
    }
  }

  /// The places of the groups, by their values.
  var sorted: [Int] { groups.sorted }

  /// The types of the values of groups, and of their results.
  var types: (values: [ScalarType], results: [ScalarType]) {
    let values = terms.map { term in
      switch term {
      case .keyPart(_, let column), .field(let column):
        record.layout.columns[Int(column.column)].field.type.scalar ?? column.type
      case .expression(let expression): expression.kind.columnType
      }
    }
    return (values: values, results: aggregates.map(\.type))
  }

  func count(_ place: Int) -> Int { counts[place] }

  /// - Throws: `.invalidQuery` for a sum of integers beyond 64 bits.
  func results(_ place: Int) throws(StoreError) -> [FieldValue] {
    var results: [FieldValue] = []
    try append(resultsOf: place, to: &results)
    return results
  }

  fileprivate func append(
    resultsOf place: Int, to results: inout [FieldValue]
  ) throws(StoreError) {
    for index in aggregates.indices { results.append(try aggregates[index].result(place)) }
  }
}

// MARK: All records of a query

/// The groups of a query's records, by place: values and results lie one after the other, without an array for each group.
struct GroupTable {
  /// The places of the groups, by their values.
  let sorted: [Int]
  private let grouping: RecordGrouping
  private var values: [FieldValue] = []
  private var results: [FieldValue] = []
  private let valueCount: Int
  private let resultCount: Int

  /// Groups all records of a query.
  ///
  /// - Throws: As reading them; `.invalidQuery` if a computation has no result, or a sum of integers exceeds 64 bits.
  init(of found: FoundRecords, by empty: RecordGrouping) throws(StoreError) {
    var grouping = empty
    let layout = found.layout
    while try found.next(where: { row throws(StoreError) in try grouping.add(found.key, row) }) {
      let row = try RowReader(
        key: found.key, row: try found.row(), layout: layout, blobs: found.blobs)
      try grouping.append(valuesOf: row, to: &values)
    }
    let types = grouping.types
    (valueCount, resultCount) = (types.values.count, types.results.count)
    for place in 0..<grouping.groupCount { try grouping.append(resultsOf: place, to: &results) }
    sorted = grouping.sorted
    self.grouping = grouping
  }

  func values(_ place: Int) -> [FieldValue] {
    Array(values[place * valueCount..<(place + 1) * valueCount])
  }

  func results(_ place: Int) -> [FieldValue] {
    Array(results[place * resultCount..<(place + 1) * resultCount])
  }

  func result(_ number: Int, of place: Int) -> FieldValue {
    results[place * resultCount + number]
  }

  func count(_ place: Int) -> Int { grouping.count(place) }

  func group(_ place: Int) -> RecordGroup<[FieldValue], [FieldValue]> {
    RecordGroup(key: values(place), count: count(place), value: results(place))
  }
}
