extension PersistentStore {
  /// Returns the changes of all records of a type that are committed from now on, by any thread or process.
  ///
  /// ```swift
  /// let changes = try store.changes(of: TodoItem.self)
  /// var items = try changes.snapshot.fetch(TodoItem.self)
  /// for try await change in changes { … }
  /// ```
  ///
  /// - Complexity: O(1). Each commit then notes the keys that it changes; everything else is done when the consumer
  ///   requests changes.
  /// - Throws: `StoreError.unknownRecord`, `.closed`, `.forked`; in a store opened for reading, `.io` if the system has
  ///   no more threads.
  public func changes<Subject: Record>(
    of type: Subject.Type
  ) throws(StoreError) -> RecordObservation<Subject> {
    let type = try entities.type(type)
    return RecordObservation(type, try observe(type, key: nil))
  }

  /// Returns the changes of the record with a primary key, whether or not it exists now. The parts of a compound key are
  /// given in its order.
  ///
  /// - Complexity: O(1). Each commit then does a lookup for each key that it changes, however many keys are observed.
  /// - Throws: As `changes(of:)`; `StoreError.invalidQuery` if the key is of other types.
  public func changes<Subject: Record>(
    of type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws(StoreError) -> KeyObservation<Subject> {
    let type = try entities.type(type)
    let key = KeyEncoder()
    try key.encode(primaryKey: keyParts(part, others), of: type)
    return KeyObservation(type, try observe(type, key: key.key.array()))
  }

  /// Returns the changes of the records of a query. A record that begins to meet its condition counts as inserted, one
  /// that no longer does as deleted.
  ///
  /// - Complexity: As `changes(of:)`; the condition is evaluated when the consumer requests changes.
  /// - Throws: As `changes(of:)`; `StoreError.invalidQuery` if the condition does not fit the record, or if the query has a
  ///   limit, an offset, or a record to begin after: `results(of:)` observes those.
  public func changes<Subject: Record>(
    of query: Query<Subject>
  ) throws(StoreError) -> RecordObservation<Subject> {
    let type = try entities.type(Subject.self)
    guard query.limit == nil, query.offset == 0, query.after == nil else {
      throw .invalidQuery(
        record: type.record.name, field: nil,
        reason: "which records are within a limit changes with others; observe its results")
    }
    let filter = try RowFilter(try query.condition.resolved(in: type), in: type.layout)
    return RecordObservation(type, try observe(type, key: nil), filter)
  }

  /// Returns the changes of the records that meet a condition.
  ///
  /// - Throws: as `changes(of:)` of a query.
  public func changes<Subject: Record>(
    of type: Subject.Type, where condition: Condition<Subject>
  ) throws(StoreError) -> RecordObservation<Subject> {
    try changes(of: Query(where: condition))
  }

  /// Returns the changes of the records that meet a condition that a closure makes of the fields.
  ///
  /// - Throws: as `changes(of:)` of a query.
  @_disfavoredOverload
  public func changes<Subject: Record>(
    of type: Subject.Type, where condition: (Fields<Subject>) -> Condition<Subject>
  ) throws(StoreError) -> RecordObservation<Subject> {
    try changes(of: type.where(condition))
  }

  /// Returns the results of a query, and the new results whenever commits change them, in order.
  ///
  /// ```swift
  /// for try await results in try store.results(of: TodoItem.where(\.isDone == false)) {
  ///   show(results.records, results.difference)
  /// }
  /// ```
  ///
  /// - Complexity: As `changes(of:)`; the query runs when the consumer requests results.
  /// - Throws: As `changes(of:)`; `StoreError.invalidQuery` if the query does not fit the record, `.noSuchRecord` if the
  ///   record to begin after does not exist, `.corrupt`, `.io`.
  public func results<Subject: Record>(
    of query: Query<Subject>
  ) throws(StoreError) -> QueryObservation<Subject> {
    let type = try entities.type(Subject.self)
    return try results(of: try query.resolved(in: type), type)
  }

  func results<Subject: Record>(
    of query: FieldQuery, _ type: RecordType<Subject>
  ) throws(StoreError) -> QueryObservation<Subject> {
    let place = try observe(type, key: nil)
    return QueryObservation(try LiveResults(query, of: type, at: place))
  }

  func observe(_ record: Entity, key: [UInt8]?) throws(StoreError) -> ObservedPlace {
    let place = try hub.observe(record.rows, key: key, of: self)
    if backend.isReadOnly { try watch.begin(for: self) }
    return place
  }

  /// Tells those who observe of the last commits, and that there will be no more.
  func endObserving() {
    guard hub.isObserved, let state = backend.lastSnapshot() else { return }
    hub.finish(StoreSnapshot(entities, state))
    watch.end()
  }
}

// MARK: As observers see it

extension PersistentStore: ObservedStore {
  func newestState() throws(StoreError) -> any ObservedState {
    do throws(StoreError) { return try snapshot() } catch {
      guard case .closed = error, let state = backend.lastSnapshot() else { throw error }
      return StoreSnapshot(entities, state)
    }
  }

  var begunSequence: UInt64 { backend.begunSequence }
}

extension StoreSnapshot: ObservedState {}

extension ObservedPlace {
  /// The state that was told of last.
  var snapshot: StoreSnapshot {
    guard let snapshot = state as? StoreSnapshot else {
      preconditionFailure("the states of a store are its snapshots")
    }
    return snapshot
  }
}
