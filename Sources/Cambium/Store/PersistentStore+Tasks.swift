#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// The same verbs for tasks. In asynchronous code the compiler takes these, and asks for an `await`: the task is suspended,
// and what waits for a disk, a lock or another writer runs on a thread of the library. Reading a record by its key, and
// reading a snapshot, takes less time than a change of threads, and has no such form.

// MARK: - Opening

extension PersistentStore {
  /// Opens the store in the directory at `path`, or creates it, while the task is suspended. A migration ends when the task is
  /// cancelled.
  ///
  /// ```swift
  /// let store = try await PersistentStore(at: "todo.cambium", model: model)
  /// ```
  ///
  /// - Parameters:
  ///   - steps: The steps from older versions that do not follow from the descriptions.
  ///   - migration: How a store of an older version is migrated, or that it is refused.
  /// - Throws: as the synchronous one; `StoreError.migrationCancelled`: the next opening resumes the migration.
  public convenience init(
    at path: String, model: StoreModel, steps: [MigrationStep] = [],
    migration: MigrationMode = .automatic,
    options: StoreOptions = StoreOptions()
  ) async throws(StoreError) {
    let opened = try await TaskThreads.working.run { () throws(StoreError) in
      try StoreOpening(model, steps: steps, migration, options).open(at: path)
    }
    self.init(opened, options)
  }

  /// Opens the store in the directory at `path`, or creates it, with a version of the model that is stated here, while the
  /// task is suspended.
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
  ) async throws(StoreError) {
    try await self.init(
      at: path, model: try model.stating(version), steps: steps, migration: migration,
      options: options)
  }

  /// Opens the store whose files are in a storage of the program's own, or creates it, while the task is suspended. The storage
  /// is called on threads of the library.
  ///
  /// - Throws: as the synchronous one; `StoreError.migrationCancelled`.
  public convenience init(
    on storage: any StorageBackend, model: StoreModel, steps: [MigrationStep] = [],
    migration: MigrationMode = .automatic, options: StoreOptions = StoreOptions()
  ) async throws(StoreError) {
    let opened = try await TaskThreads.working.run { () throws(StoreError) in
      try StoreOpening(model, steps: steps, migration, options).open(on: storage)
    }
    self.init(opened, options)
  }

  /// Opens the store at `path` by its own description, without Swift types, while the task is suspended.
  ///
  /// - Parameter options: The options; their `access` is `.reading` or `.writingExisting`.
  /// - Throws: as the synchronous one.
  public convenience init(
    untypedAt path: String, options: StoreOptions = StoreOptions()
  ) async throws(StoreError) {
    let opened = try await TaskThreads.working.run { () throws(StoreError) in
      try StoreOpening.open(untypedAt: path, options)
    }
    self.init(opened, options)
  }
}

// MARK: - Reading

extension PersistentStore {
  /// Calls `body` with the newest committed state, in the task and on a thread of the library: for work that sorts,
  /// counts or reads much. The caller's actor is free meanwhile.
  ///
  /// ```swift
  /// let total = try await store.read { snapshot in try snapshot.sum(\Order.total) }
  /// ```
  ///
  /// - Throws: `StoreError.closed`, `.forked`, and errors of `body`; `CancellationError` if the task is cancelled before `body`
  ///   is called, or while it runs a query.
  @concurrent
  public func read<Result: Sendable>(
    _ body: @Sendable (StoreSnapshot) throws -> Result
  ) async throws -> Result {
    try Task.checkCancellation()
    // With a meter, queries see that their task was cancelled.
    let snapshot = StoreSnapshot(entities, try backend.snapshot(), queryBudget ?? QueryBudget())
    do {
      return try await TaskThreads.reading.run { () throws in try body(snapshot) }
    } catch {
      if case StoreError.queryBudgetExceeded = error { try Task.checkCancellation() }
      throw error
    }
  }

  /// Returns the records of a query, which is run on a thread of the library.
  ///
  /// ```swift
  /// let page = try await store.fetch(Item.where { $0.price < 20 }.limit(20))
  /// ```
  ///
  /// - Parameter record: The last record of the page before; only records after it are returned.
  /// - Complexity: That of the plan: see `explain(_:)`.
  /// - Throws: as the synchronous one; `CancellationError`.
  @concurrent
  public func fetch<Subject: Record>(
    _ query: Query<Subject>, after record: Subject? = nil
  ) async throws -> [Subject] {
    try await read { snapshot in try snapshot.fetch(query, after: record) }
  }

  /// Returns the first record of a query, which is run on a thread of the library; nil if there is none.
  ///
  /// ```swift
  /// let cheapest = try await store.first(Item.sorted(by: .ascending(\.price)))
  /// ```
  ///
  /// - Throws: as `fetch(_:after:)`.
  @concurrent
  public func first<Subject: Record>(_ query: Query<Subject>) async throws -> Subject? {
    try await read { snapshot in try snapshot.first(query) }
  }

  /// Returns the number of records of a query, which is run on a thread of the library.
  ///
  /// ```swift
  /// let count = try await store.count(Item.where { $0.price < 20 })
  /// ```
  ///
  /// - Complexity: O(log records) if ranges of an index or of the primary key are all of the condition.
  /// - Throws: as `fetch(_:after:)`.
  @concurrent
  public func count<Subject: Record>(_ query: Query<Subject>) async throws -> Int {
    try await read { snapshot in try snapshot.count(query) }
  }

  /// Shows the commits that another process has made since, in a store opened for reading, while the task is suspended.
  ///
  /// ```swift
  /// if try await store.refresh() { show(try await store.fetch(Item.where { $0.price < 20 })) }
  /// ```
  ///
  /// - Returns: True if there are new commits.
  /// - Throws: as the synchronous one.
  @discardableResult
  @concurrent
  public func refresh() async throws(StoreError) -> Bool {
    try await TaskThreads.working.run { () throws(StoreError) in try refresh() }
  }
}

// MARK: - Writing

extension PersistentStore {
  /// Calls `body` with a transaction, and commits its changes; in a task. Waiting for other writers and for the
  /// flush suspends. `body` runs without suspending, in the task and isolated as the caller is: outside of actors on a
  /// thread of the library.
  ///
  /// ```swift
  /// try await store.write { transaction in
  ///   try transaction.save(order)
  ///   try transaction.update(stock)
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - durability: When the commit is acknowledged; nil for the durability that the store was opened with.
  ///   - author: A name for the writer, which observers and the history see.
  /// - Throws: As the synchronous one; `CancellationError` if the task was cancelled before `body` was called, and nothing was
  ///   written. Later, the commit is made as if the task had not been cancelled.
  nonisolated(nonsending)
    public func write<Result: ~Copyable>(
      durability: Durability? = nil, author: String? = nil,
      _ body: (inout WriteTransaction) throws -> Result
    ) async throws -> Result
  {
    try await write(durability, author, on: .writing, body)
  }

  /// Writes a record, in a transaction of its own: adds it, or replaces the one with its primary key.
  ///
  /// Tasks that save at the same time share a flush.
  ///
  /// ```swift
  /// try await store.save(order)
  /// ```
  ///
  /// - Throws: `StoreError.unknownRecord`, `.invalidValue`, `.uniqueConflict`, `.relationCount`, `.limitExceeded`,
  ///   and any error of a hook. At the commit, `.danglingReference`, `.relationCount` and `.deleteDenied`, if
  ///   references and their rules do not allow it. `.full`, `.io`, `.corrupt`, `.poisoned`, `.readOnly`,
  ///   `.reentrant`, `.closed`, `.forked`. Then nothing was committed, but after `.outcomeUnknown`, when the next
  ///   opening decides. `CancellationError` if the task was cancelled before its turn.
  @inlinable
  @concurrent
  public func save<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse, durability: Durability? = nil
  ) async throws {
    try await write(durability: durability) { transaction in
      try transaction.save(record, onConflict: policy)
    }
  }

  /// Adds a record, in a transaction of its own. There must be none with its primary key.
  ///
  /// ```swift
  /// try await store.insert(Item(name: "Lamp", price: 20))
  /// ```
  ///
  /// - Throws: `StoreError.unknownRecord`, `.invalidValue`, `.uniqueConflict`, `.relationCount`, `.limitExceeded`,
  ///   `.duplicateKey`, and any error of a hook. At the commit, `.danglingReference`, `.relationCount` and
  ///   `.deleteDenied`, if references and their rules do not allow it. `.full`, `.io`, `.corrupt`, `.poisoned`,
  ///   `.readOnly`, `.reentrant`, `.closed`, `.forked`. Then nothing was committed, but after `.outcomeUnknown`,
  ///   when the next opening decides. `CancellationError` if the task was cancelled before its turn.
  @inlinable
  @concurrent
  public func insert<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse, durability: Durability? = nil
  ) async throws {
    try await write(durability: durability) { transaction in
      try transaction.insert(record, onConflict: policy)
    }
  }

  /// Replaces a record, in a transaction of its own. There must be one with its primary key.
  ///
  /// ```swift
  /// item.price = 25
  /// try await store.update(item)
  /// ```
  ///
  /// - Throws: `StoreError.unknownRecord`, `.invalidValue`, `.uniqueConflict`, `.relationCount`, `.limitExceeded`,
  ///   `.noSuchRecord`, and any error of a hook. At the commit, `.danglingReference`, `.relationCount` and
  ///   `.deleteDenied`, if references and their rules do not allow it. `.full`, `.io`, `.corrupt`, `.poisoned`,
  ///   `.readOnly`, `.reentrant`, `.closed`, `.forked`. Then nothing was committed, but after `.outcomeUnknown`,
  ///   when the next opening decides. `CancellationError` if the task was cancelled before its turn.
  @inlinable
  @concurrent
  public func update<Subject: Record>(
    _ record: Subject, onConflict policy: ConflictPolicy = .refuse, durability: Durability? = nil
  ) async throws {
    try await write(durability: durability) { transaction in
      try transaction.update(record, onConflict: policy)
    }
  }

  /// Deletes a record, in a transaction of its own. Returns false if no record has its primary key.
  ///
  /// ```swift
  /// try await store.delete(item)
  /// ```
  ///
  /// - Throws: `StoreError.unknownRecord`, `.invalidValue` if the key cannot be one, and any error of a hook. At
  ///   the commit, `.deleteDenied` if other records depend on it, and `.relationCount`. `.full`, `.io`, `.corrupt`,
  ///   `.poisoned`, `.readOnly`, `.reentrant`, `.closed`, `.forked`. Then nothing was committed, but after
  ///   `.outcomeUnknown`, when the next opening decides. `CancellationError` if the task was cancelled before its
  ///   turn.
  @inlinable
  @discardableResult
  @concurrent
  public func delete<Subject: Record>(
    _ record: Subject, durability: Durability? = nil
  ) async throws -> Bool {
    try await write(durability: durability) { transaction in try transaction.delete(record) }
  }

  /// Deletes the record with a primary key, in a transaction of its own. Returns false if there is none.
  ///
  /// ```swift
  /// try await store.delete(Order.self, key: id)
  /// ```
  ///
  /// - Parameter key: The primary key. One of another type than the record's `KeyType` does not compile.
  /// - Throws: `StoreError.unknownRecord`, and any error of a hook. At the commit, `.deleteDenied` if other records
  ///   depend on it, and `.relationCount`. `.full`, `.io`, `.corrupt`, `.poisoned`, `.readOnly`, `.reentrant`,
  ///   `.closed`, `.forked`. Then nothing was committed, but after `.outcomeUnknown`, when the next opening
  ///   decides. `CancellationError` if the task was cancelled before its turn.
  @discardableResult
  @concurrent
  public func delete<Subject: Record>(
    _ type: Subject.Type, key: Subject.KeyType
  ) async throws -> Bool where Subject.KeyType: FieldValueConvertible {
    try await write { transaction in try transaction.delete(type, keyParts: [key]) }
  }

  /// Deletes the record with a primary key whose type the compiler does not know, in a transaction of its own. Returns
  /// false if there is none.
  ///
  /// ```swift
  /// try await store.delete(Seat.self, key: "A", 12)
  /// ```
  ///
  /// - Parameters:
  ///   - part: The primary key, or the first part of a compound one.
  ///   - others: The other parts of a compound key, in its order.
  /// - Throws: `StoreError.unknownRecord`, `.invalidQuery` if the key is of other types, and any error of a hook.
  ///   At the commit, `.deleteDenied` if other records depend on it, and `.relationCount`. `.full`, `.io`,
  ///   `.corrupt`, `.poisoned`, `.readOnly`, `.reentrant`, `.closed`, `.forked`. Then nothing was committed, but
  ///   after `.outcomeUnknown`, when the next opening decides. `CancellationError` if the task was cancelled before
  ///   its turn.
  @discardableResult
  @concurrent
  public func delete<Subject: Record>(
    _ type: Subject.Type, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) async throws -> Bool where Subject.KeyType == AnyKey {
    try await write { transaction in
      try transaction.delete(type, keyParts: Cambium.keyParts(part, others))
    }
  }

  /// Deletes the records of a query, in a transaction of its own.
  ///
  /// - Returns: The number of records deleted.
  /// - Complexity: That of finding them, and of a deletion for each; their keys are in memory.
  /// - Throws: as `write` and `WriteTransaction.delete(_:)` of a query. Then none is deleted.
  @discardableResult
  @concurrent
  public func delete<Subject: Record>(
    _ query: Query<Subject>, durability: Durability? = nil
  ) async throws -> Int {
    try await write(durability: durability) { transaction in try transaction.delete(query) }
  }

  /// Changes the records of a query, in a transaction of its own.
  ///
  /// - Parameter change: Changes a record, but not its primary key. It is isolated as the caller is.
  /// - Returns: The number of records changed.
  /// - Complexity: That of finding them, and of an update for each; their keys are in memory.
  /// - Throws: as `write` and `WriteTransaction.update(_:onConflict:set:)`. Then none is changed.
  @discardableResult
  nonisolated(nonsending)
    public func update<Subject: Record>(
      _ query: Query<Subject>, onConflict policy: ConflictPolicy = .refuse,
      durability: Durability? = nil, set change: (inout Subject) throws -> Void
    ) async throws -> Int
  {
    try await write(durability: durability) { transaction in
      try transaction.update(query, onConflict: policy, set: change)
    }
  }

  /// Writes records, in a transaction of its own: adds each, or replaces the one with its primary key.
  ///
  /// ```swift
  /// try await store.save(contentsOf: items)
  /// ```
  ///
  /// - Throws: as `write` and `WriteTransaction.save(contentsOf:onConflict:)`. Then none is written.
  nonisolated(nonsending)
    public func save<Records: Sequence>(
      contentsOf records: Records, onConflict policy: ConflictPolicy = .refuse,
      durability: Durability? = nil
    ) async throws where Records.Element: Record
  {
    try await write(durability: durability) { transaction in
      try transaction.save(contentsOf: records, onConflict: policy)
    }
  }

  /// Imports sources, in a transaction of its own: finds the record of each by an identifier, and writes what `make` makes
  /// of both. If the task is cancelled, nothing is imported. The closures are isolated as the caller is.
  ///
  /// - Parameters:
  ///   - sources: Things of any type. All of them are in memory until the import ends.
  ///   - id: Returns the identifier of a source. A source without one is skipped.
  ///   - uniqueID: The unique property that identifiers are of; nil for the primary key.
  ///   - preProcess: Called before the first record is made, with the sources by identifier; it may remove and add some.
  ///   - durability: When the commit is acknowledged; nil for the durability that the store was opened with.
  ///   - make: Called with each source and its record, which is nil if there is none; returns the record to write, or nil to
  ///     skip the source.
  /// - Returns: The numbers of records that were inserted, updated and left as they are.
  /// - Complexity: As that of `WriteTransaction.importRecords`, and a commit.
  /// - Throws: as `write` and `WriteTransaction.importRecords`; `CancellationError`. Then nothing is imported.
  @discardableResult
  nonisolated(nonsending)
    public func importRecords<
      Subject: Record, Sources: Sequence, ID: FieldValueConvertible & Hashable
    >(
      _ type: Subject.Type, from sources: Sources, id: (Sources.Element) throws -> ID?,
      uniqueID: PartialKeyPath<Subject>? = nil,
      preProcess: ((inout [ID: Sources.Element]) throws -> Void)? = nil,
      durability: Durability? = nil,
      _ make: (Sources.Element, Subject?) throws -> Subject?
    ) async throws -> ImportReport
  {
    try await write(durability, nil, on: .working) { transaction in
      try transaction.importRecords(
        type, from: sources, id: id, uniqueID: uniqueID, preProcess: preProcess
      ) { (source: Sources.Element, existing: Subject?) throws -> Subject? in
        try Task.checkCancellation()
        return try make(source, existing)
      }
    }
  }

  /// Imports records from JSON, in a transaction of its own: adds each, or replaces the one with its primary key.
  ///
  /// - Parameters:
  ///   - data: An array of objects, or objects that follow one another, as lines do.
  ///   - decoder: Decodes each object, unless they are merged.
  ///   - isMerging: True if fields that an object does not have stay as they are.
  ///   - durability: When the commit is acknowledged; nil for the durability that the store was opened with.
  /// - Returns: The numbers of records that were inserted, updated and left as they are.
  /// - Throws: as the synchronous one. Then nothing is imported.
  @discardableResult
  nonisolated(nonsending)
    public func importRecords<Subject: Record>(
      _ type: Subject.Type, decoding data: Data, using decoder: JSONDecoder = JSONDecoder(),
      merging isMerging: Bool = false, durability: Durability? = nil
    ) async throws -> ImportReport
  {
    try await write(durability, nil, on: .working) { transaction in
      try transaction.importRecords(type, decoding: data, using: decoder, merging: isMerging)
    }
  }
}

// MARK: - The store as a whole

extension PersistentStore {
  /// Suspends until all commits made so far are on the disk, and shows them to readers in other processes.
  ///
  /// ```swift
  /// try await store.flush()
  /// ```
  ///
  /// - Throws: as the synchronous one.
  @concurrent
  public func flush() async throws(StoreError) {
    try await TaskThreads.working.run { () throws(StoreError) in try flush() }
  }

  /// Closes the store while the task is suspended, also if it is cancelled.
  ///
  /// ```swift
  /// try await store.close()
  /// ```
  ///
  /// - Throws: as the synchronous one.
  @concurrent
  public func close() async throws(StoreError) {
    try await TaskThreads.working.run { () throws(StoreError) in try close() }
  }

  /// Does the work that is left of a deferred migration, or a part of it, while the task is suspended. If the task is cancelled, it
  /// ends after a slice.
  ///
  /// ```swift
  /// while try await store.finishMigration(budget: .time(.seconds(1))) {}
  /// ```
  ///
  /// - Returns: True if anything is left.
  /// - Throws: as the synchronous one; `CancellationError`. Slices that were committed stay so.
  @discardableResult
  @concurrent
  public func finishMigration(budget: WorkBudget = .unlimited) async throws -> Bool {
    let isLeft = try await TaskThreads.working.run { () throws(StoreError) in
      try finishMigration(within: budget, endsWhenCancelled: true)
    }
    if isLeft { try Task.checkCancellation() }
    return isLeft
  }

  /// Reclaims the space of blobs that nothing refers to, while the task is suspended. If the task is cancelled, it ends after a
  /// slice.
  ///
  /// ```swift
  /// try await store.collectBlobs()
  /// ```
  ///
  /// - Returns: True if there is more to do.
  /// - Throws: as the synchronous one; `CancellationError`. Blobs that were moved by then stay moved.
  @discardableResult
  @concurrent
  public func collectBlobs(_ budget: BlobBudget = .unlimited) async throws -> Bool {
    let isLeft = try await TaskThreads.working.run { () throws(StoreError) in
      try collectBlobs(within: budget, endsWhenCancelled: true)
    }
    if isLeft { try Task.checkCancellation() }
    return isLeft
  }

  /// Does a part of a compaction while the task is suspended.
  ///
  /// ```swift
  /// while try await store.compactionStep() {}
  /// ```
  ///
  /// - Returns: True if there is more to do.
  /// - Throws: as the synchronous one.
  @discardableResult
  @concurrent
  package func compactionStep(
    _ options: CompactionOptions = CompactionOptions(scope: .segments),
    budget: WorkBudget = .bytes(32 << 20)
  ) async throws(StoreError) -> Bool {
    try await TaskThreads.working.run { () throws(StoreError) in
      try compactionStep(options, budget: budget)
    }
  }

  /// Drops the states that are kept of all versions before `version`, while the task is suspended; of all versions by default.
  ///
  /// ```swift
  /// try await store.dropKeptVersions(before: 3)
  /// ```
  ///
  /// - Throws: as the synchronous one.
  @concurrent
  public func dropKeptVersions(before version: Int = .max) async throws(StoreError) {
    try await TaskThreads.working.run { () throws(StoreError) in
      try dropKeptVersions(before: version)
    }
  }
}

// MARK: - Stores that are not open

extension PersistentStore {
  /// Plans the migration of the store at `path` to the model's version while the task is suspended, and returns it to be
  /// rehearsed and run.
  ///
  /// ```swift
  /// let migration = try await PersistentStore.migration(at: "shop.cambium", to: model, steps: steps)
  /// try await migration.run()
  /// ```
  ///
  /// - Parameter steps: The steps that do not follow from the descriptions.
  /// - Throws: as the synchronous one.
  @concurrent
  public static func migration(
    at path: String, to model: StoreModel, steps: [MigrationStep] = [],
    options: StoreOptions = StoreOptions()
  ) async throws(StoreError) -> Migration {
    try await TaskThreads.working.run { () throws(StoreError) in
      try Migration(path, model, steps, options)
    }
  }

  /// Rolls the store at `path` back to its state before it was migrated from `version`, while the task is suspended.
  ///
  /// ```swift
  /// try await PersistentStore.rollback(at: "shop.cambium", to: 1)
  /// ```
  ///
  /// - Parameters:
  ///   - version: One of `keptVersions`.
  ///   - discardingCommits: True to discard the commits made since the migration.
  /// - Throws: as the synchronous one.
  @concurrent
  public static func rollback(
    at path: String, to version: Int, discardingCommits: Bool = false,
    options: StoreOptions = StoreOptions()
  ) async throws(StoreError) {
    try await TaskThreads.working.run { () throws(StoreError) in
      try rollback(at: path, to: version, discardingCommits: discardingCommits, options: options)
    }
  }

  /// Checks the store at `path` for damage while the task is suspended, and returns every fault.
  ///
  /// ```swift
  /// let check = try await PersistentStore.check(at: "shop.cambium", .deep)
  /// ```
  ///
  /// - Parameter progress: Called often, on a thread of the library.
  /// - Complexity: linear in the bytes of the pages; the deep one also in records, with a lookup for each index entry.
  /// - Throws: as the synchronous one. Damage is not thrown.
  @concurrent
  public static func check(
    at path: String, _ depth: StoreCheck.Depth = .quick, options: StoreOptions = StoreOptions(),
    progress: @escaping @Sendable (StoreCheck.Progress) -> Void = { _ in }
  ) async throws(StoreError) -> StoreCheck {
    try await TaskThreads.working.run { () throws(StoreError) in
      try check(at: path, depth, options: options, progress: progress)
    }
  }

  /// Copies the readable part of a store that cannot be opened any more into a new store, while the task is suspended.
  ///
  /// ```swift
  /// let report = try await PersistentStore.salvage(at: "broken.cambium", to: "saved.cambium")
  /// ```
  ///
  /// - Returns: The counts of copied records, and the missing parts.
  /// - Throws: as the synchronous one.
  @discardableResult
  @concurrent
  public static func salvage(
    at path: String, to newPath: String, options: SalvageOptions = SalvageOptions()
  ) async throws(StoreError) -> SalvageReport {
    try await TaskThreads.working.run { () throws(StoreError) in
      try SalvageRun.run(from: path, to: newPath, options)
    }
  }

  /// Returns the content of the store at `path`, without needing a model, while the task is suspended.
  ///
  /// ```swift
  /// let found = try await PersistentStore.inspect(at: "shop.cambium")
  /// ```
  ///
  /// - Throws: as the synchronous one.
  @concurrent
  public static func inspect(
    at path: String, options: StoreOptions = StoreOptions()
  ) async throws(StoreError) -> StoreInspection {
    try await TaskThreads.working.run { () throws(StoreError) in
      try inspect(at: path, options: options)
    }
  }

  /// Deletes the store in the directory at `path`, and the directory, while the task is suspended.
  ///
  /// ```swift
  /// try await PersistentStore.delete(at: "shop.cambium")
  /// ```
  ///
  /// - Throws: as the synchronous one.
  @concurrent
  public static func delete(at path: String) async throws(StoreError) {
    try await TaskThreads.working.run { () throws(StoreError) in try delete(at: path) }
  }

  /// Moves the store in the directory at `path` to another path of the same file system, while the task is suspended.
  ///
  /// ```swift
  /// try await PersistentStore.move(from: "shop.cambium", to: "old/shop.cambium")
  /// ```
  ///
  /// - Throws: as the synchronous one.
  @concurrent
  public static func move(from path: String, to newPath: String) async throws(StoreError) {
    try await TaskThreads.working.run { () throws(StoreError) in
      try move(from: path, to: newPath)
    }
  }

  /// Puts the store in the directory at `newPath` in the place of the one at `path`, which is deleted, while the task is
  /// suspended.
  ///
  /// ```swift
  /// try await PersistentStore.replace(at: "shop.cambium", with: "restored.cambium")
  /// ```
  ///
  /// - Throws: as the synchronous one.
  @concurrent
  public static func replace(at path: String, with newPath: String) async throws(StoreError) {
    try await TaskThreads.working.run { () throws(StoreError) in
      try replace(at: path, with: newPath)
    }
  }
}

extension Migration {
  /// Does everything that the run would do on the real records, except for switching the store to the new version, while the
  /// task is suspended. `progress` can be read meanwhile; cancelling the task ends it as `cancel()` does.
  ///
  /// ```swift
  /// print(try await migration.rehearse())
  /// ```
  ///
  /// - Throws: as `run()`.
  @discardableResult
  @concurrent
  public func rehearse() async throws(StoreError) -> MigrationReport {
    try await TaskThreads.working.run { () throws(StoreError) in try rehearse() }
  }

  /// Migrates the store to the model's version while the task is suspended. `progress` can be read meanwhile; cancelling the
  /// task ends it as `cancel()` does.
  ///
  /// ```swift
  /// let progress = migration.progress
  /// async let report = migration.run()
  /// for await step in progress { print(step.fraction) }
  /// print(try await report)
  /// ```
  ///
  /// - Throws: as the synchronous one.
  @discardableResult
  @concurrent
  public func run() async throws(StoreError) -> MigrationReport {
    try await TaskThreads.working.run { () throws(StoreError) in try run() }
  }
}

extension StoreGroup {
  /// Opens the stores of a model's configurations, or creates them, while the task is suspended.
  ///
  /// - Parameters:
  ///   - paths: The directory of each store, by the name of its configuration. Configurations without one are not opened.
  ///   - steps: The steps of each store's migration that do not follow from the descriptions, by configuration.
  ///   - migration: How stores of an older version are migrated, or that they are refused.
  /// - Throws: as the synchronous one; `StoreError.migrationCancelled`. No store is then left open.
  public init(
    _ model: StoreModel, at paths: [String: String], steps: [String: [MigrationStep]] = [:],
    migration: MigrationMode = .automatic, options: StoreOptions = StoreOptions()
  ) async throws(StoreError) {
    self = try await TaskThreads.working.run { () throws(StoreError) in
      try StoreGroup(model, at: paths, steps: steps, migration: migration, options: options)
    }
  }

  /// Closes all stores while the task is suspended.
  ///
  /// - Throws: as the synchronous one.
  @concurrent
  public func close() async throws(StoreError) {
    try await TaskThreads.working.run { () throws(StoreError) in try close() }
  }
}
