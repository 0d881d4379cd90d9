import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite("The engine's threads")
struct EngineThreadsTests {
  private typealias Medium = InterposedFileSystem

  /// Runs `body` on a thread, and says whether it came to an end in time.
  private func ends(within limit: Duration = .seconds(120), _ body: @escaping @Sendable () -> Void)
    throws -> Bool
  {
    let done = Signal()
    _ = try BackgroundThread(name: "test") {
      body()
      done.set()
    }
    return done.wait(atMost: limit)
  }

  @Test func `a delay that runs out while another flushes keeps nobody from the lock`() throws {
    let medium = Medium(InMemoryFileSystem())
    let engine = try Engine.open(medium)
    let threads = try EngineThreads(for: engine)
    medium.beforeCalls { site in
      if site == .logFrameSync { usleep(30_000) }
    }
    let ended = try ends {
      for index in 0..<5 as Range<UInt8> {
        try? engine.put([index], [1], .relaxed(flushWithin: .milliseconds(5)))
        try? engine.put([index], [2])
      }
    }
    try #require(ended)
    medium.beforeCalls(nil)
    threads.end()
  }

  @Test func `a pause for the fold is not cut short by what others commit`() throws {
    let engine = try Engine.open(InMemoryFileSystem())
    try engine.put([1], [2])
    engine.locked {
      engine.freeze()
      engine.pressure = .greatestFiniteMagnitude
    }
    let isOver = Signal()
    let others = try BackgroundThread(name: "others") {
      while !isOver.wait(atMost: .milliseconds(1)) { engine.progressed.broadcast() }
    }
    let time = ContinuousClock().measure { engine.locked { engine.pauseIfDue() } }
    isOver.set()
    others.join()
    #expect(time >= .milliseconds(50))
    #expect(engine.locked { engine.pressure } == 0)
  }

  @Test func `a store that is idle is sealed`() throws {
    let medium = InMemoryFileSystem()
    let engine = try Engine.open(medium)
    let threads = try EngineThreads(for: engine)
    let follower = try Follower(medium, options: .small())
    for round in 1...3 as ClosedRange<UInt64> {
      try engine.put([1], [2])
      let isSealed = try ends {
        while follower.snapshot().state.sequence < round {
          _ = try? follower.refresh()
          usleep(1000)
        }
      }
      try #require(isSealed)
    }
    threads.end()
  }

  // MARK: Tasks

  /// As many tasks as the pool has threads, and more, wait for the writer's turn; then for a flush.
  @Test(.timeLimit(.minutes(60)))
  func `tasks that write do not hold the pool's threads while they wait`() async throws {
    let medium = Medium(InMemoryFileSystem())
    let engine = try Engine.open(medium)
    let threads = try EngineThreads(for: engine)
    let (entered, leave) = (Signal(), Signal())
    _ = try BackgroundThread(name: "writer") {
      try? engine.write(.relaxed) { _ in
        entered.set()
        leave.wait()
      }
    }
    entered.wait()
    let flushing = Signal()
    let mayFlush = Signal()
    medium.beforeCalls { site in
      guard site == .logFrameSync else { return }
      flushing.set()
      mayFlush.wait()
    }
    let tasks = (0..<4 * sysconf(Int32(_SC_NPROCESSORS_ONLN))).map { index in
      Task.detached {
        let slot = try engine.names.slot(of: "t")
        try await engine.write(.durable) { transaction in
          let key: Bytes = [UInt8(truncatingIfNeeded: index)]
          try transaction.put(key.rawSpan, key.rawSpan, schemaVersion: 1, in: slot)
        }
      }
    }
    // Another task runs while all of these wait for their turn, however often it gives way,
    for _ in 0..<100 { await Task.detached { await Task.yield() }.value }
    leave.set()
    // and while they wait for the flush.
    await Task.detached { while !flushing.isSet { await Task.yield() } }.value
    for _ in 0..<100 { await Task.detached { await Task.yield() }.value }
    mayFlush.set()
    for task in tasks { try await task.value }
    #expect(try engine.snapshot().tree(engine.names.slot(of: "t")).count == tasks.count)
    medium.beforeCalls(nil)
    threads.end()
  }

  /// Commits of every size: in the log, with an overlay that its files must grow for, by a footer.
  @Test(.timeLimit(.minutes(60)))
  func `only the library's threads read, write and flush for tasks`() async throws {
    let medium = Medium(InMemoryFileSystem())
    let engine = try Engine.open(medium, options: .small(foldThreshold: 64 << 10))
    let threads = try EngineThreads(for: engine)
    let slot = try engine.names.slot(of: "t")
    let calls = CallsByThread()
    medium.beforeCalls { site in calls.note(site) }
    for (round, size) in [10, 1000, 60_000, 100, 150_000, 10, 60_000, 60_000].enumerated() {
      for durability in [Durability.durable, .relaxed] {
        try await Task.detached {
          try await engine.write(durability) { transaction in
            for part in 0..<max(1, size / 1000) {
              let key: Bytes = [UInt8(round), UInt8(truncatingIfNeeded: part)]
              let value = Bytes(repeating: 1, count: min(size, 1000))
              try transaction.put(key.rawSpan, value.rawSpan, schemaVersion: 1, in: slot)
            }
          }
        }.value
      }
    }
    medium.beforeCalls(nil)
    threads.end()
    #expect(calls.names(at: .logFrameWrite).contains("cambium-flush"))
    #expect(calls.names(at: .pageSync).contains("cambium-commit"))
    #expect(calls.all.allSatisfy { $0.hasPrefix("cambium-") }, "\(calls.all)")
  }
}

/// Which threads made which calls.
private final class CallsByThread: @unchecked Sendable {
  private let lock = ThreadLock()
  private var sites: [String: Set<Site>] = [:]

  func note(_ site: Site) {
    let name = nameOfThread()
    lock.lock()
    sites[name, default: []].insert(site)
    lock.unlock()
  }

  var all: Set<String> { Set(sites.keys) }

  func names(at site: Site) -> Set<String> {
    Set(sites.filter { $0.value.contains(site) }.keys)
  }
}

/// Something that happens once, for threads to wait for.
final class Signal: @unchecked Sendable {
  private let lock = ThreadLock()
  private let condition: ThreadCondition
  private var happened = false

  init() { condition = ThreadCondition(lock) }

  var isSet: Bool {
    lock.lock()
    defer { lock.unlock() }
    return happened
  }

  func set() {
    lock.lock()
    defer { lock.unlock() }
    happened = true
    condition.broadcast()
  }

  func wait() {
    lock.lock()
    defer { lock.unlock() }
    while !happened { condition.wait() }
  }

  /// False if the time ran out.
  func wait(atMost limit: Duration) -> Bool {
    let deadline = ContinuousClock.now + limit
    lock.lock()
    defer { lock.unlock() }
    while !happened {
      if !condition.wait(atMost: deadline - .now), ContinuousClock.now >= deadline { break }
    }
    return happened
  }
}
