/// The values of queries that are parts of other queries. Each is run once, in the same state, before the query that it is a part
/// of is planned: so an index answers `price > (select average(price) from Product)` as it does any comparison.
struct QueriedValues {
  private var reader: RecordReader
  private var lists: [FieldCondition: [FieldValue]] = [:]
  private var values: [FieldExpression: FieldValue] = [:]
  /// How each query was run.
  private(set) var runs: [QueriedRun] = []

  /// How deep queries may be parts of one another: each is a level of running, of which a thread with little stack has to hold
  /// all.
  private static var depthMax: Int { 16 }
  /// The most values of a query that a field is compared with.
  private static var countMax: Int { 1 << 22 }

  init(_ reader: RecordReader) {
    self.reader = reader
    self.reader.queryDepth += 1
    // These queries have explanations of their own.
    self.reader.reads = nil
  }

  /// Returns a condition with the values of the queries in it in place of the queries.
  ///
  /// - Parameter layout: The layout of the record that the condition is on; nil if it is that of related records.
  /// - Throws: As running them; `.invalidQuery` if they are nested too deep.
  mutating func evaluated(
    _ condition: FieldCondition, on layout: RowLayout?
  ) throws(StoreError) -> FieldCondition {
    switch condition {
    case .comparison, .isIn, .match, .contains, .kind: return condition
    case .isInQuery(let field, let queried):
      if let values = lists[condition] { return .isIn(field: field, values) }
      let values = try list(queried.value, queried.query)
      lists[condition] = values
      return .isIn(field: field, values)
    case .any(let relation, let operand):
      return .any(relation: relation, try evaluated(operand, on: nil))
    case .computed(let computed):
      return compared(
        try evaluated(computed.one), computed.comparison, try evaluated(computed.other), layout)
    case .and(let operands): return .and(try evaluated(operands, on: layout))
    case .or(let operands): return .or(try evaluated(operands, on: layout))
    case .not(let operand): return .not(try evaluated(operand, on: layout))
    }
  }

  private mutating func evaluated(
    _ conditions: [FieldCondition], on layout: RowLayout?
  ) throws(StoreError) -> [FieldCondition] {
    var evaluated: [FieldCondition] = []
    for condition in conditions { evaluated.append(try self.evaluated(condition, on: layout)) }
    return evaluated
  }

  /// Returns an expression with the values of the queries in it in place of the queries.
  ///
  /// - Throws: as `evaluated(_:)` of a condition.
  mutating func evaluated(_ expression: FieldExpression) throws(StoreError) -> FieldExpression {
    switch expression {
    case .field, .value: return expression
    case .arithmetic(let one, let operation, let other):
      return .arithmetic(try evaluated(one), operation, try evaluated(other))
    case .coalesced(let one, let other):
      return .coalesced(try evaluated(one), try evaluated(other))
    case .negated(let operand): return .negated(try evaluated(operand))
    case .length(let operand): return .length(try evaluated(operand))
    case .lowercased(let operand): return .lowercased(try evaluated(operand))
    case .function(let function, let operand): return .function(function, try evaluated(operand))
    case .count(let relation, let condition):
      return .count(relation: relation, where: try evaluated(condition, on: nil))
    case .aggregate(let aggregate, let relation, let operand, let condition):
      return .aggregate(
        aggregate, relation: relation, of: try evaluated(operand),
        where: try evaluated(condition, on: nil))
    case .query(let aggregate, let operand, let query):
      if let value = values[expression] { return .value(value) }
      let value = try self.value(aggregate, operand, query)
      values[expression] = value
      return .value(value)
    }
  }

  /// A field that can have a value is compared with it as such, which an index answers.
  private func compared(
    _ one: FieldExpression, _ comparison: FieldComparison, _ other: FieldExpression,
    _ layout: RowLayout?
  ) -> FieldCondition {
    switch (one, other) {
    case (.field(let field), .value(let value)):
      layout?.condition(field, comparison, value) ?? .computed(one, comparison, other)
    case (.value(let value), .field(let field)):
      layout?.condition(field, comparison.exchanged, value) ?? .computed(one, comparison, other)
    default: .computed(one, comparison, other)
    }
  }
}

extension RowLayout {
  /// Returns the comparison of a field with a value that the field can have; nil if there is none.
  fileprivate func condition(
    _ field: String, _ comparison: FieldComparison, _ value: FieldValue
  ) -> FieldCondition? {
    if has(value, in: field) { return .comparison(field: field, comparison, value) }
    guard case .double(let number) = value else { return nil }
    return condition(field, comparison, number)
  }

  /// The same of a number such as an average, for a field of integers: it is above one with a fraction if it is at least the
  /// next integer.
  private func condition(
    _ field: String, _ comparison: FieldComparison, _ number: Double
  ) -> FieldCondition? {
    // Doubles beyond stand for several integers each.
    guard number.magnitude < 0x1p53,
      column(named: field)?.field.type.scalar?.integer != nil
    else { return nil }
    var comparison = comparison
    var bound = number
    if number.rounded() != number {
      switch comparison {
      case .greater, .greaterOrEqual: (comparison, bound) = (.greaterOrEqual, number.rounded(.up))
      case .less, .lessOrEqual: (comparison, bound) = (.lessOrEqual, number.rounded(.down))
      case .equal, .notEqual: return nil
      }
    }
    let value = FieldValue.integer(Int64(bound))
    return has(value, in: field) ? .comparison(field: field, comparison, value) : nil
  }

  /// Returns true if a field can have a value as it is.
  fileprivate func has(_ value: FieldValue, in field: String) -> Bool {
    guard let type = column(named: field)?.field.type, type.scalar != nil, !value.isNaN else {
      return false
    }
    return value.converted(to: type) == value
  }
}

// MARK: - Running

extension QueriedValues {
  private func runner(
    of query: FieldSubquery
  ) throws(StoreError) -> (runner: QueryRunner, query: FieldQuery) {
    let runner = QueryRunner(try reader.entities.entity(named: query.record), in: reader)
    guard reader.queryDepth <= Self.depthMax else {
      throw .invalidQuery(
        record: query.record, field: nil,
        reason: "queries are parts of one another over \(Self.depthMax) deep")
    }
    return (runner, FieldQuery(query))
  }

  /// Returns the different values of an expression.
  private mutating func list(
    _ value: FieldExpression, _ query: FieldSubquery
  ) throws(StoreError) -> [FieldValue] {
    let (runner, fields) = try runner(of: query)
    let source = try QueriedValue(value, of: runner.record, in: reader)
    let found = try runner.find(fields, for: source.isInKey ? .keysInAnyOrder : .recordsInAnyOrder)
    var known: Set<FieldValue> = []
    while try found.next() {
      known.insert(try source.value(of: found))
      guard known.count <= Self.countMax else {
        throw .invalidQuery(
          record: query.record, field: value.firstField,
          reason: "a field is compared with \(Self.countMax) values of a query at most")
      }
    }
    runs.append(
      QueriedRun(
        runner: runner, query: query, access: found.plan.access,
        result: .values(known.count, of: value)))
    return Array(known)
  }

  private mutating func value(
    _ aggregate: QueryAggregate, _ operand: FieldExpression, _ query: FieldSubquery
  ) throws(StoreError) -> FieldValue {
    let (runner, fields) = try runner(of: query)
    let kind: AggregateKind
    switch aggregate {
    case .count:
      let count = try runner.count(fields)
      runs.append(
        QueriedRun(runner: runner, query: query, access: nil, result: .counted(count)))
      return .integer(Int64(count))
    case .sum: kind = .sum
    case .average: kind = .average
    case .minimum: kind = .lowest
    case .maximum: kind = .highest
    }
    var grouping = try RecordGrouping(
      runner.record, by: [], [FieldAggregate(kind, operand)], in: reader)
    let found = try runner.find(fields, for: .recordsInAnyOrder)
    _ = try found.next(where: { row throws(StoreError) in
      _ = try grouping.add(found.key, row)
      return false
    })
    let result = try grouping.results(0)[0]
    runs.append(
      QueriedRun(
        runner: runner, query: query, access: found.plan.access,
        result: .aggregate(aggregate, of: operand, result)))
    return result
  }
}

/// How a query that is a part of another was run.
struct QueriedRun {
  enum Result {
    case counted(Int)
    case values(Int, of: FieldExpression)
    case aggregate(QueryAggregate, of: FieldExpression, FieldValue)
  }

  let runner: QueryRunner
  let query: FieldSubquery
  /// Nil if its records were counted.
  let access: QueryAccess?
  let result: Result

  /// For people.
  var text: String {
    let condition =
      access == nil || query.condition == .and([]) ? "" : " where \(query.condition)"
    let way = access.map { runner.text(of: $0) + ", " } ?? ""
    return "after \(query.record)\(condition): \(way)\(resultText)"
  }

  private var resultText: String {
    switch result {
    case .counted(let count): "\(count) records counted"
    case .values(let count, let value): "\(count) values of \(value)"
    case .aggregate(let aggregate, let operand, let value):
      "\(aggregate) of \(operand) is \(value.literal)"
    }
  }
}

/// A value of each record of a query, as a field has it.
private struct QueriedValue {
  private let record: Entity
  private let source: Source

  private enum Source {
    /// The place among the parts of the primary key.
    case key(Int)
    /// The place of a field of the record's own.
    case field(Int)
    case expression(RowExpression)
  }

  init(
    _ value: FieldExpression, of record: Entity, in reader: RecordReader
  ) throws(StoreError) {
    self.record = record
    guard case .field(let name) = value, let place = record.layout.index(named: name) else {
      source = .expression(try RowExpression(value, of: record, in: reader))
      return
    }
    let column = record.layout.columns[place].place
    source = column.kind == .key ? .key(column.index) : .field(place)
  }

  /// True if no row has to be read.
  var isInKey: Bool {
    if case .key = source { true } else { false }
  }

  /// - Throws: `.invalidQuery` if a computation has no result; `.corrupt`, `.io`.
  func value(of found: FoundRecords) throws(StoreError) -> FieldValue {
    let layout = record.layout
    if case .key(let place) = source {
      var key = KeyReader(found.key, layout: layout)
      for column in layout.key.columns.prefix(place) { _ = try key.value(column) }
      return try key.value(layout.key.columns[place])
    }
    let row = try RowReader(
      key: found.key, row: try found.row(), layout: layout, blobs: found.blobs)
    switch source {
    case .key(let place), .field(let place): return try row.value(place)
    case .expression(let expression): return try expression.fieldValue(of: row, record)
    }
  }
}
