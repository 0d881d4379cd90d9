import Cambium

/// Reads and writes of one transaction of a connection. It is used on the connection's thread, and not after its transaction.
final class ServerTransaction {
  let plan: PostgresPlan
  let mapping: RecordMapping
  private let connection: Connection
  /// The statements that begin the transaction, until they are sent together with the first one of it.
  private var beginning: [String]
  /// True if it has a single statement, with which it ends.
  private let isSingle: Bool
  /// True if the transaction could not begin, so that no statement may be run.
  private(set) var isUnbegun = false
  /// The first error of the server, after which it does nothing more in the transaction.
  private(set) var failure: PostgresError?
  private var isEnded = false
  /// Finds references that do not lead to records of their kinds, which no foreign key does.
  var kindCheck: KindCheck
  /// The places of its changes.
  var changed = ChangedPlaces()
  /// True once records were deleted.
  var hasDeleted = false
  /// The number of savepoints around the present statement.
  private var depth = 0

  /// - Parameters:
  ///   - beginning: The statements that begin the transaction. Nothing is sent before the first statement of it.
  ///   - isSingle: True if it has a single statement, and changes nothing: it is over by the same round trip.
  init(
    _ plan: PostgresPlan, _ mapping: RecordMapping, _ connection: Connection,
    beginningBy beginning: [String], isSingle: Bool = false
  ) {
    self.plan = plan
    self.mapping = mapping
    self.connection = connection
    self.beginning = beginning
    self.isSingle = isSingle
    kindCheck = KindCheck(plan)
  }

  /// True if anything was sent.
  var hasBegun: Bool { beginning.isEmpty }

  var dates: DateForm { plan.options.dates }

  /// Lets nothing more be run.
  func end() { isEnded = true }

  /// Runs a statement.
  @discardableResult
  func run(_ sql: String, _ parameters: [SQLParameter] = []) throws -> SQLResult {
    guard !isEnded else { throw StoreError.closed(path: "PostgreSQL") }
    if isUnbegun, let failure { throw failure.ofStore }
    do {
      return hasBegun ? try connection.run(sql, parameters) : try begin(sql, parameters)
    } catch {
      if failure == nil { failure = error }
      throw error.ofStore
    }
  }

  /// Begins the transaction, and runs its first statement.
  private func begin(
    _ sql: String, _ parameters: [SQLParameter]
  ) throws(PostgresError) -> SQLResult {
    let first = beginning.count
    var statements = beginning.map { SQLStatement(sql: $0) }
    statements.append(SQLStatement(sql: sql, parameters: parameters))
    if isSingle { statements.append(SQLStatement(sql: "ROLLBACK")) }
    beginning = []
    do throws(PostgresError) {
      let results = try connection.run(statements)
      isEnded = isSingle
      return results[first]
    } catch {
      isUnbegun = error.place < first
      throw error
    }
  }

  /// Rolls the transaction back if it has begun, unless it is over.
  func rollBack() {
    if hasBegun, !isEnded { _ = try? connection.run("ROLLBACK") }
    isEnded = true
  }

  /// Runs `body`, and undoes its changes if it throws, or if it hides an error of the server. After an error that ends the whole
  /// transaction, a conflict or the loss of the connection, nothing more is run in it.
  func savepoint<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result {
    let name = "cambium_\(depth)"
    try run("SAVEPOINT \(name)")
    depth += 1
    let before = (hasDeleted, changed)
    defer { depth -= 1 }
    do {
      let result = try body()
      if let failure { throw failure.ofStore }
      try run("RELEASE SAVEPOINT \(name)")
      return result
    } catch {
      if let failure, failure.isLoss || failure.isConflict { throw error }
      failure = nil
      (hasDeleted, changed) = before
      try run("ROLLBACK TO SAVEPOINT \(name)")
      try run("RELEASE SAVEPOINT \(name)")
      throw error
    }
  }

  func table<Subject: Record>(of type: Subject.Type) throws -> TablePlan {
    let name = try mapping.name(of: type)
    guard let table = plan.tables.first(where: { $0.record.name == name }) else {
      throw StoreError.unknownRecord(name: name)
    }
    return table
  }
}

// MARK: - By key

extension ServerTransaction {
  /// The condition that a row has a primary key.
  ///
  /// - Parameter kind: The kind that the record is to be of; nil for any.
  func isRecord(
    _ key: [FieldValue], of kind: FieldSchema? = nil, in scope: TableScope,
    _ translation: inout QueryTranslation
  ) throws -> String {
    var terms: [String] = []
    for (part, value) in zip(scope.table.key, key) {
      guard let column = scope.table.columns.first(where: { $0.name == part.name }),
        case .value(_, let scalar) = column.source
      else { continue }
      let parameter = try translation.add(value, of: scalar, scope, "a primary key")
      terms.append("\(scope.column(part.name)) = \(parameter)")
    }
    return terms.joined(separator: " AND ") + scope.isOfKind(kind?.name)
  }

  /// The values of the record with a primary key; nil if there is none, or one of another kind.
  func values(
    of table: TablePlan, key: [FieldValue], kind: FieldSchema? = nil
  ) throws -> DynamicRecord? {
    var translation = QueryTranslation(plan)
    let scope = translation.scope(of: table)
    let columns = RecordColumns(table, dates: dates)
    let condition = try isRecord(key, of: kind, in: scope, &translation)
    let result = try run(
      "SELECT \(columns.list(in: scope, translation)) FROM \(plan.qualified(table.name)) AS"
        + " \(scope.alias) WHERE \(condition)", translation.parameters)
    return try result.rows.first.map { try columns.record($0) }
  }

  func fetch<Subject: Record>(
    _ type: Subject.Type, key parts: [any FieldValueConvertible]
  ) throws -> Subject? {
    let key = try mapping.key(of: type, parts)
    let found = try values(of: try table(of: type), key: key, kind: try mapping.kind(of: type))
    return try found.map { try mapping.record(type, of: $0) }
  }

  func find<Subject: Record>(
    _ type: Subject.Type, key parts: [any FieldValueConvertible]
  ) throws -> Subject {
    if let record = try fetch(type, key: parts) { return record }
    throw StoreError.noSuchRecord(
      record: try mapping.name(of: type), key: Self.text(try mapping.key(of: type, parts)))
  }

  /// A primary key as errors have it.
  static func text(_ key: [FieldValue]) -> String {
    key.map { "\($0)" }.joined(separator: ", ")
  }

  /// Returns the records with primary keys of one part, in the order of the keys.
  func fetch<Subject: Record>(
    _ type: Subject.Type, keys: [any FieldValueConvertible]
  ) throws -> [Subject] {
    var records: [Subject] = []
    for key in keys {
      if let record = try fetch(type, key: [key]) { records.append(record) }
    }
    return records
  }
}

// MARK: - Queries

extension ServerTransaction {
  /// A query as the part of a statement after its columns.
  struct Rows {
    var translation: QueryTranslation
    let scope: TableScope
    /// From `FROM` up to the condition.
    let from: String
    /// The parts of the order, without its window.
    let parts: [OrderSQL]
    /// The order and the window.
    let order: String
  }

  /// - Parameters:
  ///   - place: The record after which the query begins.
  ///   - translation: The part of the statement before it.
  func rows(
    _ query: StoredQuery, after place: DynamicRecord? = nil,
    continuing translation: QueryTranslation? = nil
  ) throws -> Rows {
    guard let table = plan.tables.first(where: { $0.record.name == query.record }) else {
      throw StoreError.unknownRecord(name: query.record)
    }
    var translation = translation ?? QueryTranslation(plan)
    let scope = translation.scope(of: table)
    let order = try translation.order(query.order, in: scope)
    var conditions: [String] = []
    if let condition = query.condition {
      conditions.append("(\(try translation.condition(condition, in: scope)))")
    }
    if let place = try place.map({ Place.record($0) }) ?? self.place(query, table) {
      let values = try self.values(at: place, query, table)
      conditions.append(try translation.isAfter(values, by: order, in: scope))
    }
    let condition = conditions.isEmpty ? "" : " WHERE " + conditions.joined(separator: " AND ")
    let window = try translation.window(limit: query.limit, offset: query.offset, of: table)
    return Rows(
      translation: translation, scope: scope,
      from: " FROM \(plan.qualified(table.name)) AS \(scope.alias)\(condition)",
      parts: order, order: " ORDER BY \(order.map(\.text).joined(separator: ", "))\(window)")
  }

  /// The place of a record in the order of a query.
  private enum Place {
    case record(DynamicRecord)
    case key([FieldValue])
  }

  /// - Throws: `StoreError.noSuchRecord` if the order needs the record, and there is none.
  private func place(_ query: StoredQuery, _ table: TablePlan) throws -> Place? {
    guard let after = query.after else { return nil }
    guard !query.order.isEmpty else { return .key(after) }
    if let found = try values(of: table, key: after) { return .record(found) }
    throw StoreError.noSuchRecord(record: query.record, key: Self.text(after))
  }

  /// The values of the parts of the order and of the primary key at a place.
  private func values(
    at place: Place, _ query: StoredQuery, _ table: TablePlan
  ) throws -> [FieldValue] {
    switch place {
    case .key(let key): return key
    case .record(let record):
      var values: [FieldValue] = []
      for part in query.order {
        guard case .field(let name) = part.value, let field = table.record.field(named: name) else {
          throw PostgresStoreError.unsupportedQuery(
            record: query.record, part: "order by \(part.value)",
            reason: "a page can only begin after values that the record has itself")
        }
        values.append(FieldPath(field, in: table.record).value(in: record))
      }
      for key in table.record.primaryKey {
        guard let field = table.record.field(key.field) else { continue }
        values.append(FieldPath(field, in: table.record).value(in: record))
      }
      return values
    }
  }

  func fetch<Subject: Record>(
    _ query: Query<Subject>, after record: Subject?
  ) throws -> [Subject] {
    let place = try record.map { try mapping.values(of: $0) }
    let rows = try rows(try mapping.stored(query), after: place)
    let columns = RecordColumns(rows.scope.table, dates: dates)
    let result = try run(
      "SELECT \(columns.list(in: rows.scope, rows.translation))\(rows.from)\(rows.order)",
      rows.translation.parameters)
    return try result.rows.map { try mapping.record(Subject.self, of: try columns.record($0)) }
  }

  func count<Subject: Record>(_ query: Query<Subject>) throws -> Int {
    let rows = try rows(try mapping.stored(query))
    let result = try run(
      "SELECT count(*) FROM (SELECT\(rows.from)\(rows.order)) AS n", rows.translation.parameters)
    return Int(result.rows.first?[0].flatMap { ValueDecoder.integer($0) } ?? 0)
  }

  /// The rows of a query as a table, under the same alias.
  func table(of rows: Rows) -> String {
    "(SELECT \(rows.scope.alias).*\(rows.from)\(rows.order)) AS \(rows.scope.alias)"
  }

  func groups<Subject: Record, Key, Value>(
    _ query: GroupedQuery<Subject, Key, Value>
  ) throws -> [RecordGroup<Key, Value>] {
    let stored = try mapping.stored(query)
    var rows = try rows(stored.query)
    var keys: [ComputedSQL] = []
    for key in stored.keys {
      keys.append(try rows.translation.expression(key, in: rows.scope, isStrict: true))
    }
    var results: [AggregateSQL] = []
    for aggregate in stored.aggregates {
      results.append(
        try rows.translation.aggregate(aggregate.kind, of: aggregate.value, in: rows.scope))
    }
    let selected = keys.map { $0.groupKey(dates) } + ["count(*)"] + results.map(\.sql)
    let places = (1...max(1, keys.count)).map { "\($0)" }
    let grouping =
      keys.isEmpty
      ? ""
      : " GROUP BY \(places.joined(separator: ", ")) ORDER BY "
        + places.map { $0 + SQL.order(isDescending: false, isNullable: true) }.joined(
          separator: ", ")
    let found = try run(
      "SELECT \(selected.joined(separator: ", ")) FROM \(table(of: rows))\(grouping)",
      rows.translation.parameters)
    let decoder = ValueDecoder(dates: dates)
    let record = rows.scope.table.record.name
    return try stored.groups(
      found.rows.map { row in
        RecordGroup(
          storedKey: try keys.enumerated().map { place, key in
            try decoder.result(row[place], key.kind, isFloat: key.isFloat, of: record)
          },
          count: Int(row[keys.count].flatMap { ValueDecoder.integer($0) } ?? 0),
          values: try results.enumerated().map { place, result in
            try decoder.result(
              row[keys.count + 1 + place], result.kind, isFloat: result.isFloat,
              isSigned: result.isSigned, of: record)
          })
      })
  }

  /// The records of a query, each with a value of those from the first up to it.
  func running<Subject: Record, Value>(
    _ query: RunningQuery<Subject, Value>
  ) throws -> [(record: Subject, value: Value)] {
    let stored = try mapping.stored(query)
    var rows = try rows(stored.query)
    var keys: [String] = []
    for key in stored.keys {
      keys.append(try rows.translation.expression(key, in: rows.scope, isStrict: true).sql)
    }
    let result: AggregateSQL
    // Records that the order does not tell apart have one rank, and numbers and totals of their own.
    var order = rows.parts[...]
    switch stored.step {
    case .aggregate(let aggregate):
      result = try rows.translation.aggregate(
        aggregate.kind, of: aggregate.value, in: rows.scope, over: " OVER w")
    case .number: result = AggregateSQL(kind: .integer, sql: "row_number() OVER w::numeric")
    case .rank, .denseRank:
      if !stored.query.order.isEmpty { order = order.prefix(stored.query.order.count) }
      let name = stored.step == .rank ? "rank" : "dense_rank"
      result = AggregateSQL(kind: .integer, sql: "\(name)() OVER w::numeric")
    }
    let window = [
      keys.isEmpty ? "" : "PARTITION BY \(keys.joined(separator: ", "))",
      order.isEmpty ? "" : "ORDER BY \(order.map(\.text).joined(separator: ", "))",
      "ROWS UNBOUNDED PRECEDING",
    ].filter { !$0.isEmpty }.joined(separator: " ")
    let columns = RecordColumns(rows.scope.table, dates: dates)
    let found = try run(
      "SELECT \(result.sql), \(columns.list(in: rows.scope, rows.translation)) FROM"
        + " \(table(of: rows)) WINDOW w AS (\(window)) ORDER BY"
        + " \(rows.parts.map(\.text).joined(separator: ", "))"
        + (stored.foundCount.map { " LIMIT \($0)" } ?? ""), rows.translation.parameters)
    let decoder = ValueDecoder(dates: dates)
    return try stored.records(
      found.rows.count,
      value: { place in
        try decoder.result(
          found.rows[place][0], result.kind, isFloat: result.isFloat, isSigned: result.isSigned,
          of: rows.scope.table.record.name)
      },
      record: { place in
        try mapping.record(
          Subject.self, of: try columns.record(Array(found.rows[place].dropFirst())))
      })
  }

  /// The values that a query of groups would group by, of each record.
  func select<Subject: Record, Key>(
    _ query: GroupedQuery<Subject, Key, Void>
  ) throws -> [Key] {
    let stored = try mapping.stored(query)
    var rows = try rows(stored.query)
    var values: [ComputedSQL] = []
    for value in stored.keys {
      values.append(try rows.translation.expression(value, in: rows.scope, isStrict: true))
    }
    let found = try run(
      "SELECT \(values.map(\.sql).joined(separator: ", "))\(rows.from)\(rows.order)",
      rows.translation.parameters)
    let decoder = ValueDecoder(dates: dates)
    let record = rows.scope.table.record.name
    let groups = try found.rows.map { row in
      RecordGroup(
        storedKey: try values.enumerated().map { place, value in
          try decoder.result(row[place], value.kind, isFloat: value.isFloat, of: record)
        }, count: 1, values: [])
    }
    return try stored.groups(groups).map(\.key)
  }

  /// The first record with each of the different values of fields, in the order of a query; sorted by the fields if it has none.
  func distinct<Subject: Record>(
    _ fields: [String], of query: Query<Subject>
  ) throws -> [Subject] {
    let stored = try mapping.stored(query)
    var rows = try rows(stored)
    let scope = rows.scope
    let values = try rows.translation.order(fields.map { FieldOrder(field: $0) }, in: scope)
    let order = (stored.order.isEmpty ? values : rows.parts).map(\.text).joined(separator: ", ")
    let columns = RecordColumns(scope.table, dates: dates)
    let number = "\(scope.alias).cambium_number"
    let found = try run(
      "SELECT \(columns.list(in: scope, rows.translation)) FROM (SELECT \(scope.alias).*,"
        + " row_number() OVER (PARTITION BY"
        + " \(values.prefix(fields.count).map(\.sql).joined(separator: ", ")) ORDER BY"
        + " \(rows.parts.map(\.text).joined(separator: ", "))) AS cambium_number FROM"
        + " \(table(of: rows))) AS \(scope.alias) WHERE \(number) = 1 ORDER BY \(order)",
      rows.translation.parameters)
    return try found.rows.map { try mapping.record(Subject.self, of: try columns.record($0)) }
  }

  /// One aggregate of all records of a query.
  func aggregate<Subject: Record>(
    _ kind: AggregateKind, _ field: String, of query: Query<Subject>
  ) throws -> FieldValue {
    var rows = try rows(try mapping.stored(query))
    let result = try rows.translation.aggregate(kind, of: .field(field), in: rows.scope)
    let found = try run(
      "SELECT \(result.sql) FROM \(table(of: rows))", rows.translation.parameters)
    return try ValueDecoder(dates: dates).result(
      found.rows.first?[0], result.kind, isFloat: result.isFloat, isSigned: result.isSigned,
      of: rows.scope.table.record.name)
  }
}

extension ServerTransaction {
  func first<Subject: Record>(_ query: Query<Subject>) throws -> Subject? {
    try fetch(query.limit(min(query.limit ?? 1, 1)), after: nil).first
  }

  func contains<Subject: Record>(_ query: Query<Subject>) throws -> Bool {
    try count(query.limit(min(query.limit ?? 1, 1))) > 0
  }

  func sum<Subject: Record, Value: FieldNumber>(
    _ field: KeyPath<Subject, Value>, of query: Query<Subject>
  ) throws -> Value.Total {
    let value = try aggregate(.sum, try mapping.field(of: field), of: query)
    guard let total = Value.Total(fieldValue: value) else {
      throw StoreError.invalidQuery(
        record: try mapping.name(of: Subject.self), field: nil,
        reason: "a sum is out of the range of its type")
    }
    return total
  }

  func average<Subject: Record, Value: FieldNumber>(
    _ field: KeyPath<Subject, Value>, of query: Query<Subject>
  ) throws -> Value.Average? {
    Value.Average(
      fieldValue: try aggregate(.average, try mapping.field(of: field), of: query))
  }
}
