/// The engine under a store, whichever medium it is on, and whether it writes.
protocol StoreBackend: AnyObject, Sendable {
  var path: String { get }
  /// Whether it only reads what another process may be writing.
  var isFollowing: Bool { get }
  var names: TreeNames { get }
  var report: OpenReport { get }

  /// - Throws: `.closed`, `.forked`.
  func snapshot() throws(StoreError) -> StoreSnapshot.StoreState

  /// The newest state, also of a store that was closed; nil in a forked child.
  func lastSnapshot() -> StoreSnapshot.StoreState?

  var progress: CommitProgress { get }

  /// The last commit that may have been begun by now. Who begins one later sees what was done before.
  var begunSequence: UInt64 { get }

  /// Lends `body` a transaction's trees, and commits when it returns.
  func write(_ durability: Durability, _ body: (TreeChanges) throws -> Void) throws

  nonisolated(nonsending)
    func write(_ durability: Durability, _ body: (TreeChanges) throws -> Void) async throws

  /// Takes in what another process committed, and says so to those who observe. False where nothing is new.
  func refresh(_ hub: ObservationHub) throws(StoreError) -> Bool
  func flush() throws(StoreError)
  func fold() throws(StoreError)
  func close() throws(StoreError)
}

/// A store that is written to, in a directory.
final class WritingBackend: StoreBackend {
  private let engine: Engine<PosixFileSystem>
  private let threads: EngineThreads<PosixFileSystem>

  init(at path: String, _ options: StoreOptions) throws(StoreError) {
    let creates = options.access == .writing
    let medium = try PosixFileSystem(
      at: path, creating: creates, allowingNetwork: options.allowsNetworkFileSystems)
    engine = try Engine.open(medium, options.engine, creating: creates)
    threads = try EngineThreads(for: engine)
  }

  deinit {
    threads.end()
    engine.abandon()
  }

  var path: String { engine.medium.path }
  var isFollowing: Bool { false }
  var names: TreeNames { engine.names }
  var report: OpenReport { engine.report }

  func snapshot() throws(StoreError) -> StoreSnapshot.StoreState {
    .posix(SnapshotTrees(try engine.snapshot()))
  }

  func lastSnapshot() -> StoreSnapshot.StoreState? {
    do throws(StoreError) { try engine.checkProcess() } catch { return nil }
    return .posix(SnapshotTrees(engine.lastSnapshot()))
  }

  var progress: CommitProgress { engine.commitProgress }
  var begunSequence: UInt64 { engine.begunSequence }

  func write(_ durability: Durability, _ body: (TreeChanges) throws -> Void) throws {
    try engine.write(durability) { transaction in
      try body(.posix(TransactionTrees(transaction)))
    }
  }

  nonisolated(nonsending)
    func write(_ durability: Durability, _ body: (TreeChanges) throws -> Void) async throws
  {
    try await engine.write(durability) { transaction in
      try body(.posix(TransactionTrees(transaction)))
    }
  }

  func refresh(_ hub: ObservationHub) throws(StoreError) -> Bool { false }
  func flush() throws(StoreError) { try engine.flush() }
  func fold() throws(StoreError) { try engine.foldEverything() }

  func close() throws(StoreError) {
    defer { threads.end() }
    try engine.close()
  }
}

/// A store in memory, gone with its last user.
final class MemoryBackend: StoreBackend {
  private let engine: Engine<InMemoryFileSystem>
  private let threads: EngineThreads<InMemoryFileSystem>

  init(_ options: StoreOptions) throws(StoreError) {
    engine = try Engine.open(InMemoryFileSystem(), options.engine, creating: true)
    threads = try EngineThreads(for: engine)
  }

  deinit {
    threads.end()
    engine.abandon()
  }

  var path: String { engine.medium.path }
  var isFollowing: Bool { false }
  var names: TreeNames { engine.names }
  var report: OpenReport { engine.report }

  func snapshot() throws(StoreError) -> StoreSnapshot.StoreState {
    .memory(SnapshotTrees(try engine.snapshot()))
  }

  func lastSnapshot() -> StoreSnapshot.StoreState? {
    do throws(StoreError) { try engine.checkProcess() } catch { return nil }
    return .memory(SnapshotTrees(engine.lastSnapshot()))
  }

  var progress: CommitProgress { engine.commitProgress }
  var begunSequence: UInt64 { engine.begunSequence }

  func write(_ durability: Durability, _ body: (TreeChanges) throws -> Void) throws {
    try engine.write(durability) { transaction in
      try body(.memory(TransactionTrees(transaction)))
    }
  }

  nonisolated(nonsending)
    func write(_ durability: Durability, _ body: (TreeChanges) throws -> Void) async throws
  {
    try await engine.write(durability) { transaction in
      try body(.memory(TransactionTrees(transaction)))
    }
  }

  func refresh(_ hub: ObservationHub) throws(StoreError) -> Bool { false }
  func flush() throws(StoreError) { try engine.flush() }
  func fold() throws(StoreError) { try engine.foldEverything() }

  func close() throws(StoreError) {
    defer { threads.end() }
    try engine.close()
  }
}

/// A store that is only read, in a directory.
final class ReadingBackend: StoreBackend {
  private let follower: Follower<PosixFileSystem>
  let path: String
  private let closing = ThreadLock()
  private nonisolated(unsafe) var isClosed = false

  init(at path: String, _ options: StoreOptions) throws(StoreError) {
    let medium = try PosixFileSystem(
      at: path, allowingNetwork: options.allowsNetworkFileSystems)
    self.path = medium.path
    follower = try Follower(medium, options: options.engine)
  }

  var isFollowing: Bool { true }
  var names: TreeNames { follower.names }
  var report: OpenReport {
    var report = OpenReport()
    report.sequence = follower.snapshot().state.sequence
    return report
  }

  func snapshot() throws(StoreError) -> StoreSnapshot.StoreState {
    try checkOpen()
    return .posix(SnapshotTrees(follower.snapshot()))
  }

  func lastSnapshot() -> StoreSnapshot.StoreState? { .posix(SnapshotTrees(follower.snapshot())) }

  var progress: CommitProgress { follower.progress }
  var begunSequence: UInt64 { follower.begunSequence }

  func write(_ durability: Durability, _ body: (TreeChanges) throws -> Void) throws {
    throw StoreError.readOnly(path: path)
  }

  nonisolated(nonsending)
    func write(_ durability: Durability, _ body: (TreeChanges) throws -> Void) async throws
  {
    throw StoreError.readOnly(path: path)
  }

  func refresh(_ hub: ObservationHub) throws(StoreError) -> Bool {
    try checkOpen()
    let notes = hub.notes()
    let isNew = try follower.refresh(noting: notes) { first, last in
      hub.announce(notes, first, last, by: nil)
    }
    if isNew, hub.isObserved { hub.publish(progress) }
    return isNew
  }

  func flush() throws(StoreError) { try checkOpen() }
  func fold() throws(StoreError) { throw .readOnly(path: path) }

  func close() throws(StoreError) {
    try checkOpen()
    closing.lock()
    defer { closing.unlock() }
    unsafe isClosed = true
  }

  private func checkOpen() throws(StoreError) {
    closing.lock()
    defer { closing.unlock() }
    if unsafe isClosed { throw .closed(path: path) }
  }
}

extension Engine {
  fileprivate static func open(
    _ medium: Medium, _ options: EngineOptions, creating: Bool
  ) throws(StoreError) -> Engine {
    let recovered = try Recovery.run(in: medium, options: options, creating: creating) {
      var random = SystemRandomNumberGenerator()
      return random.next()
    }
    return Engine(recovered, options: options)
  }
}
