/// A source of records that is part of a `RecordStore`: one committed state, or a transaction with its own changes.
///
/// The functions are those of `RecordReading`, where each is described with its errors.
public protocol PortableReading: ~Copyable {
  /// Returns the record with a primary key; nil if there is none.
  func fetch<Subject: Record>(
    _ type: Subject.Type, key: Subject.KeyType
  ) throws -> Subject? where Subject.KeyType: FieldValueConvertible

  /// Returns the record with a primary key whose type the compiler does not know; nil if there is none.
  func fetch<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws -> Subject? where Subject.KeyType == AnyKey

  /// Returns the record with a primary key, which has to exist.
  func find<Subject: Record>(
    _ type: Subject.Type, key: Subject.KeyType
  ) throws -> Subject where Subject.KeyType: FieldValueConvertible

  /// Returns the record with a primary key whose type the compiler does not know, and which has to exist.
  func find<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws -> Subject where Subject.KeyType == AnyKey

  /// Returns the records with these primary keys, in their order. Keys without a record are left out.
  func fetch<Subject: Record, Keys: Sequence>(
    _ type: Subject.Type, keys: Keys
  ) throws -> [Subject]
  where Keys.Element == Subject.KeyType, Subject.KeyType: FieldValueConvertible

  /// Returns the record that a reference leads to; nil if there is no reference, or if it is not checked and leads nowhere.
  func fetch<Target: Record & Identifiable>(_ reference: Reference<Target>?) throws -> Target?

  /// Returns the record that a reference leads to, which has to exist.
  func find<Target: Record & Identifiable>(_ reference: Reference<Target>) throws -> Target

  /// Returns all records of a type, by primary key, all in memory.
  func fetch<Subject: Record>(_ type: Subject.Type) throws -> [Subject]

  /// Returns the number of records of a type.
  func count<Subject: Record>(_ type: Subject.Type) throws -> Int

  /// Returns the records of a query.
  ///
  /// - Parameter record: The last record of the page before; only records after it are returned.
  func fetch<Subject: Record>(_ query: Query<Subject>, after record: Subject?) throws -> [Subject]

  /// Returns the records of a query, each with related records.
  ///
  /// - Parameters:
  ///   - record: The last record of the page before; only records after it are returned.
  ///   - first: A relation of the records.
  ///   - others: Further relations.
  func fetch<Subject: Record, First, each Other>(
    _ query: Query<Subject>, after record: Subject?,
    including first: Inclusion<Subject, First>, _ others: repeat Inclusion<Subject, each Other>
  ) throws -> [(Subject, First, repeat each Other)]

  /// Returns records that were fetched before, each with related records as they are now.
  func fetch<Subject: Record, First, each Other>(
    _ records: [Subject], including first: Inclusion<Subject, First>,
    _ others: repeat Inclusion<Subject, each Other>
  ) throws -> [(Subject, First, repeat each Other)]

  /// Returns the records that lead to a record over a reference, those that lead to these, and so on, each once at its least depth.
  ///
  /// - Parameter depth: The greatest depth; nil for any.
  func descendants<Subject: Record & Identifiable>(
    of record: Subject, along inverse: Inverse<Subject, Subject>, upTo depth: Int?
  ) throws -> [(record: Subject, depth: Int)]

  /// Returns the records that lead to records of a query over a reference, those that lead to these, and so on.
  func descendants<Subject: Record & Identifiable>(
    of query: Query<Subject>, along inverse: Inverse<Subject, Subject>, upTo depth: Int?
  ) throws -> [(record: Subject, depth: Int)]

  /// Returns the records that the references of a record lead to, those that their references lead to, and so on, each once at its
  /// least depth.
  ///
  /// - Parameter depth: The greatest depth; nil for any.
  func ancestors<Subject: Record, Relation: ReferenceProperty>(
    of record: Subject, along reference: KeyPath<Subject, Relation>, upTo depth: Int?
  ) throws -> [(record: Subject, depth: Int)] where Relation.Target == Subject

  /// Returns the records that references of a query's records lead to, those that their references lead to, and so on.
  func ancestors<Subject: Record, Relation: ReferenceProperty>(
    of query: Query<Subject>, along reference: KeyPath<Subject, Relation>, upTo depth: Int?
  ) throws -> [(record: Subject, depth: Int)] where Relation.Target == Subject

  /// Returns the first record of a query; nil if there is none.
  func first<Subject: Record>(_ query: Query<Subject>) throws -> Subject?

  /// Returns the number of records of a query.
  func count<Subject: Record>(_ query: Query<Subject>) throws -> Int

  /// Returns true if a query has any record.
  func contains<Subject: Record>(_ query: Query<Subject>) throws -> Bool

  /// Returns properties of a query's records, as tuples.
  func select<Subject: Record, each Value>(
    _ fields: repeat KeyPath<Subject, each Value>, from query: Query<Subject>
  ) throws -> [(repeat each Value)]

  /// Returns the different values of properties among a query's records.
  func distinct<Subject: Record, each Value>(
    _ fields: repeat KeyPath<Subject, each Value>, from query: Query<Subject>
  ) throws -> [(repeat each Value)]

  /// Returns the value that the store computes of the fields of each record of a query.
  func select<Subject: Record, One: FieldOperand>(
    from query: Query<Subject>, _ value: (Fields<Subject>) -> One
  ) throws -> [One.Value] where One.Subject == Subject, One.Value: OrderedFieldValue

  /// Returns the two values that the store computes of the fields of each record of a query.
  func select<Subject: Record, One: FieldOperand, Two: FieldOperand>(
    from query: Query<Subject>, _ values: (Fields<Subject>) -> (One, Two)
  ) throws -> [(One.Value, Two.Value)]
  where
    One.Subject == Subject, One.Value: OrderedFieldValue,
    Two.Subject == Subject, Two.Value: OrderedFieldValue

  /// Returns the three values that the store computes of the fields of each record of a query.
  func select<Subject: Record, One: FieldOperand, Two: FieldOperand, Three: FieldOperand>(
    from query: Query<Subject>, _ values: (Fields<Subject>) -> (One, Two, Three)
  ) throws -> [(One.Value, Two.Value, Three.Value)]
  where
    One.Subject == Subject, One.Value: OrderedFieldValue,
    Two.Subject == Subject, Two.Value: OrderedFieldValue,
    Three.Subject == Subject, Three.Value: OrderedFieldValue

  /// Returns the groups of a query.
  func fetch<Subject: Record, Key, Value>(
    _ query: GroupedQuery<Subject, Key, Value>
  ) throws -> [RecordGroup<Key, Value>]

  /// Returns the records of a query, in its order, each with the value of those from the first up to it.
  func fetch<Subject: Record, Value>(
    _ query: RunningQuery<Subject, Value>
  ) throws -> [(record: Subject, value: Value)]

  /// Returns the rows of a union.
  func fetch<Row, Columns>(_ query: UnionQuery<Row, Columns>) throws -> [Row]

  /// Returns the sum of a property; 0 for no records.
  func sum<Subject: Record, Value: FieldNumber>(
    _ field: KeyPath<Subject, Value>, of query: Query<Subject>
  ) throws -> Value.Total

  /// Returns the average of a property; nil for no records.
  func average<Subject: Record, Value: FieldNumber>(
    _ field: KeyPath<Subject, Value>, of query: Query<Subject>
  ) throws -> Value.Average?
}

extension PortableReading where Self: ~Copyable {
  /// Returns the records of a query.
  @_disfavoredOverload
  @inlinable
  public func fetch<Subject: Record>(_ query: Query<Subject>) throws -> [Subject] {
    try fetch(query, after: nil)
  }

  /// Returns the records of a query, each with related records.
  @_disfavoredOverload
  @inlinable
  public func fetch<Subject: Record, First, each Other>(
    _ query: Query<Subject>, including first: Inclusion<Subject, First>,
    _ others: repeat Inclusion<Subject, each Other>
  ) throws -> [(Subject, First, repeat each Other)] {
    try fetch(query, after: nil, including: first, repeat each others)
  }

  /// Returns the records that lead to a record over a reference, those that lead to these, and so on.
  @_disfavoredOverload
  @inlinable
  public func descendants<Subject: Record & Identifiable>(
    of record: Subject, along inverse: Inverse<Subject, Subject>
  ) throws -> [(record: Subject, depth: Int)] {
    try descendants(of: record, along: inverse, upTo: nil)
  }

  /// Returns the records that lead to records of a query over a reference, those that lead to these, and so on.
  @_disfavoredOverload
  @inlinable
  public func descendants<Subject: Record & Identifiable>(
    of query: Query<Subject>, along inverse: Inverse<Subject, Subject>
  ) throws -> [(record: Subject, depth: Int)] {
    try descendants(of: query, along: inverse, upTo: nil)
  }

  /// Returns the records that the references of a record lead to, those that their references lead to, and so on.
  @_disfavoredOverload
  @inlinable
  public func ancestors<Subject: Record, Relation: ReferenceProperty>(
    of record: Subject, along reference: KeyPath<Subject, Relation>
  ) throws -> [(record: Subject, depth: Int)] where Relation.Target == Subject {
    try ancestors(of: record, along: reference, upTo: nil)
  }

  /// Returns the records that references of a query's records lead to, those that their references lead to, and so on.
  @_disfavoredOverload
  @inlinable
  public func ancestors<Subject: Record, Relation: ReferenceProperty>(
    of query: Query<Subject>, along reference: KeyPath<Subject, Relation>
  ) throws -> [(record: Subject, depth: Int)] where Relation.Target == Subject {
    try ancestors(of: query, along: reference, upTo: nil)
  }

  /// Returns the sum of a property of all records; 0 for no records.
  @_disfavoredOverload
  @inlinable
  public func sum<Subject: Record, Value: FieldNumber>(
    _ field: KeyPath<Subject, Value>
  ) throws -> Value.Total {
    try sum(field, of: Query())
  }

  /// Returns the average of a property of all records; nil for no records.
  @_disfavoredOverload
  @inlinable
  public func average<Subject: Record, Value: FieldNumber>(
    _ field: KeyPath<Subject, Value>
  ) throws -> Value.Average? {
    try average(field, of: Query())
  }
}
