// Records by what is in them: each verb takes a query, and the commonest a condition alone.

extension RecordReading where Self: ~Copyable {
  /// Returns the records of a query.
  ///
  /// ```swift
  /// let cheap = Item.where(\.price < 20).sorted(by: .ascending(\.name)).limit(20)
  /// let page = try store.fetch(cheap)
  /// let next = try store.fetch(cheap, after: page.last)
  /// ```
  ///
  /// - Parameter record: The last record of the page before; only records after it are returned. It need not exist any
  ///   more.
  /// - Complexity: That of the plan: see `explain(_:)`.
  /// - Throws: `StoreError.unknownRecord`; `.invalidQuery` if the query does not fit the record; `.noSuchRecord` if the
  ///   record with the key to begin after does not exist; `.sortTooLarge`, `.corrupt`, `.io`, `.closed`; what the type's
  ///   hook after loading throws.
  @inlinable
  public func fetch<Subject: Record>(
    _ query: Query<Subject>, after record: Subject? = nil
  ) throws -> [Subject] {
    let cursor = try cursor(query, after: record)
    var records: [Subject] = []
    while let record = try cursor.next() { records.append(record) }
    return records
  }

  /// Returns the records that meet a condition.
  ///
  /// - Throws: as `fetch(_:after:)`.
  @inlinable
  public func fetch<Subject: Record>(
    _ type: Subject.Type, where condition: Condition<Subject>
  ) throws -> [Subject] {
    try fetch(Query(where: condition))
  }

  /// Returns the first record of a query; nil if there is none.
  ///
  /// - Throws: as `fetch(_:after:)`.
  @inlinable
  public func first<Subject: Record>(_ query: Query<Subject>) throws -> Subject? {
    var query = query
    query.limit = Swift.min(query.limit ?? 1, 1)
    return try cursor(query).next()
  }

  /// Returns the first record that meets a condition, by primary key; nil if none does.
  ///
  /// - Throws: as `fetch(_:after:)`.
  @inlinable
  public func first<Subject: Record>(
    _ type: Subject.Type, where condition: Condition<Subject>
  ) throws -> Subject? {
    try first(Query(where: condition))
  }
}

// MARK: One by one

extension RecordReading where Self: ~Copyable {
  /// Returns a cursor before the first record of a query. It keeps the state that it reads.
  ///
  /// - Complexity: In the order of an index or of the primary key, records are read as the cursor moves, in constant
  ///   memory. If they have to be sorted, this call finds all of them, and keeps their keys.
  /// - Throws: as `fetch(_:after:)`.
  @inlinable
  public func cursor<Subject: Record>(
    _ query: Query<Subject>, after record: Subject? = nil
  ) throws(StoreError) -> QueryCursor<Subject> {
    try recordReader().cursor(query, after: record)
  }

  /// Calls `body` with each record of a query.
  ///
  /// - Throws: as `fetch(_:after:)`, and what `body` throws, which ends it.
  @inlinable
  public func forEach<Subject: Record>(
    _ query: Query<Subject>, _ body: (Subject) throws -> Void
  ) throws {
    let cursor = try cursor(query)
    while let record = try cursor.next() { try body(record) }
  }

  /// Calls `body` with all records of a query, in batches of `size`, at least one.
  ///
  /// - Throws: as `forEach(_:_:)`.
  @inlinable
  public func forEachBatch<Subject: Record>(
    _ query: Query<Subject>, of size: Int, _ body: ([Subject]) throws -> Void
  ) throws {
    let cursor = try cursor(query)
    while true {
      let batch = try cursor.next(size)
      if batch.isEmpty { return }
      try body(batch)
    }
  }
}

// MARK: How many

extension RecordReading where Self: ~Copyable {
  /// Returns the number of records of a query.
  ///
  /// - Complexity: O(log records) if ranges of an index or of the primary key are all of the condition.
  /// - Throws: as `fetch(_:after:)`.
  public func count<Subject: Record>(_ query: Query<Subject>) throws(StoreError) -> Int {
    let (runner, query) = try recordReader().runner(of: query)
    return try runner.count(query)
  }

  /// Returns the number of records that meet a condition.
  ///
  /// - Throws: as `count(_:)`.
  public func count<Subject: Record>(
    _ type: Subject.Type, where condition: Condition<Subject>
  ) throws(StoreError) -> Int {
    try count(Query(where: condition))
  }

  /// Returns true if a query has any record.
  ///
  /// - Complexity: that of finding one.
  /// - Throws: as `count(_:)`.
  public func contains<Subject: Record>(_ query: Query<Subject>) throws(StoreError) -> Bool {
    let (runner, query) = try recordReader().runner(of: query)
    return try runner.count(query, upTo: 1) > 0
  }

  /// Returns the primary keys of a query's records, each as the values of its parts. Rows are read only if the condition
  /// needs them.
  ///
  /// - Throws: as `fetch(_:after:)`.
  public func keys<Subject: Record>(
    _ query: Query<Subject>
  ) throws(StoreError) -> [[FieldValue]] {
    let reader = try recordReader()
    let type = try reader.entities.type(Subject.self)
    let found = try reader.find(query, of: type, for: .keys)
    let layout = type.layout
    var keys: [[FieldValue]] = []
    while try found.next() {
      var key = KeyReader(found.key, layout: layout)
      var parts: [FieldValue] = []
      for column in layout.key.columns { parts.append(try key.value(column)) }
      keys.append(parts)
    }
    return keys
  }

  /// Returns the identifiers of a query's records.
  ///
  /// - Throws: as `select(_:from:)`.
  public func ids<Subject: Record & Identifiable>(
    _ query: Query<Subject>
  ) throws -> [Subject.ID] {
    try select(\.id, from: query)
  }
}

// MARK: Plans

extension RecordReading where Self: ~Copyable {
  /// Explains how a query is run: which index it uses, how many entries and rows it reads, and why other indexes are not
  /// used.
  ///
  /// - Parameter running: True to run the query as well, and count the entries and rows that it reads.
  /// - Throws: as `count(_:)`.
  public func explain<Subject: Record>(
    _ query: Query<Subject>, running: Bool = false
  ) throws(StoreError) -> QueryExplanation {
    let (runner, query) = try recordReader().runner(of: query)
    return try runner.explain(query, running: running)
  }
}
