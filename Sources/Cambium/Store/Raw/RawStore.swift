/// A store of ordered maps of bytes, with transactions, and without a schema.
///
/// The engine as it is, for benchmarks and tests. Programs use a store of records.
package final class RawStore: Sendable {
  private let medium: PosixFileSystem
  private let engine: Engine
  private let threads: EngineThreads

  /// Opens the store in the directory at `path`, or makes it.
  ///
  /// - Throws: `.locked` if it is open for writing anywhere; `.missing`, `.corrupt`, `.newerFormat`,
  ///   `.networkFileSystem`, `.full`, `.io`.
  package init(at path: String, options: RawStoreOptions = RawStoreOptions()) throws(StoreError) {
    medium = try PosixFileSystem(
      at: path, creating: true, allowingNetwork: options.allowsNetworkFileSystems)
    let fitting = options.engine.fitting(volume: medium.volumeSize)
    let recovered = try Recovery.run(in: medium, options: fitting, creating: true) {
      var random = SystemRandomNumberGenerator()
      return random.next()
    }
    engine = Engine(recovered, options: fitting)
    threads = try EngineThreads(for: engine)
  }

  /// The bytes written to files since the store was opened: pages, log and headers.
  package var bytesWritten: Int { medium.bytesWritten }

  /// The report of opening.
  package var report: OpenReport { engine.report }

  /// The tree `name`, whether or not it has entries.
  ///
  /// - Throws: `.limitExceeded` if the name is longer than 255 bytes.
  package func tree(_ name: String) throws(StoreError) -> RawTreeName {
    RawTreeName(slot: try engine.names.slot(of: name))
  }

  /// Lends `body` a transaction, and commits it when `body` returns. If `body` throws, nothing happened.
  ///
  /// - Throws: errors of `body`; `.outcomeUnknown`, `.poisoned`, `.full`, `.reentrant`, `.closed`,
  ///   `.forked`.
  package func write<Value: ~Copyable>(
    durability: Durability = .durable, _ body: (inout RawTransaction) throws -> Value
  ) throws -> Value {
    var value: Value?
    try engine.write(durability) { transaction in
      var lent = RawTransaction(transaction)
      value = try body(&lent)
    }
    guard let value else { preconditionFailure("a commit without its body") }
    return value
  }

  /// Writes from a task: waiting for other writers and for the flush suspends; `body` runs on the caller's
  /// task.
  nonisolated(nonsending) package func write<Value: ~Copyable>(
    durability: Durability = .durable, _ body: (inout RawTransaction) throws -> Value
  ) async throws -> Value {
    var value: Value?
    try await engine.write(durability) { transaction in
      var lent = RawTransaction(transaction)
      value = try body(&lent)
    }
    guard let value else { preconditionFailure("a commit without its body") }
    return value
  }

  /// The newest committed state, which stays as it is for as long as it is held.
  ///
  /// - Throws: `.closed`, `.forked`.
  package func snapshot() throws(StoreError) -> RawSnapshot { RawSnapshot(try engine.snapshot()) }

  /// Waits until all commits made so far are on the disk.
  package func flush() throws(StoreError) { try engine.flush() }

  /// Waits until everything is in the trees and the log holds nothing that is not.
  package func fold() throws(StoreError) { try engine.foldEverything() }

  /// As `PersistentStore.compact`.
  @discardableResult
  package func compact(
    _ options: CompactionOptions = CompactionOptions(),
    progress: (CompactionProgress) throws -> Void = { _ in }
  ) throws -> CompactionReport {
    try CompactionRun.run(engine, options, Pause(), progress)
  }

  /// As `PersistentStore.backUp`.
  @discardableResult
  package func backUp(
    to path: String, progress: (BackupProgress) throws -> Void = { _ in }
  ) throws -> BackupReport {
    let access = try (engine.medium as? PosixFileSystem)?.access()
    return try BackupRun.run(to: path, like: access, progress) {
      medium, monitor throws(StoreError) in
      try Backup(of: engine.snapshot(), engine.names, monitor).run(into: medium)
    }
  }

  /// Puts everything into the trees and ends the store. Snapshots can still be read.
  ///
  /// - Throws: `.full`, `.io`, `.poisoned`, `.outcomeUnknown`: nothing that was acknowledged is lost, and the store is
  ///   closed. `.reentrant` inside a write, `.forked`: it stays open. Closing again does nothing.
  package func close() throws(StoreError) {
    try threads.close()
  }
}

/// How a raw store keeps and reads its data.
package struct RawStoreOptions: Hashable, Sendable {
  var engine = EngineOptions()
  /// True if a directory on a network file system is accepted.
  package var allowsNetworkFileSystems = false

  package init() {
    engine.overlayScaleMax = StoreOptions.overlayScaleMax
    engine.levelRatio = StoreOptions.levelRatio
  }
}

/// One of a raw store's trees.
package struct RawTreeName: Hashable, Sendable {
  let slot: TreeSlot
}

// MARK: - Writing

/// A write transaction, lent to a closure for as long as that runs. It cannot be kept: it is neither copied
/// nor taken out of the closure.
package struct RawTransaction: ~Copyable {
  private let transaction: Transaction

  init(_ transaction: Transaction) {
    self.transaction = transaction
  }

  /// Gives `key` a value, whether or not it has one.
  ///
  /// - Throws: `.limitExceeded`, `.corrupt`, `.io`; then this call did nothing. Of a transaction larger than its
  ///   budget also `.full` and `.io` for good: it cannot be committed, unless a savepoint takes that back.
  package mutating func put(
    _ key: RawSpan, _ value: RawSpan, in tree: RawTreeName
  ) throws(StoreError) {
    try transaction.put(key, value, schemaVersion: 1, in: tree.slot)
  }

  /// Takes `key` out. False if it is not there.
  ///
  /// - Throws: `.corrupt`, `.io`; then this call did nothing.
  @discardableResult
  package mutating func remove(_ key: RawSpan, in tree: RawTreeName) throws(StoreError) -> Bool {
    try transaction.remove(key, in: tree.slot)
  }

  /// A copy of the value of `key`, as changed so far; nil if there is none.
  package func value(for key: RawSpan, in tree: RawTreeName) throws(StoreError) -> [UInt8]? {
    var value: [UInt8] = []
    return try transaction.tree(tree.slot).copyValue(for: key, to: &value) ? value : nil
  }
}

// MARK: - Reading

/// One committed state of a raw store. Any number of threads may read it.
package final class RawSnapshot: Sendable {
  private let snapshot: Snapshot

  init(_ snapshot: Snapshot) {
    self.snapshot = snapshot
  }

  /// The last commit that is in it.
  package var sequence: UInt64 { snapshot.state.sequence }

  /// One of the trees, as the snapshot has it. It keeps the snapshot.
  package subscript(_ tree: RawTreeName) -> RawSnapshotTree {
    RawSnapshotTree(snapshot, snapshot.tree(tree.slot))
  }
}

/// A tree of a snapshot.
package final class RawSnapshotTree: Sendable {
  private let snapshot: Snapshot
  private let tree: LayeredTree

  init(_ snapshot: Snapshot, _ tree: LayeredTree) {
    self.snapshot = snapshot
    self.tree = tree
  }

  /// The number of entries. Constant time.
  package var count: Int { tree.count }

  /// The number of changes in the level over the tree.
  package var levelChangeCount: Int { tree.level?.changeCount ?? 0 }

  /// The number of entries with keys from `low` on and below `high`; nil is without bound.
  ///
  /// - Complexity: O(log count).
  /// - Throws: `.corrupt`, `.io`.
  package func count(from low: [UInt8]?, upTo high: [UInt8]?) throws(StoreError) -> Int {
    try tree.count(from: low, upTo: high)
  }

  /// The value of `key`, in place; nil if there is none, or if it has pages of its own.
  ///
  /// - Throws: `.corrupt`, `.io`.
  @_lifetime(borrow self)
  package func value(for key: RawSpan) throws(StoreError) -> RawSpan? {
    let tree = tree
    guard let entry = try tree.entry(for: key), !entry.isExternal else { return nil }
    return unsafe _overrideLifetime(entry.storedValue, borrowing: self)
  }

  /// A copy of the value of `key`, wherever it is; nil if there is none.
  ///
  /// - Throws: `.corrupt`, `.io`.
  package func copyValue(for key: RawSpan) throws(StoreError) -> [UInt8]? {
    var value: [UInt8] = []
    return try tree.copyValue(for: key, to: &value) ? value : nil
  }

  /// A cursor that stands nowhere yet.
  package func cursor() -> RawSnapshotCursor { RawSnapshotCursor(snapshot, LayeredCursor(tree)) }
}

/// A place in a tree of a snapshot. It keeps the snapshot.
package final class RawSnapshotCursor {
  private let snapshot: Snapshot
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private var cursor: LayeredCursor

  init(_ snapshot: Snapshot, _ cursor: consuming LayeredCursor) {
    self.snapshot = snapshot
    unsafe self.cursor = cursor
  }

  /// Goes to the first entry; false if there is none.
  package func first() throws(StoreError) -> Bool { try unsafe cursor.first() }

  /// Goes to the first entry not below `key`; false if there is none.
  package func seek(to key: RawSpan) throws(StoreError) -> Bool { try unsafe cursor.seek(to: key) }

  /// Moves on; false after the last entry.
  package func next() throws(StoreError) -> Bool { try unsafe cursor.next() }

  /// The key of the entry, until the cursor moves.
  package var key: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(cursor.key, borrowing: self) }
  }

  /// The value of the entry, or the reference to its pages, until the cursor moves.
  package var value: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(cursor.storedValue, borrowing: self) }
  }
}
