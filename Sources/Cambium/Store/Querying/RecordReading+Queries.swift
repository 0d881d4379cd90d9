// Records by what is in them. Each is asked by a query, or directly by what it is made of.

extension RecordReading where Self: ~Copyable {
  /// Returns the records of a query.
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

  /// Returns the records that meet a condition, sorted.
  ///
  /// - Throws: as `fetch(_:after:)`.
  @inlinable
  public func fetch<Subject: Record>(
    _ type: Subject.Type, where condition: Condition<Subject> = .always,
    sortedBy order: Order<Subject>..., limit: Int? = nil, offset: Int = 0,
    after record: Subject? = nil
  ) throws -> [Subject] {
    try fetch(
      Query(where: condition, sortedBy: order, limit: limit, offset: offset), after: record)
  }

  /// Returns the records that meet a condition made by a closure, sorted.
  ///
  /// - Throws: as `fetch(_:after:)`.
  @inlinable
  public func fetch<Subject: Record>(
    _ type: Subject.Type, matching condition: (Fields<Subject>) -> Condition<Subject>,
    sortedBy order: Order<Subject>..., limit: Int? = nil, offset: Int = 0,
    after record: Subject? = nil
  ) throws -> [Subject] {
    let query = Query(
      where: Condition(matching: condition), sortedBy: order, limit: limit, offset: offset)
    return try fetch(query, after: record)
  }

  /// Returns the first record of a query; nil if there is none.
  ///
  /// - Throws: as `fetch(_:after:)`.
  @inlinable
  public func first<Subject: Record>(_ query: Query<Subject>) throws -> Subject? {
    var query = query
    query.limit = min(query.limit ?? 1, 1)
    return try cursor(query).next()
  }

  /// Returns the first record that meets a condition; nil if none does.
  ///
  /// - Throws: as `fetch(_:after:)`.
  @inlinable
  public func first<Subject: Record>(
    _ type: Subject.Type, where condition: Condition<Subject> = .always,
    sortedBy order: Order<Subject>..., offset: Int = 0
  ) throws -> Subject? {
    try first(Query(where: condition, sortedBy: order, limit: 1, offset: offset))
  }

  /// Returns the first record that meets a condition made by a closure; nil if none does.
  ///
  /// - Throws: as `fetch(_:after:)`.
  @inlinable
  public func first<Subject: Record>(
    _ type: Subject.Type, matching condition: (Fields<Subject>) -> Condition<Subject>,
    sortedBy order: Order<Subject>..., offset: Int = 0
  ) throws -> Subject? {
    try first(
      Query(where: Condition(matching: condition), sortedBy: order, limit: 1, offset: offset))
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

  /// Calls `body` with each record that meets a condition.
  ///
  /// - Throws: as `forEach(_:_:)`.
  @inlinable
  public func forEach<Subject: Record>(
    _ type: Subject.Type, where condition: Condition<Subject>, _ body: (Subject) throws -> Void
  ) throws {
    try forEach(Query(where: condition), body)
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
    let reader = try recordReader()
    let type = try reader.entities.type(Subject.self)
    return try QueryRunner(record: type, trees: reader.trees)
      .count(try query.resolved(in: type))
  }

  /// Returns the number of records that meet a condition.
  ///
  /// - Throws: as `count(_:)`.
  public func count<Subject: Record>(
    _ type: Subject.Type, where condition: Condition<Subject>
  ) throws(StoreError) -> Int {
    try count(Query(where: condition))
  }

  /// Returns the number of records that meet a condition made by a closure.
  ///
  /// - Throws: as `count(_:)`.
  public func count<Subject: Record>(
    _ type: Subject.Type, matching condition: (Fields<Subject>) -> Condition<Subject>
  ) throws(StoreError) -> Int {
    try count(Query(where: Condition(matching: condition)))
  }

  /// Returns true if a query has any record.
  ///
  /// - Complexity: that of finding one.
  /// - Throws: as `count(_:)`.
  public func exists<Subject: Record>(_ query: Query<Subject>) throws(StoreError) -> Bool {
    let reader = try recordReader()
    let type = try reader.entities.type(Subject.self)
    return try QueryRunner(record: type, trees: reader.trees)
      .count(try query.resolved(in: type), upTo: 1) > 0
  }

  /// Returns true if any record meets a condition.
  ///
  /// - Throws: as `count(_:)`.
  public func exists<Subject: Record>(
    _ type: Subject.Type, where condition: Condition<Subject>
  ) throws(StoreError) -> Bool {
    try exists(Query(where: condition))
  }

  /// Returns true if any record meets a condition made by a closure.
  ///
  /// - Throws: as `count(_:)`.
  public func exists<Subject: Record>(
    _ type: Subject.Type, matching condition: (Fields<Subject>) -> Condition<Subject>
  ) throws(StoreError) -> Bool {
    try exists(Query(where: Condition(matching: condition)))
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

  /// Returns the primary keys of the records that meet a condition.
  ///
  /// - Throws: as `keys(_:)`.
  public func keys<Subject: Record>(
    _ type: Subject.Type, where condition: Condition<Subject>
  ) throws(StoreError) -> [[FieldValue]] {
    try keys(Query(where: condition))
  }

  /// Returns the identifiers of a query's records.
  ///
  /// - Throws: as `select(_:from:)`.
  @inlinable
  public func ids<Subject: Record & Identifiable>(
    _ query: Query<Subject>
  ) throws -> [Subject.ID] {
    try select(\.id, from: query)
  }
}
