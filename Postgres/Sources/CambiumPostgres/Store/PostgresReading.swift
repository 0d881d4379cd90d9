public import Cambium

/// A source of records that is a transaction of a server: a `PostgresSnapshot`, or a `PostgresTransaction` with its own changes.
public protocol PostgresReading: PortableReading {
  /// The reader of the transaction's state.
  var reader: PostgresReader { get }
}

/// A reader of the state of one transaction.
public struct PostgresReader {
  let server: ServerTransaction
}

extension PostgresReading {
  fileprivate var server: ServerTransaction { reader.server }

  public func fetch<Subject: Record>(
    _ type: Subject.Type, key: Subject.KeyType
  ) throws -> Subject? where Subject.KeyType: FieldValueConvertible {
    try server.fetch(type, key: [key])
  }

  public func fetch<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws -> Subject? where Subject.KeyType == AnyKey {
    try server.fetch(type, key: [part] + others)
  }

  public func find<Subject: Record>(
    _ type: Subject.Type, key: Subject.KeyType
  ) throws -> Subject where Subject.KeyType: FieldValueConvertible {
    try server.find(type, key: [key])
  }

  public func find<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws -> Subject where Subject.KeyType == AnyKey {
    try server.find(type, key: [part] + others)
  }

  public func fetch<Subject: Record, Keys: Sequence>(
    _ type: Subject.Type, keys: Keys
  ) throws -> [Subject]
  where Keys.Element == Subject.KeyType, Subject.KeyType: FieldValueConvertible {
    try server.fetch(type, keys: Array(keys))
  }

  public func fetch<Target: Record & Identifiable>(
    _ reference: Reference<Target>?
  ) throws -> Target? {
    try reference.flatMap { try server.fetch(Target.self, key: [$0.id]) }
  }

  public func find<Target: Record & Identifiable>(_ reference: Reference<Target>) throws -> Target {
    try server.find(Target.self, key: [reference.id])
  }

  public func fetch<Subject: Record>(_ type: Subject.Type) throws -> [Subject] {
    try server.fetch(Query<Subject>(), after: nil)
  }

  public func count<Subject: Record>(_ type: Subject.Type) throws -> Int {
    try server.count(Query<Subject>())
  }

  public func fetch<Subject: Record>(
    _ query: Query<Subject>, after record: Subject?
  ) throws -> [Subject] {
    try server.fetch(query, after: record)
  }

  public func first<Subject: Record>(_ query: Query<Subject>) throws -> Subject? {
    try server.first(query)
  }

  public func count<Subject: Record>(_ query: Query<Subject>) throws -> Int {
    try server.count(query)
  }

  public func contains<Subject: Record>(_ query: Query<Subject>) throws -> Bool {
    try server.contains(query)
  }

  /// Returns properties of a query's records, as tuples. Whole records are read.
  public func select<Subject: Record, each Value>(
    _ fields: repeat KeyPath<Subject, each Value>, from query: Query<Subject>
  ) throws -> [(repeat each Value)] {
    try server.fetch(query, after: nil).map { record in (repeat record[keyPath: each fields]) }
  }

  public func fetch<Subject: Record, Key, Value>(
    _ query: GroupedQuery<Subject, Key, Value>
  ) throws -> [RecordGroup<Key, Value>] {
    try server.groups(query)
  }

  public func fetch<Subject: Record, Value>(
    _ query: RunningQuery<Subject, Value>
  ) throws -> [(record: Subject, value: Value)] {
    try server.running(query)
  }

  public func fetch<Row, Columns>(_ query: UnionQuery<Row, Columns>) throws -> [Row] {
    try server.union(query)
  }

  public func sum<Subject: Record, Value: FieldNumber>(
    _ field: KeyPath<Subject, Value>, of query: Query<Subject>
  ) throws -> Value.Total {
    try server.sum(field, of: query)
  }

  public func average<Subject: Record, Value: FieldNumber>(
    _ field: KeyPath<Subject, Value>, of query: Query<Subject>
  ) throws -> Value.Average? {
    try server.average(field, of: query)
  }
}

// MARK: - Related records, computed values, different values

extension PostgresReading {
  /// Returns the records of a query, each with related records: one statement for the query, and one for each inclusion.
  ///
  /// ```swift
  /// let page = Book.sorted(by: .ascending(\.title)).limit(50)
  /// for (book, author, tags) in try snapshot.fetch(page, including: .one(\.author), .all(\.tags)) { … }
  /// ```
  ///
  /// - Parameters:
  ///   - record: The last record of the page before; only records after it are returned.
  ///   - first: A relation of the records.
  ///   - others: Further relations.
  /// - Throws: As `fetch(_:after:)`, for the query and for the related records.
  public func fetch<Subject: Record, First, each Other>(
    _ query: Query<Subject>, after record: Subject? = nil,
    including first: Inclusion<Subject, First>,
    _ others: repeat Inclusion<Subject, each Other>
  ) throws -> [(Subject, First, repeat each Other)] {
    try InclusionReader(server).including(
      try server.fetch(query, after: record), first, repeat each others)
  }

  /// Returns records that were fetched before, each with related records as they are now.
  ///
  /// - Throws: as `fetch(_:after:including:_:)`.
  public func fetch<Subject: Record, First, each Other>(
    _ records: [Subject], including first: Inclusion<Subject, First>,
    _ others: repeat Inclusion<Subject, each Other>
  ) throws -> [(Subject, First, repeat each Other)] {
    try InclusionReader(server).including(records, first, repeat each others)
  }

  /// Returns the records that lead to a record over a reference, those that lead to these, and so on: by depth and primary key, by
  /// one statement for each depth.
  ///
  /// - Throws: As `RecordReading.descendants(of:along:upTo:)`; as `fetch(_:after:)`.
  public func descendants<Subject: Record & Identifiable>(
    of record: Subject, along inverse: Inverse<Subject, Subject>, upTo depth: Int? = nil
  ) throws -> [(record: Subject, depth: Int)] {
    try server.reached(from: .record(record), by: .back(inverse.name), upTo: depth)
  }

  /// Returns the records that lead to records of a query over a reference, those that lead to these, and so on.
  ///
  /// - Throws: as `descendants(of:along:upTo:)` of a record.
  public func descendants<Subject: Record & Identifiable>(
    of query: Query<Subject>, along inverse: Inverse<Subject, Subject>, upTo depth: Int? = nil
  ) throws -> [(record: Subject, depth: Int)] {
    try server.reached(from: .query(query), by: .back(inverse.name), upTo: depth)
  }

  /// Returns the records that the references of a record lead to, those that their references lead to, and so on: by depth and
  /// primary key, by one statement for each depth.
  ///
  /// - Throws: as `descendants(of:along:upTo:)`.
  public func ancestors<Subject: Record, Relation: ReferenceProperty>(
    of record: Subject, along reference: KeyPath<Subject, Relation>, upTo depth: Int? = nil
  ) throws -> [(record: Subject, depth: Int)] where Relation.Target == Subject {
    try server.reached(
      from: .record(record), by: .on(try server.mapping.field(of: reference)), upTo: depth)
  }

  /// Returns the records that references of a query's records lead to, those that their references lead to, and so on.
  ///
  /// - Throws: as `descendants(of:along:upTo:)`.
  public func ancestors<Subject: Record, Relation: ReferenceProperty>(
    of query: Query<Subject>, along reference: KeyPath<Subject, Relation>, upTo depth: Int? = nil
  ) throws -> [(record: Subject, depth: Int)] where Relation.Target == Subject {
    try server.reached(
      from: .query(query), by: .on(try server.mapping.field(of: reference)), upTo: depth)
  }

  /// Returns the value that the server computes of the fields of each record of a query.
  ///
  /// ```swift
  /// let totals = try snapshot.select(from: Line.where { $0.quantity > 1 }) { $0.unitPrice * $0.quantity }
  /// ```
  ///
  /// - Throws: As `fetch(_:after:)`; `PostgresStoreError.unsupportedQuery`; `.server` if a computation of numbers has no result.
  public func select<Subject: Record, One: FieldOperand>(
    from query: Query<Subject>, _ value: (Fields<Subject>) -> One
  ) throws -> [One.Value] where One.Subject == Subject, One.Value: OrderedFieldValue {
    try server.select(query.grouped(by: value))
  }

  /// Returns the two values that the server computes of the fields of each record of a query.
  ///
  /// - Throws: as `select(from:_:)` of one value.
  public func select<Subject: Record, One: FieldOperand, Two: FieldOperand>(
    from query: Query<Subject>, _ values: (Fields<Subject>) -> (One, Two)
  ) throws -> [(One.Value, Two.Value)]
  where
    One.Subject == Subject, One.Value: OrderedFieldValue,
    Two.Subject == Subject, Two.Value: OrderedFieldValue
  {
    try server.select(query.grouped(by: values))
  }

  /// Returns the three values that the server computes of the fields of each record of a query.
  ///
  /// - Throws: as `select(from:_:)` of one value.
  public func select<Subject: Record, One: FieldOperand, Two: FieldOperand, Three: FieldOperand>(
    from query: Query<Subject>, _ values: (Fields<Subject>) -> (One, Two, Three)
  ) throws -> [(One.Value, Two.Value, Three.Value)]
  where
    One.Subject == Subject, One.Value: OrderedFieldValue,
    Two.Subject == Subject, Two.Value: OrderedFieldValue,
    Three.Subject == Subject, Three.Value: OrderedFieldValue
  {
    try server.select(query.grouped(by: values))
  }

  /// Returns the different values of properties among a query's records: in the order of the query, each where the first
  /// record with it is; sorted by the properties if the query has no order.
  ///
  /// - Throws: As `fetch(_:after:)`; `StoreError.invalidQuery` if values have no order.
  public func distinct<Subject: Record, each Value>(
    _ fields: repeat KeyPath<Subject, each Value>, from query: Query<Subject>
  ) throws -> [(repeat each Value)] {
    var names: [String] = []
    for field in repeat each fields { names.append(try server.mapping.field(of: field)) }
    return try server.distinct(names, of: query).map { record in
      (repeat record[keyPath: each fields])
    }
  }
}
