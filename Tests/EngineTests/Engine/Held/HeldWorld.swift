import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// A store in which every call has something to do, with an engine whose threads are held.
final class HeldWorld: Sendable {
  let inner: InMemoryFileSystem
  let medium: HeldFileSystem
  let moments = Moments()
  let engine: Engine
  let threads: EngineThreads?
  private let failing: InterposedFileSystem

  static let options = {
    var options = EngineOptions.small(foldThreshold: 1 << 20)
    options.transactionBudget = 2000
    return options
  }()

  init(_ files: HeldFiles, hasThreads: Bool) throws {
    inner = try files.copied()
    failing = InterposedFileSystem(inner)
    medium = HeldFileSystem(failing, moments)
    let lock = ThreadLock()
    #if DEBUG
      lock.beforeLocking = { [moments] in moments.pass("lock") }
    #endif
    let recovered = try Recovery.run(in: medium, options: Self.options, creating: false) { 7 }
    engine = Engine(recovered, options: Self.options, lock: lock)
    try engine.put([1], [1])
    try engine.put([2], [1], .relaxed)
    threads = hasThreads ? try EngineThreads(for: engine) : nil
  }

  func bring(to condition: HeldCondition) {
    switch condition {
    case .sound: break
    case .poisoned: engine.locked { engine.poison(.full(path: "here")) }
    case .logFails:
      failing.failWriting { [.logFrameSync, .logHeaderSync].contains($0) ? .ioError : nil }
    case .pagesFail: failing.failWriting { $0 == .pageWrite ? .ioError : nil }
    case .full: failing.failWriting { $0 == .pageWrite ? .noSpace : nil }
    }
  }

  func heal() { failing.failWriting(nil) }

  /// Makes a call on a thread or in a task of its own, and hands what it answers to `note`.
  func start(
    _ call: HeldCall, _ key: Bytes, _ note: @escaping @Sendable (LifeAnswer) -> Void
  ) throws {
    if call.isOfTasks {
      Task.detached { note(await LifeAnswer { try await self.makeInTask(call, key) }) }
      return
    }
    _ = try BackgroundThread(name: "call") {
      let answer = LifeAnswer { try self.make(call, key) }
      // Whatever it says, another may open the store now.
      note(call.closes && !self.medium.isReleased ? .threw("before it was closed") : answer)
    }
  }

  private func makeInTask(_ call: HeldCall, _ key: Bytes) async throws {
    switch call {
    case .writeRelaxedInTask:
      try await engine.putInTask(key, [1], .relaxed)
    case .writeLargeInTask: try await engine.write(.durable, large(key))
    default: try await engine.putInTask(key, [1])
    }
  }

  private func make(_ call: HeldCall, _ key: Bytes) throws {
    switch call {
    case .write: try engine.put(key, [1])
    case .writeRelaxed: try engine.put(key, [1], .relaxed)
    case .writeLarge: try engine.write(.durable, large(key))
    case .writeInVain:
      do {
        try engine.write(.durable) { transaction in
          try transaction.put(key.rawSpan, key.rawSpan, schemaVersion: 1, in: slot)
          throw InVain()
        }
      } catch is InVain {}
    case .writeInTask, .writeRelaxedInTask, .writeLargeInTask: break
    case .flush: try engine.flush()
    case .seal: try engine.seal()
    case .fold: try engine.foldEverything()
    case .step: while try engine.step() {}
    case .compact: _ = try engine.compact(CompactionRequest(scope: .whole))
    case .snapshot: _ = try engine.snapshot()
    case .spaceUsage: _ = try engine.spaceUsage()
    case .restore:
      try engine.restore(1) { transaction in
        try transaction.put(key.rawSpan, key.rawSpan, schemaVersion: 1, in: slot)
      }
    case .upgrade: try engine.upgrade(SoughtUpgrade(tree: slot, count: 10))
    case .close: try close()
    case .abandon:
      engine.abandon()
      threads?.end()
    }
  }

  func close() throws {
    if let threads { try threads.close() } else { try engine.close() }
  }

  private var slot: TreeSlot {
    get throws { try engine.names.slot(of: "t") }
  }

  private func large(_ key: Bytes) throws -> (Transaction) throws -> Void {
    let slot = try slot
    return { transaction in
      for part in 0..<4 as Range<UInt8> {
        let value = Bytes(repeating: 1, count: 1000)
        let key = part == 3 ? key : key + [part]
        try transaction.put(key.rawSpan, value.rawSpan, schemaVersion: 1, in: slot)
      }
    }
  }

  private struct InVain: Error {}
}

/// The files of a store that has a kept state, garbage, and something in its log.
struct HeldFiles: Sendable {
  private let files: [(FileName, Bytes)]

  init() throws {
    let medium = InMemoryFileSystem()
    let engine = try Engine.open(medium, options: HeldWorld.options)
    for key in 3..<40 as Range<UInt8> { try engine.put([key], Bytes(repeating: key, count: 100)) }
    try engine.foldEverything()
    try engine.write(.durable) { $0.treeWork.keeping = [.keep(version: 1, label: "one")] }
    for part in [3..<12, 12..<20] as [Range<UInt8>] {
      engine.appender = engine.appender.successor()
      for key in part { try engine.put([key], [1]) }
      try engine.foldEverything()
    }
    let whole = CompactionRequest(scope: .whole)
    try agree(!whole.segments(of: engine.spaceUsage()).isEmpty, "nothing to compact")
    for key in 20..<30 as Range<UInt8> { try engine.put([key], [2]) }
    files = try medium.list(at: .test).map { ($0, try medium.contents(of: $0)) }
  }

  func copied() throws -> InMemoryFileSystem {
    let medium = InMemoryFileSystem()
    for (name, bytes) in files { _ = try medium.create(name, bytes) }
    return medium
  }
}
