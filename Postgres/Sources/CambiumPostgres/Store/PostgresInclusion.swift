public import Cambium

/// A relation whose records are fetched together with those of a query of a `PostgresStore`, by one more statement.
///
/// ```swift
/// for (book, author, tags) in try snapshot.fetch(page, including: .one(\.author), .all(\.tags)) { … }
/// for (author, books) in try snapshot.fetch(
///   Author.sorted(by: .ascending(\.name)),
///   including: .all(Author.books, sortedBy: .descending(\.year), limit: 3)) { … }
/// ```
///
/// Inclusions are written as those of an embedded store, which `Inclusion` describes.
public struct PostgresInclusion<Subject: Record, Result>: Sendable {
  /// Returns the result of each of some records, in their order.
  let load: @Sendable (ServerTransaction, [Subject]) throws -> [Result]
}

// MARK: - The records that references lead to

extension PostgresInclusion {
  /// Includes the record that a reference leads to; nil if there is no reference, or if it leads nowhere.
  ///
  /// - Parameters:
  ///   - reference: The key path of the property, optional or not.
  ///   - nested: Relations of that record, fetched with it.
  public static func one<Target: Record, each Nested>(
    _ reference: @escaping @Sendable (Subject) -> Reference<Target>?,
    including nested: repeat PostgresInclusion<Target, each Nested>
  ) -> PostgresInclusion where Result == (Target, repeat each Nested)? {
    PostgresInclusion { server, subjects in
      let lists = try server.lists(
        of: subjects, { CollectionOfOne(reference($0)) }, including: repeat each nested)
      // A key path of a list of packs would abort the program.
      return lists.map { $0.first }
    }
  }

  /// Includes the records that a list of references leads to, in its order; those of a set by primary key. References that lead
  /// nowhere are left out.
  ///
  /// - Parameters:
  ///   - references: The key path of the property, optional or not.
  ///   - nested: Relations of those records, fetched with them: then each result is a list of tuples.
  public static func all<Target: Record, References: Sequence & SendableMetatype, each Nested>(
    _ references: @escaping @Sendable (Subject) -> References?,
    including nested: repeat PostgresInclusion<Target, each Nested>
  ) -> PostgresInclusion
  where Result == [(Target, repeat each Nested)], References.Element == Reference<Target> {
    PostgresInclusion { server, subjects in
      try server.lists(
        of: subjects, { subject in references(subject)?.lazy.map { Optional($0) } },
        areSorted: References.self == Set<Reference<Target>>.self,
        including: repeat each nested)
    }
  }
}

// MARK: - The records that lead to one

extension PostgresInclusion {
  /// Includes the records at the other end of a reference: those that lead to each record.
  ///
  /// - Parameters:
  ///   - condition: A condition that the included records meet.
  ///   - order: The properties by which the included records of each record are sorted; by primary key if there are none.
  ///   - limit: The highest number of included records of each record; nil for all.
  ///   - nested: Relations of the included records, fetched with them: then each result is a tuple.
  public static func all<Related: Record, each Nested>(
    _ inverse: Inverse<Subject, Related>, where condition: Condition<Related> = .always,
    sortedBy order: Query<Related>.Order..., limit: Int? = nil,
    including nested: repeat PostgresInclusion<Related, each Nested>
  ) -> PostgresInclusion where Result == [(Related, repeat each Nested)] {
    var query = Query<Related>()
    query.condition = condition
    query.order = order
    query.limit = limit
    return PostgresInclusion { [query] server, subjects in
      let (records, places) = try server.related(inverse, query, to: subjects)
      let results = try server.including(records, repeat each nested)
      return places.map { list in list.map { results[$0] } }
    }
  }
}

// MARK: - Statements

extension ServerTransaction {
  /// Returns records with the results of inclusions.
  func including<Subject: Record, each Result>(
    _ records: [Subject], _ inclusion: repeat PostgresInclusion<Subject, each Result>
  ) throws -> [(Subject, repeat each Result)] {
    let results = (repeat try (each inclusion).load(self, records))
    return records.indices.map { index in (records[index], repeat (each results)[index]) }
  }

  /// Returns the records that lists of references lead to. Each is read once, however many references lead to it.
  ///
  /// - Parameters:
  ///   - references: Returns the references of a record, if there are any; nil leads nowhere.
  ///   - areSorted: True if the records of a list are to be sorted by primary key.
  func lists<Subject: Record, Target: Record, References: Sequence, each Nested>(
    of subjects: [Subject], _ references: (Subject) -> References?, areSorted: Bool = false,
    including nested: repeat PostgresInclusion<Target, each Nested>
  ) throws -> [[(Target, repeat each Nested)]] where References.Element == Reference<Target>? {
    var wanted = ReferencedKeys(try keyScalar(of: try table(of: Target.self)), dates)
    var keys: [[SQLParameter]] = []
    for subject in subjects {
      var list: [SQLParameter] = []
      if let references = references(subject) {
        for case let reference? in references {
          let key = try mapping.key(of: Target.self, [reference.id])
          if let parameter = wanted.add(key) { list.append(parameter) }
        }
      }
      keys.append(list)
    }
    let (records, found) = try self.records(Target.self, with: wanted)
    let results = try including(records, repeat each nested)
    return keys.map { list in
      var places = list.compactMap { found[$0] }
      if areSorted { places.sort() }
      return places.map { results[$0] }
    }
  }

  /// Returns the records with some keys, by primary key, and the place of each.
  private func records<Target: Record>(
    _ type: Target.Type, with wanted: ReferencedKeys
  ) throws -> (records: [Target], places: [SQLParameter: Int]) {
    guard let parameter = wanted.parameter else { return ([], [:]) }
    var translation = QueryTranslation(plan)
    let scope = translation.scope(of: try table(of: type))
    let columns = RecordColumns(scope.table, dates: dates)
    let order = try translation.order([], in: scope).map(\.text).joined(separator: ", ")
    let key = scope.column(try translation.keyColumn(scope.table).name)
    let isOfKind =
      try mapping.kind(of: type).flatMap { scope.table.presence(ofKind: $0.name) }
      .map { " AND \(scope.column($0.name))" } ?? ""
    let rows = try run(
      "SELECT \(columns.list(in: scope, translation)) FROM \(plan.qualified(scope.table.name)) AS"
        + " \(scope.alias) WHERE \(key) = ANY (\(translation.add(parameter)))\(isOfKind) ORDER BY \(order)",
      translation.parameters)
    var records: [Target] = []
    var places: [SQLParameter: Int] = [:]
    for row in rows.rows {
      let values = try columns.record(row)
      if let key = wanted.encoded(Self.key(of: values, scope.table)) {
        places[key] = records.count
      }
      records.append(try mapping.record(type, of: values))
    }
    return (records, places)
  }

  /// Returns the records at the other end of a reference, and the places of those of each subject.
  func related<Owner: Record, Related: Record>(
    _ inverse: Inverse<Owner, Related>, _ query: Query<Related>, to subjects: [Owner]
  ) throws -> (records: [Related], places: [[Int]]) {
    let owner = try table(of: Owner.self)
    var keys = ReferencedKeys(try keyScalar(of: owner), dates)
    for subject in subjects { keys.append(try mapping.key(of: Owner.self, [subject.id])) }
    let stored = try mapping.stored(query)
    var places = subjects.map { _ in [Int]() }
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
  private func keyScalar(of table: TablePlan) throws -> ScalarType {
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
