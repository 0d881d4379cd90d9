import Cambium

/// A source of records that is a transaction of the server: what `PortableReading` asks for, of whatever may read in it.
protocol ServerReading: PortableReading {
  var server: ServerTransaction { get }
}

extension ServerReading {
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
