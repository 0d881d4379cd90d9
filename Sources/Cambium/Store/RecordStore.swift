/// A store of records, whatever keeps them: a `PersistentStore`, or a database on a server that another package opens.
///
/// Code that is written for `some RecordStore` runs on each of them:
///
/// ```swift
/// func ship(_ id: UUID, in store: some RecordStore) async throws {
///   try await store.write { transaction in
///     var order = try transaction.find(Order.self, key: id)
///     order.state = .shipped
///     try transaction.update(order)
///   }
/// }
/// ```
///
/// The protocol has the functions that every store has. Features of a `PersistentStore` alone, such as keeping a snapshot, migrating or
/// observing the difference of results, are not part of it, so code that needs them does not compile for another store. A store that cannot run a
/// query, or keep a model, throws an error; the results of all stores are the same.
public protocol RecordStore: Sendable {
  /// One committed state.
  associatedtype Snapshot: PortableReading
  /// Changes that are committed together.
  associatedtype Transaction: PortableWriting

  /// Calls `body` with one committed state, and returns its result.
  ///
  /// - Parameter body: Runs on a thread of the store, and must not keep the snapshot. A store on a server may call it again.
  /// - Throws: errors of the store, and of `body`; `CancellationError` if the task is cancelled before `body` is called.
  @concurrent
  func read<Result: Sendable>(
    _ body: @Sendable (Snapshot) throws -> Result
  ) async throws -> Result

  /// Calls `body` with a transaction, and commits its changes, or none of them if `body` throws.
  ///
  /// - Parameters:
  ///   - durability: When the commit is acknowledged; nil for the durability that the store was opened with.
  ///   - author: A name for the writer, which a store that keeps a history writes there.
  ///   - body: Runs on a thread of the store, and must not keep the transaction. A store with several writers calls it again if its
  ///     changes conflict with those of another; so it should have no other effect than the changes and its result.
  /// - Throws: errors of the store, and of `body`: then nothing was committed, but after `StoreError.outcomeUnknown`.
  ///   `CancellationError` if the task is cancelled before `body` is called.
  @concurrent
  func write<Result: Sendable>(
    durability: Durability?, author: String?,
    _ body: @Sendable (inout Transaction) throws -> Result
  ) async throws -> Result

  /// Returns the changes of all records of a type that are committed from now on, by any thread or process.
  ///
  /// ```swift
  /// for try await changes in try await store.observeChanges(of: Order.self) {
  ///   print(changes.inserted, changes.updated, changes.deleted)
  /// }
  /// ```
  ///
  /// To keep a copy of all records, begin to observe, and fetch them then: a change in between is in both.
  ///
  /// - Returns: An asynchronous sequence of the differences between states, the first of which is the newest one now.
  /// - Throws: errors of the store; `StoreError.unknownRecord`, `.closed`.
  @concurrent
  func observeChanges<Subject: Record>(
    of type: Subject.Type
  ) async throws -> RecordObservation<RecordChanges<Subject>>

  /// Returns the results of a query, and the new results whenever commits change them.
  ///
  /// ```swift
  /// for try await open in try await store.observeResults(of: Order.where { $0.state == "open" }) { show(open) }
  /// ```
  ///
  /// A query that leads to other records gives new results when those change, too.
  ///
  /// - Returns: An asynchronous sequence of the results. The first element has those of now.
  /// - Throws: errors of the store and of the query; `StoreError.unknownRecord`, `.closed`.
  @concurrent
  func observeResults<Subject: Record>(
    of query: Query<Subject>
  ) async throws -> RecordObservation<[Subject]>
}

// MARK: - In transactions of their own

extension RecordStore {
  /// Calls `body` with a transaction, and commits its changes, or none of them if `body` throws.
  ///
  /// - Throws: as `write(durability:author:_:)`.
  @_disfavoredOverload
  @concurrent
  public func write<Result: Sendable>(
    _ body: @Sendable (inout Transaction) throws -> Result
  ) async throws -> Result {
    try await write(durability: nil, author: nil, body)
  }

  /// Writes a record, in a transaction of its own: adds it, or replaces the one with its primary key.
  @_disfavoredOverload
  @concurrent
  public func save<Subject: Record>(_ record: Subject) async throws {
    try await write { transaction in try transaction.save(record, onConflict: .refuse) }
  }

  /// Adds a record, in a transaction of its own. There must be none with its primary key.
  @_disfavoredOverload
  @concurrent
  public func insert<Subject: Record>(_ record: Subject) async throws {
    try await write { transaction in try transaction.insert(record, onConflict: .refuse) }
  }

  /// Replaces a record, in a transaction of its own. There must be one with its primary key.
  @_disfavoredOverload
  @concurrent
  public func update<Subject: Record>(_ record: Subject) async throws {
    try await write { transaction in try transaction.update(record, onConflict: .refuse) }
  }

  /// Deletes a record, in a transaction of its own. Returns false if no record has its primary key.
  @_disfavoredOverload
  @discardableResult
  @concurrent
  public func delete<Subject: Record>(_ record: Subject) async throws -> Bool {
    try await write { transaction in try transaction.delete(record) }
  }

  /// Deletes the records of a query, in a transaction of its own, and returns their number.
  ///
  /// - Throws: as `write(durability:author:_:)`. Then none is deleted.
  @_disfavoredOverload
  @discardableResult
  @concurrent
  public func delete<Subject: Record>(
    _ query: Query<Subject>, durability: Durability? = nil
  ) async throws -> Int {
    try await write(durability: durability, author: nil) { transaction in
      try transaction.delete(query)
    }
  }

  /// Changes the records of a query, in a transaction of its own, and returns their number.
  ///
  /// - Parameter change: Changes a record, but not its primary key. It is called again if the transaction is.
  /// - Throws: as `write(durability:author:_:)`. Then none is changed.
  @_disfavoredOverload
  @discardableResult
  @concurrent
  public func update<Subject: Record>(
    _ query: Query<Subject>, durability: Durability? = nil,
    set change: @Sendable (inout Subject) throws -> Void
  ) async throws -> Int {
    try await write(durability: durability, author: nil) { transaction in
      try transaction.update(query, onConflict: .refuse, set: change)
    }
  }
}

// MARK: - The embedded store

extension StoreSnapshot: PortableReading {}
extension WriteTransaction: PortableWriting {}

extension PersistentStore: RecordStore {
  public typealias Snapshot = StoreSnapshot
  public typealias Transaction = PortableTransaction

  /// As `write` with a `WriteTransaction`, for code that is written for any `RecordStore`.
  @_disfavoredOverload
  @concurrent
  public func write<Result: Sendable>(
    durability: Durability?, author: String?,
    _ body: @Sendable (inout PortableTransaction) throws -> Result
  ) async throws -> Result {
    try await write(durability: durability, author: author) {
      (transaction: inout WriteTransaction) throws -> Result in
      var portable = PortableTransaction(writer: transaction.writer)
      return try body(&portable)
    }
  }
}
