import Dispatch
import Logging
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

private struct Entry: Record, Identifiable {
  var id: Int
  var text = ""

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "text", type: .string)
  }
}

private struct EntryOfText: Record {
  var id: String

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Entry")
    Field(primaryKey: true, name: "id", type: .string)
  }
}

/// The lines that a store's logger is given.
@Suite struct StoreLogTests {
  private let lines = KeptLog.Lines()
  private let model = StoreModel(records: [Entry.self])

  private var options: StoreOptions {
    var options = StoreOptions()
    options.logger = Logger(label: "test") { [lines] _ in KeptLog(lines: lines) }
    return options
  }

  /// The lines since they were asked for last.
  private func taken() -> [String] {
    lines.all.withLock { lines in
      defer { lines = [] }
      return lines
    }
  }

  @Test func `a store is opened, compacted, backed up and closed`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let store = try PersistentStore(at: path, model: model, options: options)
    #expect(taken() == ["info: Created the store [path replayed version]"])
    try store.write { try $0.save(Entry(id: 1)) }
    #expect(taken() == [])
    try store.compact()
    #expect(taken() == ["info: Compacted [after before elapsed]"])
    try store.backUp(to: path + "-copy")
    #expect(taken() == ["info: Backed up [bytes elapsed path]"])
    try store.close()
    #expect(taken() == ["debug: Closed the store [path]"])
    try PersistentStore(at: path, model: model, options: options).close()
    #expect(taken().first == "info: Opened the store [path replayed version]")
  }

  @Test func `what a task does is told as well`() async throws {
    let store = try PersistentStore(inMemory: model, options: options)
    _ = taken()
    try await store.compact()
    #expect(taken() == ["info: Compacted [after before elapsed]"])
    let error = await #expect(throws: StoreError.self) {
      try await store.write { _ in throw StoreError.full(path: "x") }
    }
    #expect(error != nil)
    #expect(taken().first?.hasPrefix("error: A commit failed: ") ?? false)
  }

  @Test func `a store that is not opened or is put aside is told of`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    try PersistentStore(at: path, model: model, options: options).close()
    _ = taken()
    let other = StoreModel(records: [EntryOfText.self])
    #expect(storeError { try PersistentStore(at: path, model: other, options: options) } != nil)
    let refused = taken()
    #expect(refused.count == 1)
    #expect(refused.first?.hasPrefix("error: The store was not opened: ") ?? false, "\(refused)")
    var replacing = options
    replacing.schemaMismatchPolicy = .setAside
    try PersistentStore(at: path, model: other, options: replacing).close()
    #expect(
      taken() == [
        "warning: A store that the model did not fit was put aside [path]",
        "info: Created the store [path replayed version]",
        "debug: Closed the store [path]",
      ])
  }

  @Test func `work that ends by an error is told of, and a commit that the medium fails`() throws {
    let medium = SimulatedFileSystem()
    let store = try PersistentStore(on: medium, model: model, options: options, seed: 1)
    _ = taken()
    #expect(storeError { try store.backUp(to: "/dev/null/store") } != nil)
    #expect(taken().first?.hasPrefix("error: The backup ended: ") ?? false)
    #expect(storeError { try store.write { _ in throw StoreError.full(path: "x") } } != nil)
    #expect(taken().first?.hasPrefix("error: A commit failed: ") ?? false)
    #expect(storeError { try store.insert(Entry(id: 1)) } == nil)
    #expect(storeError { try store.insert(Entry(id: 1)) } != nil)
    #expect(taken() == [], "what is wrong with a record is the program's to tell")
    #expect(throws: CancellationError.self) {
      try store.write { try $0.save(contentsOf: (0..<2_000).map { Entry(id: $0) }) }
      try store.compact { _ in throw CancellationError() }
    }
    #expect(taken().first?.hasPrefix("error: The compaction ended: ") ?? false)
  }

  @Test func `commits that fail one after the other are logged once in ten seconds`() throws {
    let store = try PersistentStore(inMemory: model, options: options)
    _ = taken()
    for _ in 0..<100 {
      #expect(storeError { try store.write { _ in throw StoreError.full(path: "x") } } != nil)
    }
    #expect(taken().count == 1)
    let (log, start) = (StoreLog(options.logger), ContinuousClock.now)
    for second in 0..<25 {
      log.failed(StoreError.full(path: "x"), at: start + .seconds(second))
    }
    let full = taken()
    #expect(full.count == 3, "\(full)")
    #expect(full.last?.contains("So did 9 others since the last such line.") ?? false, "\(full)")
    // Another error is another line, whenever it comes.
    log.failed(StoreError.closed(path: "x"), at: start + .seconds(25))
    log.failed(StoreError.full(path: "y"), at: start + .seconds(25))
    log.failed(StoreError.full(path: "x"), at: start + .seconds(25))
    #expect(taken().count == 2)
  }

  @Test func `what the background does is told by the engine's listener`() throws {
    let listener = try #require(options.engine.listener)
    listener.compactionEnded(.full(path: "x"))
    #expect(taken().first?.hasPrefix("error: The compaction in the background ended: ") ?? false)
    #expect(StoreOptions().engine.listener == nil)
  }
}

/// Reading in a task.
@Suite struct ConcurrentReadTests {
  /// An actor that reads, and sees on whose queue it does.
  private actor Reader {
    private static let isOwn = DispatchSpecificKey<Bool>()
    private let queue = QueueExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor {
      unsafe queue.asUnownedSerialExecutor()
    }

    init() { queue.queue.setSpecific(key: Self.isOwn, value: true) }

    /// Whether code runs on the actor's queue: the actor's own, and what is read.
    func holds(reading store: PersistentStore) async throws -> (actor: Bool, reading: Bool) {
      let isHeld = { @Sendable in DispatchQueue.getSpecific(key: Self.isOwn) ?? false }
      return (isHeld(), try await store.read { _ in isHeld() })
    }
  }

  /// A serial queue of its own.
  private final class QueueExecutor: SerialExecutor {
    let queue = DispatchQueue(label: "reader")

    func enqueue(_ job: consuming ExecutorJob) {
      let job = UnownedJob(job)
      queue.async { unsafe job.runSynchronously(on: self.asUnownedSerialExecutor()) }
    }
  }

  @Test func `a reading leaves the actor free, G14`() async throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Entry.self]))
    try await store.write { try $0.save(contentsOf: (0..<10).map { Entry(id: $0) }) }
    let held = try await Reader().holds(reading: store)
    #expect(held.actor)
    #expect(!held.reading)
  }

  @Test func `a task that is cancelled reads nothing`() async throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Entry.self]))
    let task = Task {
      while !Task.isCancelled { await Task.yield() }
      return try await store.read { try $0.count(Entry.self) }
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
  }
}
