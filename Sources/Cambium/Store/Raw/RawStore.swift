/// A store of ordered maps of bytes, with transactions, and without a schema.
///
/// The engine as it is, open to benchmarks and tools through `@_spi(Raw)`. It promises nothing to stay as it
/// is; programs use a store of records.
@_spi(Raw) public final class RawStore: Sendable {
  private let medium: PosixFileSystem
  private let engine: Engine
  private let threads: EngineThreads

  /// Opens the store in the directory at `path`, or makes it.
  ///
  /// - Throws: `.locked` if it is open for writing anywhere; `.missing`, `.corrupt`, `.newerFormat`,
  ///   `.networkFileSystem`, `.full`, `.io`.
  public init(at path: String, options: RawStoreOptions = RawStoreOptions()) throws(StoreError) {
    medium = try PosixFileSystem(
      at: path, creating: true, allowingNetwork: options.allowsNetworkFileSystems)
    let recovered = try Recovery.run(in: medium, options: options.engine, creating: true) {
      var random = SystemRandomNumberGenerator()
      return random.next()
    }
    engine = Engine(recovered, options: options.engine)
    threads = try EngineThreads(for: engine)
  }

  /// The bytes written to files since the store was opened: pages, log and headers.
  public var bytesWritten: Int { medium.bytesWritten }

  /// What opening found.
  public var report: OpenReport { engine.report }

  /// The tree `name`, whether or not it has entries.
  ///
  /// - Throws: `.limitExceeded` if the name is longer than 255 bytes.
  public func tree(_ name: String) throws(StoreError) -> RawTreeName {
    RawTreeName(slot: try engine.names.slot(of: name))
  }

  /// Lends `body` a transaction, and commits it when `body` returns. If `body` throws, nothing happened.
  ///
  /// - Throws: what `body` throws; `.outcomeUnknown`, `.poisoned`, `.full`, `.reentrant`, `.closed`,
  ///   `.forked`.
  public func write<Value: ~Copyable>(
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

  /// The same for tasks: waiting for other writers and for the flush suspends; `body` runs on the caller's
  /// task.
  nonisolated(nonsending) public func write<Value: ~Copyable>(
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
  public func snapshot() throws(StoreError) -> RawSnapshot { RawSnapshot(try engine.snapshot()) }

  /// Waits until all commits made so far are on the medium.
  public func flush() throws(StoreError) { try engine.flush() }

  /// Waits until everything is in the trees and the log holds nothing that is not.
  public func fold() throws(StoreError) { try engine.foldEverything() }

  /// As `PersistentStore.compact`.
  @discardableResult
  public func compact(
    _ options: CompactionOptions = CompactionOptions(),
    progress: (CompactionProgress) throws -> Void = { _ in }
  ) throws -> CompactionReport {
    try CompactionRun.run(engine, options, Pause(), progress)
  }

  /// As `PersistentStore.backUp`.
  @discardableResult
  public func backUp(
    to path: String, progress: (BackupProgress) throws -> Void = { _ in }
  ) throws -> BackupReport {
    try BackupRun.run(to: path, progress) { medium, monitor throws(StoreError) in
      try Backup(of: engine.snapshot(), engine.names, monitor).run(into: medium)
    }
  }

  /// Puts everything into the trees and ends the store. Snapshots can still be read.
  ///
  /// - Throws: `.full`, `.io`, `.poisoned`, `.outcomeUnknown`: nothing that was acknowledged is lost, and the store is
  ///   closed. `.reentrant` inside a write, `.forked`: it stays open. Closing again does nothing.
  public func close() throws(StoreError) {
    try threads.close()
  }
}

/// How a raw store keeps and reads what it holds.
@_spi(Raw) public struct RawStoreOptions: Hashable, Sendable {
  var engine = EngineOptions()
  /// True if a directory on a network file system is accepted.
  public var allowsNetworkFileSystems = false

  public init() {}
}

/// One of a raw store's trees.
@_spi(Raw) public struct RawTreeName: Hashable, Sendable {
  let slot: TreeSlot
}
