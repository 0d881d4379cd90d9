import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite("Threads for tasks")
struct TaskThreadsTests {
  private let threads = TaskThreads(name: "cambium-test", wakingAtMost: 2)

  @Test func `a body runs on one of the threads, as a part of the caller's task`() async throws {
    let task = Task { [threads] in
      while !Task.isCancelled { await Task.yield() }
      return await threads.run { (nameOfThread(), Task.isCancelled) }
    }
    task.cancel()
    let (name, isCancelled) = await task.value
    #expect(name == "cambium-test")
    #expect(isCancelled)
  }

  @Test func `what the task does afterwards runs elsewhere again`() async {
    await threads.run {}
    await Task.yield()
    #expect(nameOfThread() != "cambium-test")
  }

  /// An actor, whose state a body changes.
  private actor Counter {
    private(set) var count = 0

    func add(_ number: Int, on threads: TaskThreads) async {
      for _ in 0..<number {
        await threads.run { () async in
          assertIsolated()
          count += 1
        }
      }
    }
  }

  @Test func `a body of an actor stays on the actor`() async {
    let counter = Counter()
    await withTaskGroup { group in
      for _ in 0..<8 { group.addTask { await counter.add(100, on: self.threads) } }
    }
    #expect(await counter.count == 800)
  }

  @MainActor
  @Test func `a body of the main actor stays on it`() async {
    var count = 0
    await threads.run { () async in
      MainActor.assertIsolated()
      count += 1
    }
    #expect(count == 1)
  }

  /// More threads than are woken at once: each body waits for all.
  @Test(.timeLimit(.minutes(60)))
  func `bodies that wait for those after them get further threads`() async {
    let count = Guarded(0)
    await withTaskGroup { group in
      for _ in 0..<20 {
        group.addTask {
          await self.threads.run {
            count.withLock { $0 += 1 }
            while count.withLock({ $0 }) < 20 { usleep(500) }
          }
        }
      }
    }
    #expect(count.withLock { $0 } == 20)
  }

  @Test func `bodies that end soon share few threads`() async {
    let names = Guarded<Set<UInt>>([])
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<200 {
            await self.threads.run {
              _ = names.withLock { $0.insert(UInt(pthread_self())) }
            }
          }
        }
      }
    }
    #expect((1...32).contains(names.withLock { $0.count }))
  }

  @Test func `an error is thrown on, and of its type`() async {
    do throws(StoreError) {
      try await threads.run { () throws(StoreError) in throw .closed(path: "here") }
      Issue.record("it is not thrown")
    } catch {
      #expect(error == .closed(path: "here"))
    }
  }

  /// The blocked bodies hold none of the threads that all tasks share.
  @Test(.timeLimit(.minutes(60)))
  func `tasks go on while bodies block all threads`() async {
    let mayEnd = Guarded(false)
    let bodies = Task { [threads] in
      await withTaskGroup { group in
        for _ in 0..<20 {
          group.addTask {
            await threads.run {
              while !mayEnd.withLock({ $0 }) { usleep(1000) }
            }
          }
        }
      }
    }
    for _ in 0..<100 { await Task.detached { await Task.yield() }.value }
    mayEnd.withLock { $0 = true }
    await bodies.value
  }
}
