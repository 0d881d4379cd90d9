import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Nobody takes the writer's turn again and again while others wait for it.
@Suite(.timeLimit(.minutes(60))) struct WriterTurnTests {
  enum Waiter: CaseIterable, Sendable {
    case thread, task

    /// Begins a commit that waits for the turn.
    ///
    /// - Returns: The task, if it is one, and what is set when the commit has returned.
    func begin(in engine: Engine) throws -> (Task<Void, Never>?, ended: Signal) {
      let ended = Signal()
      switch self {
      case .thread:
        _ = try BackgroundThread(name: "waiter") {
          try? engine.put([1], [1], .relaxed)
          ended.set()
        }
        return (nil, ended)
      case .task:
        let task = Task {
          try? await engine.putInTask([1], [1], .relaxed)
          ended.set()
        }
        return (task, ended)
      }
    }

    func isWaiting(in engine: Engine) -> Bool {
      switch self {
      case .thread: engine.figures.waitingThreads == 1
      case .task: engine.turnWaiters.count == 1
      }
    }
  }

  private let engine: Engine
  private let isOver = Signal()

  init() throws { engine = try Engine.open(InMemoryFileSystem()) }

  /// Holds the turn until `waiter` is overdue, takes it again before the waiter wakes, and returns with it when the next turn
  /// is reserved.
  private func reserve(
    for waiter: Waiter
  ) async throws -> (Task<Void, Never>?, ended: Signal) {
    // A thread of its own has the turn, as no task runs on that one.
    let (engine, isOver, isHeld) = (engine, isOver, Signal())
    _ = try BackgroundThread(name: "holder") {
      try? engine.locked { try engine.takeWriterTurn() }
      isHeld.set()
      isOver.wait()
    }
    isHeld.wait()
    let waiting = try waiter.begin(in: engine)
    try #require(await engine.reaches(waiter.isWaiting(in: engine)))
    try await Task.sleep(for: .milliseconds(10))
    engine.locked {
      let holder = engine.writer
      engine.giveWriterTurn()
      engine.writer = holder
    }
    try #require(await engine.reaches(engine.turnReservation != nil))
    return waiting
  }

  @Test(arguments: Waiter.allCases)
  func `the next turn is reserved for an overdue waiter`(waiter: Waiter) async throws {
    defer { isOver.set() }
    let (_, ended) = try await reserve(for: waiter)
    engine.locked {
      engine.giveWriterTurn()
      #expect(!engine.mayTakeTurn(nil))
    }
    #expect(await comesTrue { ended.isSet })
    #expect(try engine.value([1]) == [1])
    #expect(engine.locked { engine.turnReservation } == nil)
    try engine.put([2], [2], .relaxed)
  }

  /// No thread of the engine folds here: a thread that has the turn does.
  @Test func `while the store is full, a thread has the turn that was reserved for a task`()
    async throws
  {
    defer { isOver.set() }
    let large = Bytes(repeating: 7, count: 2 * engine.options.foldThreshold)
    try engine.put([3], large, .relaxed)
    let (_, ended) = try await reserve(for: .task)
    let slot = try engine.names.slot(of: "t")
    let transaction = engine.locked { engine.makeTransaction() }
    try transaction.put([4].rawSpan, large.rawSpan, schemaVersion: 1, in: slot)
    try engine.locked {
      _ = try engine.enqueue(transaction, .relaxed)
      #expect(engine.isFull && engine.writer == nil)
    }
    try engine.put([2], [2], .relaxed)
    #expect(await comesTrue { ended.isSet })
  }

  @Test func `a reserved turn is free if the task is cancelled`() async throws {
    defer { isOver.set() }
    let (task, ended) = try await reserve(for: .task)
    task?.cancel()
    #expect(await comesTrue { ended.isSet })
    #expect(engine.locked { engine.turnReservation } == nil)
    engine.locked { engine.giveWriterTurn() }
    try engine.put([2], [2], .relaxed)
    #expect(try engine.value([1]) == nil)
  }
}
