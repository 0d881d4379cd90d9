/// A store of records, in a directory or in memory.
///
/// ```swift
/// let store = try PersistentStore(at: "todo.cambium", model: StoreModel(records: [TodoItem.self]))
/// try store.write { transaction in try transaction.save(item) }
/// let item = try store.fetch(TodoItem.self, key: id)
/// ```
///
/// `close()` it when it is no longer needed. One that is let go of without that ends too, and loses nothing;
/// the next open then has more to do.
///
/// One process writes, from as many threads and tasks as it likes, one transaction at a time. Any number of
/// threads read, and other processes may open the store for reading meanwhile. Reading never waits for writing.
public final class PersistentStore: RecordReading, Sendable {
  let backend: any StoreBackend
  let types: RecordTypes
  private let durability: Durability
  /// Kept from one transaction to the next, which otherwise take longer for their memory than for a record.
  private let buffers = WriteBuffers()
  /// Nil where no history is kept.
  private let history: HistoryKeeping?
  /// Where the store is that this one took the place of.
  private let setAside: String?
  let hub = ObservationHub()
  let watch = StoreWatch()

  /// Opens the store in the directory at `path`, or makes it.
  ///
  /// - Parameters:
  ///   - steps: What the program says of steps from older versions; all else is inferred.
  ///   - migration: What is done about a store of an older version.
  /// - Throws: `StoreError.invalidDescription` where the model is wrong; `.schemaMismatch` where the store
  ///   describes the model's version otherwise, `.cannotMigrate` where it has an older one that cannot become
  ///   the model's, `.needsMigration` where it is not to, `.rolledBack` where it was before, `.newerSchema` where
  ///   it has a newer one; while it is migrated, `.stepFailed` for the record that cannot be stored; `.locked`
  ///   where it is open for writing; `.missing`, `.corrupt`, `.newerFormat`, `.networkFileSystem`, `.full`, `.io`.
  ///   Nothing has changed then that was in the store.
  public convenience init(
    at path: String, model: StoreModel, steps: [Step] = [],
    migration: MigrationMode = .automatic,
    options: StoreOptions = StoreOptions()
  ) throws(StoreError) {
    let opening = try StoreOpening(model, steps: steps, migration, options)
    self.init(try opening.open(at: path), options)
  }

  /// Makes a store in memory, which nobody else can open and which is gone with its last user.
  ///
  /// - Throws: `StoreError.invalidDescription` where the model is wrong.
  public convenience init(
    inMemory model: StoreModel, options: StoreOptions = StoreOptions()
  ) throws(StoreError) {
    let opening = try StoreOpening(model, .refuse, options)
    self.init(try opening.open(try EngineBackend(inMemory: options)), options)
  }

  init(_ opened: StoreOpening.Opened, _ options: StoreOptions) {
    backend = opened.backend
    types = opened.types
    setAside = opened.setAside
    durability = options.durability
    history = options.history.map { HistoryKeeping($0) }
  }

  deinit { endObserving() }

  /// What opening found.
  public var report: OpenReport {
    var report = backend.report
    report.setAside = setAside
    return report
  }

  public var path: String { backend.path }

  /// How the store's records are described, in the model's version.
  public var schema: Schema { types.schema }

  /// How they were described in each version that the store has had, ascending; the last is `schema`.
  ///
  /// - Throws: `StoreError.corrupt`, `.newerFormat`, `.io`, `.closed`, `.forked`.
  public func schemas() throws(StoreError) -> [Schema] {
    try StoredSchemas(try backend.trees(), types.schemas, path: path).all()
  }
}

// MARK: - Reading

extension PersistentStore {
  public func recordReader() throws(StoreError) -> RecordReader {
    RecordReader(types: types, trees: try backend.trees())
  }

  /// The newest committed state, which stays as it is for as long as it is held.
  ///
  /// - Throws: `StoreError.closed`, `.forked`.
  public func snapshot() throws(StoreError) -> StoreSnapshot {
    StoreSnapshot(types, try backend.snapshot())
  }

  /// Lends `body` the newest committed state.
  ///
  /// - Throws: `StoreError.closed`, `.forked`, and what `body` throws.
  public func read<Result: ~Copyable>(
    _ body: (StoreSnapshot) throws -> Result
  ) throws -> Result {
    try body(try snapshot())
  }

  /// Takes in what another process has committed since, where this one only reads. Snapshots stay as they are.
  ///
  /// - Returns: whether there are new commits.
  /// - Throws: `StoreError.newerSchema` where the store was migrated since, `.needsMigration` where it was rolled back:
  ///   it is to be opened with another model. `.closed`, `.corrupt`, `.io`, `.missing`, `.forked`: then what was there before is
  ///   still shown.
  @discardableResult
  public func refresh() throws(StoreError) -> Bool { try backend.refresh(hub) }
}

// MARK: - Writing

extension PersistentStore {
  /// Lends `body` a transaction, and commits what it changed when `body` returns. If `body` throws, nothing
  /// happened.
  ///
  /// The calling thread waits for other writers, and for the flush of a durable commit. In tasks, use the
  /// asynchronous one, which suspends.
  ///
  /// - Parameters:
  ///   - durability: When the commit is acknowledged; what the store was opened with if nil.
  ///   - author: Who writes, for those who are told of changes.
  /// - Throws: what `body` throws; `StoreError.outcomeUnknown` where the commit may or may not be there after
  ///   the next open; `.poisoned`, `.full`, `.io`, `.corrupt`, `.reentrant`, `.readOnly`, `.closed`, `.forked`:
  ///   then nothing happened.
  public func write<Result: ~Copyable>(
    _ durability: Durability? = nil, author: String? = nil,
    _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    var result: Result?
    defer { publish(durability) }
    try backend.write(durability ?? self.durability) { trees in
      result = try lend(trees, author, body)
    }
    guard let result else { preconditionFailure("a commit without its body") }
    return result
  }

  /// The same for tasks: waiting for other writers and for the flush suspends. `body` runs on the caller's
  /// task, without suspending.
  nonisolated(nonsending)
    public func write<Result: ~Copyable>(
      _ durability: Durability? = nil, author: String? = nil,
      _ body: (inout WriteTransaction) throws -> Result
    ) async throws -> Result
  {
    var result: Result?
    defer { publish(durability) }
    try await backend.write(durability ?? self.durability) { trees in
      result = try lend(trees, author, body)
    }
    guard let result else { preconditionFailure("a commit without its body") }
    return result
  }

  private func lend<Result: ~Copyable>(
    _ trees: TransactionTrees, _ author: String?, _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    let notes = hub.notes()
    let writer = RecordWriter(
      trees, newKey: buffers.newEntry, oldKey: buffers.oldEntry, notes: notes,
      keepsHistory: history != nil)
    defer {
      writer.end(path: path)
      buffers.trim()
    }
    var transaction = WriteTransaction(
      writer: writer, types: types, buffers: buffers, author: author)
    let result = try body(&transaction)
    try writer.checkUsable()
    try history?.write(writer, of: types, author: author)
    if !trees.isEmpty { hub.announce(notes, trees.sequence, trees.sequence, by: author) }
    return result
  }

  /// A durable commit of the library's own, which changes no record.
  func commit(_ body: (TransactionTrees) throws(StoreError) -> Void) throws(StoreError) {
    try backend.commit { trees throws(StoreError) in
      let notes = hub.notes()
      try body(trees)
      let writer = RecordWriter(trees, keepsHistory: history != nil)
      try history?.write(writer, of: types, author: nil)
      if !trees.isEmpty { hub.announce(notes, trees.sequence, trees.sequence, by: nil) }
    }
  }

  /// Says that what this thread committed can be read, and perhaps what others did.
  private func publish(_ durability: Durability?) {
    if durability ?? self.durability == .durable { removeEmptiedSegments() }
    if hub.isObserved { hub.publish(backend.progress) }
  }

  /// Writes a record, in a transaction of its own: adds it, or replaces the one with its primary key.
  ///
  /// - Throws: as `write` and `WriteTransaction.save`.
  @inlinable
  public func save<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse, _ durability: Durability? = nil
  ) throws {
    try write(durability) { transaction in try transaction.save(record, onConflict: policy) }
  }

  /// Adds a record, in a transaction of its own. There must be none with its primary key.
  ///
  /// - Throws: as `write` and `WriteTransaction.insert`.
  @inlinable
  public func insert<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse, _ durability: Durability? = nil
  ) throws {
    try write(durability) { transaction in try transaction.insert(record, onConflict: policy) }
  }

  /// Replaces a record, in a transaction of its own. There must be one with its primary key.
  ///
  /// - Throws: as `write` and `WriteTransaction.update`.
  @inlinable
  public func update<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse, _ durability: Durability? = nil
  ) throws {
    try write(durability) { transaction in try transaction.update(record, onConflict: policy) }
  }

  /// Deletes a record, in a transaction of its own. False if there is none with its primary key.
  ///
  /// - Throws: as `write` and `WriteTransaction.delete`.
  @inlinable
  @discardableResult
  public func delete<Subject: Record>(
    _ record: Subject, _ durability: Durability? = nil
  ) throws -> Bool {
    try write(durability) { transaction in try transaction.delete(record) }
  }
}

// MARK: - The store as a whole

extension PersistentStore {
  /// Waits until all commits made so far are on the medium.
  ///
  /// - Throws: `StoreError.outcomeUnknown`, `.poisoned`, `.closed`, `.forked`.
  public func flush() throws(StoreError) {
    try backend.flush()
    removeEmptiedSegments()
  }

  /// Ends the store. Transactions that have begun end first; those that wait for their turn throw `.closed`.
  ///
  /// Snapshots can still be read. Observers are told of the last commits, and then end. Closing a store again does
  /// nothing; if another thread is closing it, this waits until that is done.
  ///
  /// - Throws: `StoreError.full`, `.io`, `.poisoned`, `.outcomeUnknown`: no commit that was acknowledged as durable
  ///   is lost, and the store is closed. `.reentrant` inside a write transaction, `.forked`: the store stays open.
  public func close() throws(StoreError) {
    do throws(StoreError) {
      removeEmptiedSegments()
      try backend.close()
    } catch {
      if case .reentrant = error { throw error }
      endObserving()
      throw error
    }
    endObserving()
  }
}
