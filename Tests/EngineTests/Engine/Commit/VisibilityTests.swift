import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// When a write returns, every read that begins then sees it, whatever others are flushing.
@Suite(.timeLimit(.minutes(60))) struct VisibilityTests {
  private struct Stop: Error {}

  /// An engine whose flushes take a while, beside a thread that makes durable commits all the time.
  private final class World: Sendable {
    let engine: Engine
    private let medium = InterposedFileSystem(InMemoryFileSystem())
    private let threads: EngineThreads
    private let stop = Signal()
    private let ended = Signal()

    init() throws {
      engine = try Engine.open(medium)
      threads = try EngineThreads(for: engine)
      medium.beforeCalls { site in
        if site == .logFrameSync { usleep(1_000) }
      }
      let started = Signal()
      let (engine, stop, ended) = (engine, stop, ended)
      _ = try BackgroundThread(name: "durable") {
        var number = 0 as UInt64
        while !stop.isSet {
          number += 1
          let value: Bytes = (0..<8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
          try? engine.put([1], value, in: "durable")
          started.set()
        }
        ended.set()
      }
      started.wait()
    }

    func end() {
      stop.set()
      ended.wait()
      medium.beforeCalls(nil)
      threads.end()
    }
  }

  private static let rounds = scaled(200, debug: 60)

  @Test(arguments: [Durability.relaxed, .relaxed(flushWithin: .milliseconds(20)), .durable])
  func `a commit that has returned is seen by the next read`(durability: Durability) throws {
    let world = try World()
    defer { world.end() }
    for round in 0..<Self.rounds {
      let value: Bytes = [UInt8(truncatingIfNeeded: round)]
      try world.engine.put([1], value, in: "own", durability)
      #expect(try world.engine.value([1], in: "own") == value)
    }
  }

  @Test(arguments: [Durability.relaxed, .durable])
  func `a task's commit that has returned is seen by the next read`(durability: Durability)
    async throws
  {
    let world = try World()
    defer { world.end() }
    let slot = try world.engine.names.slot(of: "own")
    for round in 0..<Self.rounds {
      let value: Bytes = [UInt8(truncatingIfNeeded: round)]
      try await world.engine.write(durability) { transaction in
        try transaction.put(([1] as Bytes).rawSpan, value.rawSpan, schemaVersion: 1, in: slot)
      }
      #expect(try world.engine.value([1], in: "own") == value)
    }
  }

  @Test(arguments: [Durability.relaxed, .durable], [false, true])
  func `what a transaction has read is seen by the next read, also if it changed nothing or threw`(
    durability: Durability, throwing: Bool
  ) async throws {
    let world = try World()
    defer { world.end() }
    for round in 0..<Self.rounds {
      var read: UInt64?
      do {
        func body(_ transaction: Transaction) throws {
          read = transaction.base.sequence
          if throwing { throw Stop() }
        }
        if round.isMultiple(of: 2) {
          try Self.write(world.engine, durability, body)
        } else {
          try await world.engine.write(durability, body)
        }
      } catch is Stop {}
      #expect(try world.engine.snapshot().state.sequence >= #require(read))
    }
  }

  /// From a task too, but without suspending.
  private static func write(
    _ engine: Engine, _ durability: Durability, _ body: (Transaction) throws -> Void
  ) throws {
    try engine.write(durability, body)
  }

  @Test func `what was committed before a seal is seen by a reader that opens then`() throws {
    let medium = InMemoryFileSystem()
    let engine = try Engine.open(medium)
    let threads = try EngineThreads(for: engine)
    let (stop, ended) = (Signal(), Signal())
    _ = try BackgroundThread(name: "others") {
      while !stop.isSet {
        try? engine.put([1], [1], in: "others", .relaxed)
        try? engine.put([1], [2], in: "others")
      }
      ended.set()
    }
    let follower = try Follower(medium, options: .small())
    for round in 0..<Self.rounds {
      let value: Bytes = [UInt8(truncatingIfNeeded: round)]
      try engine.put([1], value, in: "own", round.isMultiple(of: 2) ? .relaxed : .durable)
      try engine.seal()
      let opened = try Follower(medium, options: .small())
      let tree = try opened.names.slot(of: "own")
      var found: Bytes = []
      #expect(try opened.snapshot().tree(tree).copyValue(for: ([1] as Bytes).rawSpan, to: &found))
      #expect(found == value)
      _ = try follower.refresh()
      let refreshed = try follower.snapshot().tree(follower.names.slot(of: "own"))
      #expect(try refreshed.copyValue(for: ([1] as Bytes).rawSpan, to: &found))
      #expect(found == value)
    }
    stop.set()
    ended.wait()
    threads.end()
  }

  @Test func `a relaxed commit is told when the flush failed that it waited for`() throws {
    let medium = InterposedFileSystem(InMemoryFileSystem())
    let engine = try Engine.open(medium)
    try engine.put([1], [1])
    let (flushing, enqueued) = (Signal(), Signal())
    medium.beforeCalls { site in
      guard site == .logFrameSync else { return }
      flushing.set()
      enqueued.wait()
    }
    medium.failWriting { $0 == .logFrameSync ? .ioError : nil }
    let durable = try BackgroundThread(name: "durable") { try? engine.put([2], [2]) }
    flushing.wait()
    let relaxed = try BackgroundThread(name: "relaxed") {
      // It was never given to the medium.
      #expect { try engine.put([3], [3], .relaxed) } throws: {
        if case StoreError.poisoned = $0 { true } else { false }
      }
    }
    while engine.locked({ engine.commits.lastSequence }) < 3 { usleep(100) }
    enqueued.set()
    durable.join()
    relaxed.join()
    #expect(try engine.snapshot().tree(engine.names.slot(of: "t")).count == 1)
  }
}
