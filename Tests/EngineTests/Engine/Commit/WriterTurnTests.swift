import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Threads and tasks that write without a pause leave the turn to others, too.
@Suite(.timeLimit(.minutes(60))) struct WriterTurnTests {
  /// A thread that takes the turn again as soon as it has given it up, and holds it for a while.
  private final class BusyWriter: Sendable {
    private let engine: Engine
    private let stop = Signal()
    private let ended = Signal()

    init(_ engine: Engine) throws {
      self.engine = engine
      let (stop, ended, started) = (stop, ended, Signal())
      _ = try BackgroundThread(name: "busy") {
        while !stop.isSet {
          try? engine.write(.relaxed) { _ in
            started.set()
            usleep(500)
          }
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

  @Test func `a thread has its turn soon beside one that writes without a pause`() throws {
    let engine = try Engine.open(InMemoryFileSystem())
    let busy = try BusyWriter(engine)
    defer { busy.end() }
    var times: [Duration] = []
    for round in 0..<Self.rounds {
      times.append(
        try ContinuousClock().measure { try engine.put([UInt8(round)], [1], .relaxed) })
    }
    try expectMostlySoon(times)
    #expect(try engine.value([UInt8(Self.rounds - 1)]) == [1])
  }

  @Test func `a task has its turn soon beside a thread that writes without a pause`() async throws {
    let engine = try Engine.open(InMemoryFileSystem())
    let busy = try BusyWriter(engine)
    defer { busy.end() }
    var times: [Duration] = []
    for round in 0..<Self.rounds {
      times.append(
        try await ContinuousClock().measure {
          try await engine.putInTask([UInt8(round)], [1], .relaxed)
        })
    }
    try expectMostlySoon(times)
  }

  @Test func `threads and tasks all have their turn beside two that write without a pause`()
    async throws
  {
    let engine = try Engine.open(InMemoryFileSystem())
    let busy = try (0..<2).map { _ in try BusyWriter(engine) }
    defer { for writer in busy { writer.end() } }
    let crew = Signal()
    _ = try BackgroundThread(name: "other") {
      for round in 0..<Self.rounds { try? engine.put([1, UInt8(round)], [1], .relaxed) }
      crew.set()
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for round in 0..<Self.rounds {
            try await engine.putInTask([2, UInt8(task), UInt8(round)], [1], .relaxed)
          }
        }
      }
      try await group.waitForAll()
    }
    crew.wait()
    #expect(try engine.snapshot().tree(engine.names.slot(of: "t")).count == 9 * Self.rounds)
  }

  @Test func `a task that is cancelled while the turn is kept for it lets others have it`()
    async throws
  {
    let engine = try Engine.open(InMemoryFileSystem())
    let busy = try BusyWriter(engine)
    defer { busy.end() }
    for round in 0..<Self.rounds {
      let task = Task { try await engine.putInTask([1], [1], .relaxed) }
      try await Task.sleep(for: .milliseconds(round))
      task.cancel()
      _ = await task.result
      try engine.put([UInt8(round)], [2], .relaxed)
    }
    #expect(engine.locked { engine.turnReservation } == nil)
  }

  /// Of some waits, since the machine may be busy with other tests.
  private func expectMostlySoon(_ times: [Duration]) throws {
    let median = times.sorted()[times.count / 2]
    #expect(median < .milliseconds(200), "\(times)")
  }
}
