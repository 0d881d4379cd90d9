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
  ) throws(StoreError) -> StoreObservation<ChangeSet<Subject>> {
    let type = try entities.type(type)
    return StoreObservation(
      ChangeSetMaker(type: type, filter: try RowFilter(kindOf: type, in: entities)),
      at: try observe(type, key: nil))
  }

  /// Returns the changes of the record with a primary key, whether or not it exists now.
  ///
  /// ```swift
  /// for try await change in try store.changes(of: Order.self, key: id) { … }
  /// ```
  ///
  /// - Parameter key: The primary key. One of another type than the record's `KeyType` does not compile.
  /// - Complexity: O(1). Each commit then does a lookup for each key that it changes, however many keys are observed.
  /// - Throws: As `changes(of:)`.
  public func changes<Subject: Record>(
    of type: Subject.Type, key: Subject.KeyType
  ) throws(StoreError) -> StoreObservation<KeyChange<Subject>>
  where Subject.KeyType: FieldValueConvertible {
    try changes(of: type, keyParts: [key])
  }

  /// Returns the changes of the record with a primary key whose type the compiler does not know, whether or not it exists
  /// now.
  ///
  /// ```swift
  /// for try await change in try store.changes(of: Seat.self, key: "A", 12) { … }
  /// ```
  ///
  /// - Parameters:
  ///   - part: The primary key, or the first part of a compound one.
  ///   - others: The other parts of a compound key, in its order.
  /// - Complexity: O(1). Each commit then does a lookup for each key that it changes, however many keys are observed.
  /// - Throws: As `changes(of:)`; `StoreError.invalidQuery` if the key is of other types.
  public func changes<Subject: Record>(
    of type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws(StoreError) -> StoreObservation<KeyChange<Subject>> where Subject.KeyType == AnyKey {
    try changes(of: type, keyParts: keyParts(part, others))
  }

  private func changes<Subject: Record>(
    of type: Subject.Type, keyParts: [any FieldValueConvertible]
  ) throws(StoreError) -> StoreObservation<KeyChange<Subject>> {
    let type = try entities.type(type)
    let key = KeyEncoder()
    try key.encode(primaryKey: keyParts, of: type)
    return StoreObservation(
      KeyChangeMaker(type: type, filter: try RowFilter(kindOf: type, in: entities)),
      at: try observe(type, key: key.key.array()))
  }

  /// Returns the changes of the records of a query. A record that begins to meet its condition counts as inserted, one
  /// that no longer does as deleted.
  ///
  /// - Complexity: As `changes(of:)`; the condition is evaluated when the consumer requests changes.
  /// - Throws: As `changes(of:)`; `StoreError.invalidQuery` if the condition does not fit the record, or if the query has a
  ///   limit, an offset, or a record to begin after: `results(of:)` observes those.
  public func changes<Subject: Record>(
    of query: Query<Subject>
  ) throws(StoreError) -> StoreObservation<ChangeSet<Subject>> {
    let type = try entities.type(Subject.self)
    guard query.limit == nil, query.offset == 0, query.after == nil else {
      throw .invalidQuery(
        record: type.record.name, field: nil,
        reason: "which records are within a limit changes with others; observe its results")
    }
    let condition = type.restricted(try query.condition.fields(in: type, entities))
    let filter = try condition.map { condition throws(StoreError) in
      try RowFilter(condition, of: type, in: entities)
    }
    return StoreObservation(
      ChangeSetMaker(type: type, filter: filter), at: try observe(type, key: nil))
  }

  /// Returns the results of a query, and the new results whenever commits change them, in order. The first element has the
  /// initial results; each later one has newer results and the difference to those before.
  ///
  /// ```swift
  /// for try await results in try store.results(of: TodoItem.where { $0.isDone == false }) {
  ///   show(results.records, results.difference)
  /// }
  /// ```
  ///
  /// A query that leads to other records gives new results when those change, too: then it runs again.
  ///
  /// - Complexity: As `changes(of:)`; the query runs when the consumer requests results.
  /// - Throws: As `changes(of:)`; `StoreError.invalidQuery` if the query does not fit the record, `.noSuchRecord` if the
  ///   record to begin after does not exist, `.corrupt`, `.io`.
  public func results<Subject: Record>(
    of query: Query<Subject>
  ) throws(StoreError) -> StoreObservation<QueryResults<Subject>> {
    let type = try entities.type(Subject.self)
    return try results(of: try query.resolved(in: type, entities), type)
  }

  func results<Subject: Record>(
    of query: FieldQuery, _ type: RecordType<Subject>
  ) throws(StoreError) -> StoreObservation<QueryResults<Subject>> {
    let related = try query.relatedRecords(of: type, in: entities)
    let place = try observe(type, key: nil, related)
    let reader = RecordReader(entities: entities, trees: place.state.trees)
    return StoreObservation(try QueryResultsMaker(query, of: type, in: reader), at: place)
  }

  /// - Parameter related: Other records whose changes are told, too.
  func observe(
    _ record: Entity, key: [UInt8]?, _ related: [Entity] = []
  ) throws(StoreError) -> ObservedPlace {
    let place = try hub.observe(record.rows, key: key, related: related.map(\.rows), of: self)
    if backend.isReadOnly { try watch.begin(for: self) }
    return place
  }

  /// Tells the observers of the last commits, and that there will be no more.
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

  var begunPublication: UInt64 { backend.begunPublication }
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

// MARK: - Beside a writer

/// Takes in the commits of another process, while a store that is only read is observed.
///
/// A thread that sleeps most of the time: a look at the log takes 25 µs where nothing is new, a thousandth of a
/// processor's time. The kernel could tell when the log is written to, but that a commit is on the disk, and
/// may be shown, is said by the frame after it, a tenth of a second later where the writer is idle: it would
/// gain nothing for the observers.
final class StoreWatch: @unchecked Sendable {
  private let lock = ThreadLock()
  private let ending: ThreadCondition
  // Under `lock`:
  private var isRunning = false
  private var isEnding = false

  /// The time between two looks.
  static var interval: Duration { .milliseconds(20) }
  /// The number of failures in a row after which observers receive the error.
  private static var failuresMax: Int { 50 }

  init() { ending = ThreadCondition(lock) }

  /// Begins to watch, unless it does. It ends when there are no observers any more.
  ///
  /// - Throws: `.io` if the system has no more threads.
  func begin(for store: PersistentStore) throws(StoreError) {
    lock.lock()
    defer { lock.unlock() }
    if isRunning || isEnding { return }
    let hub = store.hub
    _ = try BackgroundThread(name: "cambium-watch") { [self, weak store] in
      var failures = 0
      while sleep(while: hub) {
        guard let store else { return }
        failures = store.look(failures, max: Self.failuresMax)
      }
    }
    isRunning = true
  }

  /// Sleeps for a while. False when the thread is to end.
  private func sleep(while hub: ObservationHub) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    if !isEnding, hub.isObserved { _ = ending.wait(atMost: Self.interval) }
    isRunning = !isEnding && hub.isObserved
    return isRunning
  }

  /// Ends for good. Does not wait for the thread: it may be the one that releases the store.
  func end() {
    lock.lock()
    isEnding = true
    lock.unlock()
    ending.broadcast()
  }
}

extension PersistentStore {
  /// Returns how many looks in a row have failed.
  fileprivate func look(_ failures: Int, max: Int) -> Int {
    do throws(StoreError) {
      try refresh()
      return 0
    } catch {
      if failures == max { hub.fail(error) }
      return failures + 1
    }
  }
}

extension StoreSnapshot {
  /// Calls `body` with each record of the type stored as `name` that differs from an older state of the store, by primary
  /// key.
  ///
  /// - Parameters:
  ///   - condition: The condition that records have to meet; one that begins to is new, one that no longer does has
  ///     gone.
  ///   - body: Called with the record in the older state and in this one; nil if there is none.
  /// - Complexity: Linear in the commits since; linear in the records if it was folded into the trees.
  /// - Throws: `StoreError.unknownRecord`, `.invalidQuery`, `.corrupt`, `.io`; errors of `body`.
  package func forEachChange(
    record name: String, where condition: FieldCondition? = nil, since old: StoreSnapshot,
    _ body: (_ old: DynamicRecord?, _ new: DynamicRecord?) throws -> Void
  ) throws {
    let entity = try entities.entity(named: name)
    let filter = try condition.map { try RowFilter($0, of: entity, in: entities) }
    let step = ObservedStep(tree: entity.rows, before: old, after: self, changes: .unknown)
    let (oldBlobs, newBlobs) = (old.trees.blobFinder(of: entity), trees.blobFinder(of: entity))
    func record(
      _ key: [UInt8], _ row: [UInt8]?, _ blobs: BlobFinder?
    ) throws(StoreError) -> DynamicRecord? {
      guard let row else { return nil }
      return try DynamicRecord(
        try entity.row(key: key.rawSpan, row: row.rawSpan, blobs: blobs), stringsAsBlobs: true)
    }
    try step.forEachChange { change in
      guard let change = try filter.map({ try $0.filtered(change) }) ?? change else { return }
      try body(
        try record(change.key, change.old, oldBlobs), try record(change.key, change.new, newBlobs))
    }
  }
}
