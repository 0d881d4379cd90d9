import Cambium

// Records that a relation of a type to itself leads to, again and again. In one recursive statement a cycle would have no end, or
// every step would carry all keys before it: so there is a statement for each depth.

extension ServerTransaction {
  /// The step from the records of one depth to those of the next.
  enum Step<Subject: Record> {
    /// To those that lead to them: the name of the inverse.
    case back(String)
    /// To those that they lead to: the stored name of the reference.
    case on(String)
  }

  /// Where records are reached from.
  enum Beginning<Subject: Record> {
    case record(Subject)
    case query(Query<Subject>)
  }

  /// Returns the records that are reached, each once at its least depth, by depth and primary key.
  func reached<Subject: Record>(
    from beginning: Beginning<Subject>, by step: Step<Subject>, upTo most: Int?
  ) throws -> [(record: Subject, depth: Int)] {
    let table = try table(of: Subject.self)
    let name =
      switch step {
      case .back(let name), .on(let name): name
      }
    guard most ?? 0 >= 0 else {
      throw StoreError.invalidQuery(
        record: table.record.name, field: name, reason: "its depth is negative: \(most ?? 0)")
    }
    var level: [DynamicRecord]
    switch beginning {
    case .record(let record): level = [try mapping.values(of: record)]
    case .query(let query): level = try values(of: query, table)
    }
    let scalar = try keyScalar(of: table)
    // Strings that only look the same differ there. Of a key that cannot be there, no record is found.
    func key(_ values: DynamicRecord) -> SQLParameter? {
      Self.key(of: values, table).first.flatMap { SQLParameter($0, of: scalar, dates: dates) }
    }
    var known = Set(level.map { key($0) })
    var found: [(record: Subject, depth: Int)] = []
    var depth = 0
    while !level.isEmpty, depth < most ?? .max {
      depth += 1
      let next = try records(after: level, step, table, scalar)
      level = []
      for values in next where known.insert(key(values)).inserted {
        level.append(values)
        found.append((try mapping.record(Subject.self, of: values), depth))
      }
    }
    return found
  }

  /// The records that those of a level lead to, or that lead to them, each once by primary key.
  private func records<Subject: Record>(
    after level: [DynamicRecord], _ step: Step<Subject>, _ table: TablePlan, _ scalar: ScalarType
  ) throws -> [DynamicRecord] {
    var translation = QueryTranslation(plan)
    let key = try translation.keyColumn(table)
    let scope: TableScope
    var condition: String
    switch step {
    case .back(let name):
      let owners = TableScope(table: table, alias: "s")
      let parameter = try self.parameter(level.flatMap { Self.key(of: $0, table) }, of: scalar)
      let (related, isRelated) = try translation.relation(name, of: owners)
      scope = related
      condition =
        "EXISTS (SELECT FROM unnest(\(translation.add(parameter))) AS s (\(SQL.name(key.name)))"
        + " WHERE \(isRelated))"
    case .on(let name):
      scope = translation.scope(of: table)
      let keys = level.flatMap { references(name, of: $0, table) }
      let parameter = try self.parameter(keys, of: scalar)
      condition = "\(scope.column(key.name)) = ANY (\(translation.add(parameter)))"
    }
    condition += scope.isOfKind(try mapping.kind(of: Subject.self)?.name)
    let columns = RecordColumns(table, dates: dates)
    let order = try translation.order([], in: scope).map(\.text).joined(separator: ", ")
    let result = try run(
      "SELECT \(columns.list(in: scope, translation)) FROM \(plan.qualified(table.name)) AS"
        + " \(scope.alias) WHERE \(condition) ORDER BY \(order)", translation.parameters)
    return try result.rows.map { try columns.record($0) }
  }

  private func references(
    _ name: String, of values: DynamicRecord, _ table: TablePlan
  ) -> [FieldValue] {
    guard let field = table.record.field(named: name) else { return [] }
    switch FieldPath(field, in: table.record).value(in: values) {
    case .null: return []
    case .array(let elements): return elements
    case let value: return [value]
    }
  }

  /// The keys as one parameter, without those that the server cannot have: no record has them there.
  private func parameter(_ keys: [FieldValue], of scalar: ScalarType) throws -> SQLParameter {
    let possible = keys.filter { SQLParameter($0, of: scalar, dates: dates) != nil }
    guard let parameter = SQLParameter(array: .array(possible), of: scalar, dates: dates) else {
      throw PostgresStoreError.unsupported("keys of \(scalar)")
    }
    return parameter
  }
}
