import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// An engine that is closed while threads and tasks are at work with it, and while writing fails.
@Suite("An engine that is closed", .serialized)
struct EngineClosingTests {
  private typealias Medium = InterposedFileSystem

  // MARK: The writer's turn

  @Test func `everybody who waits for the writer's turn is refused, by however many it is closed`()
    async throws
  {
    let engine = try Engine.open(InMemoryFileSystem())
    let threads = try EngineThreads(for: engine)
    let (holder, writers, closers) = (Crew(), Crew(), Crew())
    let (entered, leave) = (Signal(), Signal())
    let answers = Guarded<[LifeAnswer]>([])
    let ofHolder = Guarded<LifeAnswer?>(nil)
    try holder.start { _ in
      let answer = LifeAnswer {
        let slot = try engine.names.slot(of: "t")
        try engine.write(.durable) { transaction in
          entered.set()
          leave.wait()
          try transaction.put([9].rawSpan, [9].rawSpan, schemaVersion: 1, in: slot)
        }
      }
      ofHolder.withLock { $0 = answer }
    }
    try #require(await comesTrue { entered.isSet })
    try writers.start(4) { number in
      let answer = LifeAnswer { try engine.put([UInt8(number)], [1]) }
      answers.withLock { $0.append(answer) }
    }
    writers.startTasks(4) { number in
      let answer = await LifeAnswer { try await engine.putInTask([UInt8(number)], [1]) }
      answers.withLock { $0.append(answer) }
    }
    try #require(await engine.reaches(engine.turnWaiters.count == 4))
    try await Task.sleep(for: .milliseconds(20))
    try closers.start(4) { _ in try? threads.close() }
    // The transaction that has begun may still end.
    try #require(await writers.ends())
    #expect(!engine.isClosed)
    leave.set()
    try #require(await holder.ends())
    try #require(await closers.ends())
    #expect(ofHolder.withLock { $0 } == .returned)
    #expect(answers.withLock { $0 } == Array(repeating: .closed, count: 8))
  }

  @Test func `closing in a transaction is refused, and the engine's threads go on`() async throws {
    let engine = try Engine.open(InMemoryFileSystem())
    let threads = try EngineThreads(for: engine)
    let slot = try engine.names.slot(of: "t")
    try await engine.write(.durable) { transaction in
      try transaction.put([1].rawSpan, [1].rawSpan, schemaVersion: 1, in: slot)
      #expect(throws: StoreError.reentrant(path: engine.medium.path)) { try threads.close() }
    }
    try await engine.putInTask([2], [2])
    try engine.put([3], [3], .relaxed(flushWithin: .milliseconds(2)))
    #expect(await engine.reaches(engine.commits.flushedSequence == 3))
    try threads.close()
    try threads.close()
  }

  // MARK: Writing that fails

  @Test(arguments: [false, true])
  func `all threads are told when flushes fail while they commit and close`(inTasks: Bool)
    async throws
  {
    for _ in 0..<10 {
      let inner = InMemoryFileSystem()
      let medium = Medium(inner)
      let engine = try Engine.open(medium)
      let threads = try EngineThreads(for: engine)
      let crew = Crew()
      let answers = Guarded<[Bytes: LifeAnswer]>([:])
      let note = { @Sendable (key: Bytes, answer: LifeAnswer) in
        answers.withLock { $0[key] = answer }
        // As programs do.
        if answer != .returned { try? threads.close() }
      }
      let keys = { @Sendable (number: Int) in
        (0..<Int.max).lazy.map { Bytes([UInt8(number), UInt8($0 % 256), UInt8($0 / 256 % 256)]) }
      }
      if inTasks {
        crew.startTasks(16) { number in
          for key in keys(number) {
            let answer = await LifeAnswer { try await engine.putInTask(key, [1]) }
            note(key, answer)
            if answer != .returned { return }
          }
        }
      } else {
        try crew.start(16) { number in
          for key in keys(number) {
            let answer = LifeAnswer { try engine.put(key, [1]) }
            note(key, answer)
            if answer != .returned { return }
          }
        }
      }
      try #require(await engine.reaches(engine.commits.flushedSequence > 30))
      medium.failWriting { $0 == .logFrameSync ? .ioError : nil }
      try #require(await crew.ends())
      #expect(engine.isClosed)
      try Self.expect(answers.withLock { $0 }, in: inner)
    }
  }

  /// Expects what was answered to be so after the next open.
  private static func expect(
    _ answers: [Bytes: LifeAnswer], in medium: InMemoryFileSystem
  ) throws {
    let engine = try Engine.open(medium, creating: false)
    for (key, answer) in answers {
      switch answer {
      case .returned: #expect(try engine.value(key) == [1])
      case .poisoned, .closed: #expect(try engine.value(key) == nil)
      case .outcomeUnknown: break
      case .full, .io, .notKept, .moved, .threw: Issue.record("\(answer)")
      }
    }
    try engine.close()
  }

  /// The thread whose flush failed closes the engine before the others have run.
  @Test(arguments: [false, true])
  func `a commit is told that its flush failed, though the engine is closed`(inTask: Bool)
    async throws
  {
    let engine = try Engine.open(InMemoryFileSystem())
    let threads = try EngineThreads(for: engine)
    engine.locked { engine.hasLogTurn = true }
    let crew = Crew()
    let answer = Guarded<LifeAnswer?>(nil)
    if inTask {
      crew.startTasks { _ in
        let result = await LifeAnswer { try await engine.putInTask([1], [1]) }
        answer.withLock { $0 = result }
      }
    } else {
      try crew.start { _ in
        let result = LifeAnswer { try engine.put([1], [1]) }
        answer.withLock { $0 = result }
      }
    }
    try #require(await engine.reaches(engine.commits.lastSequence == 1 && engine.writer == nil))
    try await Task.sleep(for: .milliseconds(10))
    engine.locked {
      engine.hasLogTurn = false
      engine.poison(.full(path: "here"))
      #expect(engine.beginClosing())
      engine.endClosing()
    }
    try #require(await crew.ends())
    #expect(answer.withLock { $0 } == .poisoned)
    threads.end()
  }

  /// Pages fail twice while a thread lets others join its flush: they are told that their commits are not there.
  @Test func `no commit is flushed after it was refused`() async throws {
    let medium = InMemoryFileSystem()
    let engine = try Engine.open(medium)
    // So many are awaited that it takes longer than the test, also on a busy machine.
    engine.locked { engine.lastGroupCount = 1 << 26 }
    let crew = Crew()
    let answers = Guarded<[LifeAnswer]>([])
    for number in 1...3 as ClosedRange<UInt8> {
      try crew.start { _ in
        let answer = LifeAnswer { try engine.put([number], [1]) }
        answers.withLock { $0.append(answer) }
      }
      try #require(
        await engine.reaches(engine.hasLogTurn && engine.commits.lastSequence == UInt64(number)))
    }
    engine.locked { engine.poison(.full(path: "here")) }
    try #require(await crew.ends())
    #expect(answers.withLock { $0 } == [.poisoned, .poisoned, .poisoned])
    try? engine.close()
    let next = try Engine.open(medium, creating: false)
    for key in 1...3 as ClosedRange<UInt8> { #expect(try next.value([key]) == nil) }
  }

  /// Another writer may open the store when it is closed, so nothing may still be written then.
  @Test func `closing waits for a fold that writes, though writing has failed`() async throws {
    let medium = Medium(InMemoryFileSystem())
    let engine = try Engine.open(medium)
    let threads = try EngineThreads(for: engine)
    let (writes, mayWrite) = (Signal(), Signal())
    medium.beforeCalls { site in
      guard site == .pageWrite else { return }
      writes.set()
      mayWrite.wait()
    }
    for key in 0..<100 as Range<UInt8> where engine.locked({ engine.working.frozen == nil }) {
      try engine.put([key], Bytes(repeating: 1, count: 100), .relaxed)
    }
    try #require(await comesTrue { writes.isSet })
    engine.locked { engine.poison(.full(path: "here")) }
    let crew = Crew()
    try crew.start { _ in try? threads.close() }
    try #require(await engine.reaches(engine.life.stage == .closing))
    #expect(await !crew.ends(within: .milliseconds(50)))
    #expect(!engine.isClosed)
    #expect(throws: StoreError.self) { try Engine.open(medium.inner) }
    mayWrite.set()
    try #require(await crew.ends())
    #expect(engine.isClosed)
    try Engine.open(medium.inner, creating: false).close()
  }
}
