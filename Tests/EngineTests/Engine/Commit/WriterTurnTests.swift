import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A thread that writes without a pause leaves turns to others.
@Suite(.timeLimit(.minutes(60))) struct WriterTurnTests {
  /// A thread that takes the turn again as soon as it has given it up, and holds it for a while. It ends by itself after
  /// `limit` transactions, so that who never gets a turn beside it gets one then.
  private final class BusyWriter: Sendable {
    static let limit = 1_000 * rounds

    private let transactions = Atomic(0)
    private let stop = Signal()
    private let ended = Signal()

    var count: Int { transactions.load(ordering: .relaxed) }

    init(_ engine: Engine) throws {
      let started = Signal()
      _ = try BackgroundThread(name: "busy") { [self] in
        while !stop.isSet, count < Self.limit {
          try? engine.write(.relaxed) { _ in
            started.set()
            usleep(500)
          }
          transactions.add(1, ordering: .relaxed)
        }
        ended.set()
      }
      started.wait()
    }

    func end() {
      stop.set()
      ended.wait()
    }
  }

  private static let rounds = 20

  @Test(arguments: [false, true])
  func `who waits gets a turn long before the busy thread ends`(inTask: Bool) async throws {
    let engine = try Engine.open(InMemoryFileSystem())
    let busy = try BusyWriter(engine)
    for round in 0..<Self.rounds {
      if inTask {
        try await engine.putInTask([UInt8(round)], [1], .relaxed)
      } else {
        try engine.put([UInt8(round)], [1], .relaxed)
      }
    }
    let count = busy.count
    busy.end()
    #expect(count < BusyWriter.limit / 2)
  }

  /// With small overlays the store is often full, and without threads of its own only a thread that has the turn makes room.
  @Test(arguments: [EngineOptions(), .small()])
  func `threads and tasks all get their turns beside two busy threads`(
    options: EngineOptions
  ) async throws {
    let engine = try Engine.open(InMemoryFileSystem(), options: options)
    let busy = try (0..<2).map { _ in try BusyWriter(engine) }
    let crew = Signal()
    _ = try BackgroundThread(name: "other") {
      for round in 0..<Self.rounds { try? engine.put([1, UInt8(round)], [1], .relaxed) }
      crew.set()
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for round in 0..<Self.rounds {
            let value = Bytes(repeating: 1, count: 100)
            try await engine.putInTask([2, UInt8(task), UInt8(round)], value, .relaxed)
          }
        }
      }
      try await group.waitForAll()
    }
    crew.wait()
    for writer in busy { writer.end() }
    #expect(try engine.snapshot().tree(engine.names.slot(of: "t")).count == 9 * Self.rounds)
  }

  @Test func `a task that is cancelled while a turn is reserved for it leaves it to others`()
    async throws
  {
    let engine = try Engine.open(InMemoryFileSystem())
    let busy = try BusyWriter(engine)
    for round in 0..<Self.rounds {
      let task = Task { try await engine.putInTask([1], [1], .relaxed) }
      try await Task.sleep(for: .milliseconds(round))
      task.cancel()
      _ = await task.result
      try engine.put([UInt8(round)], [2], .relaxed)
    }
    busy.end()
    #expect(engine.locked { engine.turnReservation } == nil)
  }
}
