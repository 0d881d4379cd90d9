#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A store of records, in a directory or in memory.
///
/// ```swift
/// let store = try PersistentStore(at: "todo.cambium", model: StoreModel(records: [TodoItem.self]))
/// try store.write { transaction in try transaction.save(item) }
/// let item = try store.fetch(TodoItem.self, key: id)
/// ```
///
/// Call `close()` when you no longer need the store. Releasing it without closing loses nothing, but the next
/// open has to replay the log.
///
/// One process writes, from as many threads and tasks as it likes, one transaction at a time. Any number of
/// threads read, and other processes may open the store for reading meanwhile. Reading never waits for writing.
public final class PersistentStore: RecordReading, Sendable {
  let backend: any StoreBackend
  let entities: Entities
  private let durability: Durability
  let queryBudget: QueryBudget?
  /// Kept from one transaction to the next, which otherwise take longer for their memory than for a record.
  private let buffers = WriteBuffers()
  /// The history that is kept; nil if none is.
  private let history: HistoryKeeping?
  /// The collector of blobs in the background; nil if nothing does.
  private let collection: BackgroundCollection?
  /// The collector of expired records in the background; nil if nothing does.
  private let expiry: BackgroundExpiry?
  /// The clock that tells which records have expired.
  let currentDate: @Sendable () -> Date
  /// The path of the earlier store that this one replaced.
  private let setAside: String?
  /// Follows transactions.
  private let tracer: (any StoreTracer)?
  let log: StoreLog
  let hub = ObservationHub()
  let watch = StoreWatch()

  /// Opens the store in the directory at `path`, or creates it.
  ///
  /// - Parameters:
  ///   - steps: The steps from older versions that do not follow from the descriptions.
  ///   - migration: How a store of an older version is migrated, or that it is refused.
  /// - Throws: `StoreError.invalidDescription` if the model is wrong; `.schemaMismatch` if the store describes the
  ///   model's version differently; if the store has an older version, `.cannotMigrate` if there is no migration path,
  ///   `.needsMigration` if `migration` refuses, `.rolledBack` if it was migrated and rolled back before, and
  ///   `.stepFailed` for a record that cannot be migrated; `.newerSchema` if it has a newer version; `.locked` if it is
  ///   open for writing; `.missing`, `.corrupt`, `.newerFormat`, `.networkFileSystem`, `.full`, `.io`. The content of the
  ///   store is then unchanged.
  public convenience init(
    at path: String, model: StoreModel, steps: [MigrationStep] = [],
    migration: MigrationMode = .automatic,
    options: StoreOptions = StoreOptions()
  ) throws(StoreError) {
    let opening = try StoreOpening(model, steps: steps, migration, options)
    self.init(try opening.open(at: path), options)
  }

  /// Opens the store in the directory at `path`, or creates it, with a version of the model that is stated here: for models
  /// whose types describe all versions.
  ///
  /// ```swift
  /// let store = try PersistentStore(version: 2, model: StoreModel(records: [TodoItem.self]))
  /// ```
  ///
  /// - Parameters:
  ///   - path: By default `PersistentStore.cambium` in the current directory.
  ///   - version: The version that takes the place of the model's own, counted from 1.
  /// - Throws: as the initializer without a version; `StoreError.invalidDescription`, too, if the model's versions have types
  ///   of their own and another one is its newest.
  public convenience init(
    at path: String = "PersistentStore.cambium", version: Int, model: StoreModel,
    steps: [MigrationStep] = [], migration: MigrationMode = .automatic,
    options: StoreOptions = StoreOptions()
  ) throws(StoreError) {
    try self.init(
      at: path, model: try model.stating(version), steps: steps, migration: migration,
      options: options)
  }

  /// Creates a store in memory. Nothing else can open it, and its content is gone when it is released.
  ///
  /// - Throws: `StoreError.invalidDescription` if the model is wrong.
  public convenience init(
    inMemory model: StoreModel, options: StoreOptions = StoreOptions()
  ) throws(StoreError) {
    let opening = try StoreOpening(model, .refuse, options)
    self.init(try opening.open(try EngineBackend(inMemory: options)), options)
  }

  init(_ opened: StoreOpening.Opened, _ options: StoreOptions) {
    backend = opened.backend
    entities = opened.entities
    setAside = opened.setAside
    durability = options.durability
    queryBudget = options.queryBudget
    history = options.history.map { HistoryKeeping($0) }
    let conditions = backend.hasThreads ? options.automaticCompaction?.bounded : nil
    collection = conditions.map { BackgroundCollection($0) }
    tracer = options.tracer
    let expires =
      backend.hasThreads && !backend.isReadOnly
      && entities.schema.records.contains { $0.expiry != nil }
    expiry = expires ? options.expiryInterval.map { BackgroundExpiry(every: $0) } : nil
    currentDate = options.currentDate
    log = StoreLog(options.logger)
    log.opened(path, report, version: schema.version)
    expiry?.begin(in: self)
  }

  deinit {
    expiry?.end()
    endObserving()
  }

  /// The report of the faults that opening found and repaired.
  public var report: OpenReport {
    var report = backend.report
    report.setAside = setAside
    return report
  }

  /// The path of the store's directory; of a store in memory or in a storage of your own, the name that errors give it.
  public var path: String { backend.path }

  /// The description of the store's records in the model's version.
  public var schema: Schema { entities.schema }

  /// Returns the descriptions of all versions that the store has had, in ascending order; the last is `schema`.
  ///
  /// ```swift
  /// for schema in try store.schemas() { print(schema.version, schema.records.count) }
  /// ```
  ///
  /// - Throws: `StoreError.corrupt`, `.newerFormat`, `.io`, `.closed`, `.forked`.
  public func schemas() throws(StoreError) -> [Schema] {
    try StoredSchemas(try backend.trees(), entities.schemas, path: path).all()
  }
}

// MARK: - Reading

extension PersistentStore {
  public func recordReader() throws(StoreError) -> RecordReader {
    RecordReader(
      entities: entities, trees: try backend.trees(), meter: queryBudget.map { QueryMeter($0) })
  }

  /// Returns the newest committed state. It does not change for as long as it is held.
  ///
  /// ```swift
  /// let snapshot = try store.snapshot()
  /// let items = try snapshot.fetch(Item.self)
  /// ```
  ///
  /// - Throws: `StoreError.closed`, `.forked`.
  public func snapshot() throws(StoreError) -> StoreSnapshot {
    StoreSnapshot(entities, try backend.snapshot(), queryBudget)
  }

  /// Calls `body` with the newest committed state.
  ///
  /// ```swift
  /// let (items, count) = try store.read { snapshot in
  ///   (try snapshot.fetch(Item.self), try snapshot.count(Item.self))
  /// }
  /// ```
  ///
  /// - Throws: `StoreError.closed`, `.forked`, and errors of `body`.
  public func read<Result: ~Copyable>(
    _ body: (StoreSnapshot) throws -> Result
  ) throws -> Result {
    try body(try snapshot())
  }

  /// Shows the commits that another process has made since, in a store opened for reading. Snapshots do not change.
  ///
  /// ```swift
  /// if try store.refresh() { show(try store.fetch(Item.self)) }
  /// ```
  ///
  /// - Returns: True if there are new commits.
  /// - Throws: `StoreError.newerSchema` if the store was migrated since, `.needsMigration` if it was rolled back: open
  ///   it with another model. `.closed`, `.corrupt`, `.io`, `.missing`, `.forked`: the earlier state is still shown.
  @discardableResult
  public func refresh() throws(StoreError) -> Bool { try backend.refresh(hub) }
}

// MARK: - Writing

extension PersistentStore {
  /// Calls `body` with a transaction, and commits its changes when `body` returns. If `body` throws, nothing is
  /// committed.
  ///
  /// The calling thread waits for other writers, and for the flush of a durable commit. In tasks, use the
  /// asynchronous one, which suspends.
  ///
  /// - Parameters:
  ///   - durability: When the commit is acknowledged; nil for the durability that the store was opened with.
  ///   - author: A name for the writer, which observers and the history see.
  /// - Throws: Errors of `body`; `StoreError.outcomeUnknown` if the next open has to find out whether the commit
  ///   exists; `.danglingReference`, `.relationCount` if references lead nowhere or are too few or too many; `.deleteDenied`
  ///   if others depend on a record that was deleted; `.poisoned`, `.full`, `.io`, `.corrupt`, `.reentrant`, `.readOnly`, `.closed`, `.forked`: nothing was committed.
  public func write<Result: ~Copyable>(
    durability: Durability? = nil, author: String? = nil,
    _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    var result: Result?
    let end = tracer?.begin(.transaction(author: author))
    defer { publish(durability) }
    do {
      try backend.write(durability ?? self.durability) { trees in
        result = try lend(trees, author, body)
      }
    } catch {
      end?(error)
      log.failed(error)
      throw error
    }
    end?(nil)
    guard let result else { preconditionFailure("a commit without its body") }
    return result
  }

  /// As the public one for tasks.
  ///
  /// - Parameter threads: Those that `body` runs on outside of actors.
  nonisolated(nonsending)
    func write<Result: ~Copyable>(
      _ durability: Durability?, _ author: String?, on threads: TaskThreads,
      _ body: (inout WriteTransaction) throws -> Result
    ) async throws -> Result
  {
    try Task.checkCancellation()
    var result: Result?
    let end = tracer?.begin(.transaction(author: author))
    do {
      try await backend.write(durability ?? self.durability, on: threads) { trees in
        // It may have waited long for its turn.
        try Task.checkCancellation()
        result = try lend(trees, author, body)
      }
    } catch {
      end?(error)
      await publishInTask(durability)
      log.failed(error)
      throw error
    }
    end?(nil)
    await publishInTask(durability)
    guard let result else { preconditionFailure("a commit without its body") }
    return result
  }

  private func lend<Result: ~Copyable>(
    _ trees: TransactionTrees, _ author: String?, _ body: (inout WriteTransaction) throws -> Result
  ) throws -> Result {
    let notes = hub.notes()
    let writer = RecordWriter(
      trees, entities, buffers: buffers, author: author, notes: notes,
      keepsHistory: history != nil, queryBudget: queryBudget)
    defer {
      writer.end(path: path)
      buffers.trim()
    }
    var transaction = WriteTransaction(writer: writer)
    let result = try body(&transaction)
    try writer.checkUsable()
    try writer.keeper?.check()
    try writer.keepNumbers()
    try history?.write(writer, of: entities, author: author)
    announce(notes, trees, by: author)
    return result
  }

  /// A durable commit of the library's own, which changes no record.
  func commit(_ body: (TransactionTrees) throws(StoreError) -> Void) throws(StoreError) {
    try backend.commit { trees throws(StoreError) in
      let notes = hub.notes()
      try body(trees)
      let writer = RecordWriter(trees, entities, keepsHistory: history != nil)
      try history?.write(writer, of: entities, author: nil)
      announce(notes, trees, by: nil)
    }
  }

  private func announce(_ notes: KeyNotes?, _ trees: TransactionTrees, by author: String?) {
    if !trees.publishesNothing {
      hub.announce(notes, trees.publication, trees.publication, by: author)
    }
  }

  /// Says that what this thread committed can be read, and perhaps what others did.
  private func publish(_ durability: Durability?) {
    if durability ?? self.durability == .durable { removeEmptiedSegments() }
    if hub.isObserved { hub.publish(backend.progress) }
    collection?.beginIfDue(in: self)
  }

  /// As `publish`, which may read and remove files, for tasks.
  nonisolated(nonsending) private func publishInTask(_ durability: Durability?) async {
    guard backend.blobs.keeper != nil, backend.blobs.bin.isUsed else { return publish(durability) }
    await TaskThreads.working.run { publish(durability) }
  }

  /// Writes a record, in a transaction of its own: adds it, or replaces the one with its primary key.
  ///
  /// ```swift
  /// try store.save(Item(name: "Lamp", price: 20))
  /// ```
  ///
  /// - Throws: `StoreError.unknownRecord`, `.invalidValue`, `.uniqueConflict`, `.relationCount`, `.limitExceeded`,
  ///   and any error of a hook. At the commit, `.danglingReference`, `.relationCount` and `.deleteDenied`, if
  ///   references and their rules do not allow it. `.full`, `.io`, `.corrupt`, `.poisoned`, `.readOnly`,
  ///   `.reentrant`, `.closed`, `.forked`. Then nothing was committed, but after `.outcomeUnknown`, when the next
  ///   opening decides.
  @inlinable
  public func save<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse, durability: Durability? = nil
  ) throws {
    try write(durability: durability) { transaction in
      try transaction.save(record, onConflict: policy)
    }
  }

  /// Adds a record, in a transaction of its own. There must be none with its primary key.
  ///
  /// ```swift
  /// try store.insert(Item(name: "Lamp", price: 20))
  /// ```
  ///
  /// - Throws: `StoreError.unknownRecord`, `.invalidValue`, `.uniqueConflict`, `.relationCount`, `.limitExceeded`,
  ///   `.duplicateKey`, and any error of a hook. At the commit, `.danglingReference`, `.relationCount` and
  ///   `.deleteDenied`, if references and their rules do not allow it. `.full`, `.io`, `.corrupt`, `.poisoned`,
  ///   `.readOnly`, `.reentrant`, `.closed`, `.forked`. Then nothing was committed, but after `.outcomeUnknown`,
  ///   when the next opening decides.
  @inlinable
  public func insert<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse, durability: Durability? = nil
  ) throws {
    try write(durability: durability) { transaction in
      try transaction.insert(record, onConflict: policy)
    }
  }

  /// Replaces a record, in a transaction of its own. There must be one with its primary key.
  ///
  /// ```swift
  /// item.price = 25
  /// try store.update(item)
  /// ```
  ///
  /// - Throws: `StoreError.unknownRecord`, `.invalidValue`, `.uniqueConflict`, `.relationCount`, `.limitExceeded`,
  ///   `.noSuchRecord`, and any error of a hook. At the commit, `.danglingReference`, `.relationCount` and
  ///   `.deleteDenied`, if references and their rules do not allow it. `.full`, `.io`, `.corrupt`, `.poisoned`,
  ///   `.readOnly`, `.reentrant`, `.closed`, `.forked`. Then nothing was committed, but after `.outcomeUnknown`,
  ///   when the next opening decides.
  @inlinable
  public func update<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse, durability: Durability? = nil
  ) throws {
    try write(durability: durability) { transaction in
      try transaction.update(record, onConflict: policy)
    }
  }

  /// Deletes a record, in a transaction of its own. Returns false if no record has its primary key.
  ///
  /// ```swift
  /// try store.delete(item)
  /// ```
  ///
  /// - Throws: `StoreError.unknownRecord`, `.invalidValue` if the key cannot be one, and any error of a hook. At
  ///   the commit, `.deleteDenied` if other records depend on it, and `.relationCount`. `.full`, `.io`, `.corrupt`,
  ///   `.poisoned`, `.readOnly`, `.reentrant`, `.closed`, `.forked`. Then nothing was committed, but after
  ///   `.outcomeUnknown`, when the next opening decides.
  @inlinable
  @discardableResult
  public func delete<Subject: Record>(
    _ record: Subject, durability: Durability? = nil
  ) throws -> Bool {
    try write(durability: durability) { transaction in try transaction.delete(record) }
  }
}

// MARK: - The store as a whole

extension PersistentStore {
  /// Waits until all commits made so far are on the disk, and shows them to readers in other processes: a reader that
  /// opens or refreshes afterwards sees them.
  ///
  /// ```swift
  /// try store.save(item, durability: .relaxed)
  /// try store.flush()
  /// ```
  ///
  /// Without it, readers in other processes see a commit when the next one has been flushed, or about 0.1 s after the
  /// last one.
  ///
  /// - Complexity: One flush, and another if a commit was not shown yet.
  /// - Throws: `StoreError.filesGone` if a file of the store was deleted or replaced meanwhile: copy the store by
  ///   ``backUp(to:progress:)`` before you close it. `.outcomeUnknown`, `.poisoned`, `.closed`, `.forked`.
  public func flush() throws(StoreError) {
    try backend.seal()
    removeEmptiedSegments()
  }

  /// Closes the store. Transactions that have begun finish first; those that wait for their turn throw `.closed`.
  ///
  /// ```swift
  /// try store.close()
  /// ```
  ///
  /// Snapshots can still be read. Observers are told of the last commits, and then end. Closing a store again does
  /// nothing; if another thread is closing it, this waits until that is done.
  ///
  /// If the store was written to, files of which most is garbage are emptied, for a second at most: see
  /// ``StoreOptions/automaticCompaction``.
  ///
  /// A store can also be closed when the disk is full or the process has no descriptors left: all commits are in the
  /// log then, and the next opening continues from there.
  ///
  /// - Throws: `StoreError.io`, `.corrupt`, `.limitExceeded`, `.poisoned`, `.outcomeUnknown`: no commit that was
  ///   acknowledged as durable is lost, and the store is closed. `.filesGone` if a file of the store was deleted or
  ///   replaced meanwhile: the store is closed, and commits since it was opened may be lost. `.reentrant` inside a write
  ///   transaction, `.forked`: the store stays open.
  public func close() throws(StoreError) {
    do throws(StoreError) {
      removeEmptiedSegments()
      try backend.close()
    } catch {
      if case .reentrant = error { throw error }
      expiry?.endAndWait()
      collection?.end()
      endObserving()
      throw error
    }
    expiry?.endAndWait()
    collection?.end()
    endObserving()
    log.closed(path)
  }
}

// Operations on a store's directory as a whole.

extension PersistentStore {
  /// Deletes the store in the directory at `path`, and the directory. After a crash, either the whole store is left,
  /// or nothing that opens.
  ///
  /// ```swift
  /// try PersistentStore.delete(at: "shop.cambium")
  /// ```
  ///
  /// - Throws: `StoreError.locked` if it is open for writing; `.missing` if there is no directory, or no store in it; `.io`,
  ///   also if other files are in the directory: then nothing has changed.
  public static func delete(at path: String) throws(StoreError) {
    let (medium, lock) = try claim(path)
    defer { withExtendedLifetime(lock) {} }
    try medium.remove()
  }

  /// Moves the store in the directory at `path` to another path of the same file system. After a crash it is at one of them.
  ///
  /// ```swift
  /// try PersistentStore.move(from: "shop.cambium", to: "old/shop.cambium")
  /// ```
  ///
  /// - Throws: `StoreError.locked` if it is open for writing; `.missing` if there is no store; `.io`, also if there is
  ///   anything at the other path, or that is on another file system: then nothing has changed.
  public static func move(from path: String, to newPath: String) throws(StoreError) {
    let (medium, lock) = try claim(path)
    defer { withExtendedLifetime(lock) {} }
    try medium.rename(to: newPath)
  }

  /// Puts the store in the directory at `newPath` in the place of the one at `path`, which is deleted: a backup, say, that was
  /// checked, or a store that was imported. Both are on one file system. After a crash, one of the two is at `path`, whole.
  ///
  /// ```swift
  /// try PersistentStore.replace(at: "shop.cambium", with: "restored.cambium")
  /// ```
  ///
  /// - Throws: as `move(from:to:)`, if either is open for writing or there is none.
  public static func replace(at path: String, with newPath: String) throws(StoreError) {
    let (medium, lock) = try claim(path)
    let (_, newLock) = try claim(newPath)
    defer { withExtendedLifetime((lock, newLock)) {} }
    try medium.exchange(with: newPath)
    try PosixFileSystem(at: newPath, allowingNetwork: true).remove()
  }

  /// Locks a store that is not open.
  private static func claim(
    _ path: String
  ) throws(StoreError) -> (medium: PosixFileSystem, lock: WriterLock) {
    let medium = try PosixFileSystem(at: path, allowingNetwork: true)
    // Before a lock is taken, which makes a file.
    if !(try medium.removableFiles().contains { $0 != .lock }) { throw .missing(path: path) }
    return (medium, try WriterLock(in: medium))
  }
}

/// One committed state of a store. It does not change for as long as it is held.
///
/// It keeps its segments on disk, and the changes that are in no tree yet in memory. Any number of threads may read it.
public final class StoreSnapshot: RecordReading, Sendable {
  let entities: Entities
  /// The trees of the state.
  let state: SnapshotTrees
  private let queryBudget: QueryBudget?

  init(_ entities: Entities, _ state: SnapshotTrees, _ queryBudget: QueryBudget? = nil) {
    self.entities = entities
    self.state = state
    self.queryBudget = queryBudget
  }

  public func recordReader() -> RecordReader {
    RecordReader(
      entities: entities, trees: trees, meter: queryBudget.map { QueryMeter($0) })
  }

  var trees: TreeAccess { .state(state) }
  var publication: UInt64 { state.publication }

  /// Returns a finder of the blobs of old rows, as far as they still exist.
  func oldBlobFinder() throws(StoreError) -> BlobFinder? { trees.oldBlobFinder(entities.blobs) }

  /// The number of the last commit in it. Commits are numbered from 1.
  public var sequence: UInt64 { state.sequence }

  /// The identity of the store.
  var identity: StoreIdentity { state.identity }

  /// The footer of the trees that it reads.
  var footer: Footer { state.footer }

  /// The description of the store's records, in the version that the snapshot has.
  public var schema: Schema { entities.schema }
}
