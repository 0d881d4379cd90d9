import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Every call on an engine, with its threads, in every state of its life.
@Suite("Calls in every state of an engine", .serialized)
struct EngineCallTests {
  private typealias MemoryEngine = Engine

  enum State: CaseIterable {
    case open
    case failed
    /// Another thread closes it, and waits for a transaction that has begun.
    case closing
    case closed
    case failedAndClosed
  }

  enum Call: CaseIterable {
    case write
    case writeRelaxed
    case writeInTask
    case writeRelaxedInTask
    case flush
    case seal
    case fold
    case compact
    case snapshot
    case spaceUsage
    case awaitFlush
    case restore
    case upgrade
    case abandon
    case close

    func answer(in state: State) -> LifeAnswer {
      switch (self, state) {
      // It is closed already, or this waits until it is.
      case (.close, .failed): .poisoned
      case (.close, _), (.abandon, _): .returned
      // Everything is flushed.
      case (.awaitFlush, _): .returned
      // What it looks for comes after the engine's life.
      case (.restore, .open): .notKept
      case (_, .open): .returned
      case (_, .closed), (_, .failedAndClosed): .closed
      case (.flush, _), (.snapshot, _), (.spaceUsage, _): .returned
      case (.seal, .closing): .returned
      case (_, .closing): .closed
      case (_, .failed): .poisoned
      }
    }
  }

  @Test(arguments: State.allCases, Call.allCases)
  func `every call returns, or says why not`(state: State, call: Call) async throws {
    let engine = try MemoryEngine.open(InMemoryFileSystem())
    let threads = try EngineThreads(for: engine)
    try engine.put([1], [1])
    let (others, mayEnd) = (Crew(), Signal())
    try await bring(engine, threads, to: state, others, until: mayEnd)
    let crew = Crew()
    let answer = Guarded<LifeAnswer?>(nil)
    let number = engine.commits.lastSequence
    if call == .close || call == .abandon { mayEnd.set() }
    crew.startTasks { _ in
      let result = await LifeAnswer { try await Self.make(call, on: engine, threads, number) }
      answer.withLock { $0 = result }
    }
    try #require(await crew.ends())
    mayEnd.set()
    try #require(await others.ends())
    #expect(answer.withLock { $0 } == call.answer(in: state))
    try? threads.close()
    #expect(engine.isClosed)
  }

  private func bring(
    _ engine: MemoryEngine, _ threads: EngineThreads, to state: State,
    _ others: Crew, until mayEnd: Signal
  ) async throws {
    if state == .failed || state == .failedAndClosed {
      engine.locked { engine.poison(.full(path: "here")) }
    }
    switch state {
    case .open, .failed: break
    case .closed, .failedAndClosed: try? threads.close()
    case .closing:
      let entered = Signal()
      try others.start { _ in
        try? engine.write(.relaxed) { _ in
          entered.set()
          mayEnd.wait()
        }
      }
      try #require(await comesTrue { entered.isSet })
      try others.start { _ in try? threads.close() }
      try #require(await engine.reaches(engine.life.stage == .closing))
    }
  }

  private static func make(
    _ call: Call, on engine: MemoryEngine, _ threads: EngineThreads,
    _ number: UInt64
  ) async throws {
    switch call {
    case .write: try engine.put([2], [2])
    case .writeRelaxed: try engine.put([2], [2], .relaxed)
    case .writeInTask: try await engine.putInTask([2], [2])
    case .writeRelaxedInTask: try await engine.putInTask([2], [2], .relaxed)
    case .flush: try engine.flush()
    case .seal: try engine.seal()
    case .fold: try engine.foldEverything()
    case .compact: _ = try engine.compact(CompactionRequest(scope: .segments))
    case .snapshot: _ = try engine.snapshot()
    case .spaceUsage: _ = try engine.spaceUsage()
    case .awaitFlush: try await engine.awaitFlush(through: number)
    case .restore: try engine.restore(1) { _ in }
    case .upgrade:
      try engine.upgrade(SoughtUpgrade(tree: engine.names.slot(of: "t"), count: 1))
    case .abandon:
      engine.abandon()
      threads.end()
    case .close: try threads.close()
    }
  }
}

extension Engine {
  func putInTask(
    _ key: Bytes, _ value: Bytes, _ durability: Durability = .durable
  ) async throws {
    let slot = try names.slot(of: "t")
    try await write(durability) { transaction in
      try transaction.put(key.rawSpan, value.rawSpan, schemaVersion: 1, in: slot)
    }
  }
}
