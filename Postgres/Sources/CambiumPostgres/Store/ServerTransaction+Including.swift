import Cambium

/// Related records: a statement for each relation, however many records there are.
extension ServerTransaction: RelatedSource {
  func records<Target: Record>(
    _ type: Target.Type, withKeys keys: [FieldValue]
  ) throws -> (records: [Target], places: [Int?]) {
    var wanted = ReferencedKeys(try keyScalar(of: try table(of: type)), dates)
    let encoded = try keys.map { wanted.add(try mapping.key(of: type, [$0])) }
    guard let parameter = wanted.parameter else { return ([], keys.map { _ in nil }) }
    var translation = QueryTranslation(plan)
    let scope = translation.scope(of: try table(of: type))
    let columns = RecordColumns(scope.table, dates: dates)
    let order = try translation.order([], in: scope).map(\.text).joined(separator: ", ")
    let key = scope.column(try translation.keyColumn(scope.table).name)
    let isOfKind = scope.isOfKind(try mapping.kind(of: type)?.name)
    let rows = try run(
      "SELECT \(columns.list(in: scope, translation)) FROM \(plan.qualified(scope.table.name)) AS"
        + " \(scope.alias) WHERE \(key) = ANY (\(translation.add(parameter)))\(isOfKind) ORDER BY \(order)",
      translation.parameters)
    var records: [Target] = []
    var found: [SQLParameter: Int] = [:]
    for row in rows.rows {
      let values = try columns.record(row)
      if let key = wanted.encoded(Self.key(of: values, scope.table)) {
        found[key] = records.count
      }
      records.append(try mapping.record(type, of: values))
    }
    return (records, encoded.map { key in key.flatMap { found[$0] } })
  }

  func records<Owner: Record, Related: Record>(
    at inverse: Inverse<Owner, Related>, _ query: Query<Related>, of owners: [FieldValue]
  ) throws -> (records: [Related], places: [[Int]]) {
    let owner = try table(of: Owner.self)
    var keys = ReferencedKeys(try keyScalar(of: owner), dates)
    for key in owners { keys.append(try mapping.key(of: Owner.self, [key])) }
    let stored = try mapping.stored(query)
    var places = owners.map { _ in [Int]() }
    guard let parameter = keys.parameter else { return ([], places) }
    var translation = QueryTranslation(plan)
    // The keys are a table with the only column of the owner's table that is needed.
    let scope = TableScope(table: owner, alias: "s")
    let from =
      "unnest(\(translation.add(parameter))) WITH ORDINALITY AS s"
      + " (\(SQL.name(try translation.keyColumn(owner).name)), cambium_place)"
    let (related, isRelated) = try translation.relation(inverse.name, of: scope)
    var condition = isRelated
    if let wanted = stored.condition {
      condition += " AND (\(try translation.condition(wanted, in: related)))"
    }
    let order = try translation.order(stored.order, in: related).map(\.text)
      .joined(separator: ", ")
    let window = try translation.window(limit: stored.limit, offset: 0, of: related.table)
    let columns = RecordColumns(related.table, dates: dates)
    let rows = try run(
      "SELECT s.cambium_place, \(columns.list(in: related, translation)) FROM \(from) CROSS JOIN"
        + " LATERAL (SELECT \(related.alias).* FROM \(plan.qualified(related.table.name)) AS"
        + " \(related.alias) WHERE \(condition) ORDER BY \(order)\(window)) AS \(related.alias)"
        + " ORDER BY s.cambium_place, \(order)", translation.parameters)
    var records: [Related] = []
    for row in rows.rows {
      guard let place = row[0].flatMap({ ValueDecoder.integer($0) }).map({ Int($0) }),
        places.indices.contains(place - 1)
      else { continue }
      places[place - 1].append(records.count)
      records.append(
        try mapping.record(Related.self, of: try columns.record(Array(row.dropFirst()))))
    }
    return (records, places)
  }

  /// The type of a primary key of one part.
  func keyScalar(of table: TablePlan) throws -> ScalarType {
    let key = try QueryTranslation(plan).keyColumn(table)
    for column in table.columns where column.name == key.name {
      if case .value(_, let scalar) = column.source { return scalar }
    }
    throw StoreError.invalidQuery(
      record: table.record.name, field: nil, reason: "its primary key is of several parts")
  }
}

/// Primary keys as elements of one parameter.
private struct ReferencedKeys {
  private let scalar: ScalarType
  private let dates: DateForm
  private var values: [FieldValue] = []
  private var known: Set<SQLParameter> = []

  init(_ scalar: ScalarType, _ dates: DateForm) {
    self.scalar = scalar
    self.dates = dates
  }

  /// The keys; nil if there are none.
  var parameter: SQLParameter? {
    values.isEmpty ? nil : SQLParameter(array: .array(values), of: scalar, dates: dates)
  }

  /// A key as the server has it; nil if it cannot have it, so that no record has it there. Strings that only look the same differ.
  func encoded(_ key: [FieldValue]) -> SQLParameter? {
    key.first.flatMap { SQLParameter($0, of: scalar, dates: dates) }
  }

  /// Adds a key, unless it is among them, and returns it as the server has it.
  mutating func add(_ key: [FieldValue]) -> SQLParameter? {
    guard let parameter = encoded(key) else { return nil }
    if known.insert(parameter).inserted { values += key.prefix(1) }
    return parameter
  }

  /// Adds a key, even if it is among them.
  mutating func append(_ key: [FieldValue]) { values += key.prefix(1) }
}
