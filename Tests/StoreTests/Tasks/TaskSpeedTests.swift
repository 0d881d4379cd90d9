import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Tasks that use a store leave threads to the others. Each test has a process of its own, whose tasks share their threads
/// with no other test; the bounds are wide and there are several rounds, since the machine may be busy.
@Suite struct TaskSpeedTests {
  /// Returns the time that 16 tasks take to save some notes each.
  private static func time(
    _ save: @escaping @Sendable (Note) async throws -> Void
  ) async throws -> Duration {
    let start = ContinuousClock.now
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<16 {
        group.addTask {
          for round in 0..<50 { try await save(Note(key: "\(task)", text: "\(round)")) }
        }
      }
      try await group.waitForAll()
    }
    return ContinuousClock.now - start
  }

  @Test(.timeLimit(.minutes(60)))
  func `tasks that save one record each are about as fast as those that write`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let store = try await PersistentStore(at: path + "/store", model: .samples)
      var (saving, writing) = (Duration.seconds(60), Duration.seconds(60))
      for round in 0..<30 where round < 5 || saving > writing * 2 {
        saving = min(saving, try await Self.time { note in try await store.save(note) })
        writing = min(
          writing,
          try await Self.time { note in try await store.write { try $0.save(note) } })
      }
      try await store.close()
      print("saving took \(saving), writing \(writing)")
      if saving > writing * 2 { exit(1) }
    }
    withExtendedLifetime(directory) {}
  }

  @Test(.timeLimit(.minutes(60)))
  func `other tasks go on beside 16 that write and 4 that read much`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let store = try await PersistentStore(at: path + "/store", model: .samples)
      try await store.save(contentsOf: Account.some(20_000))
      var longest = Duration.seconds(60)
      for _ in 0..<10 where longest > .milliseconds(500) {
        longest = min(longest, try await Self.longestPause(beside: store, for: .seconds(1)))
      }
      try await store.close()
      print("the longest pause was \(longest)")
      if longest > .milliseconds(500) { exit(1) }
    }
    withExtendedLifetime(directory) {}
  }

  /// Returns the longest time between two beats of a task that sleeps two milliseconds between them.
  private static func longestPause(
    beside store: PersistentStore, for duration: Duration
  ) async throws -> Duration {
    let end = ContinuousClock.now + duration
    return try await withThrowingTaskGroup(of: Duration.self) { group in
      for writer in 0..<16 {
        group.addTask {
          while ContinuousClock.now < end { try await store.save(Note(key: "\(writer)")) }
          return .zero
        }
      }
      for _ in 0..<4 {
        group.addTask {
          while ContinuousClock.now < end {
            _ = try await store.count(Account.where { $0.balance > 3 })
          }
          return .zero
        }
      }
      group.addTask {
        var (longest, last) = (Duration.zero, ContinuousClock.now)
        while last < end {
          try await Task.sleep(for: .milliseconds(2))
          let now = ContinuousClock.now
          longest = max(longest, now - last)
          last = now
        }
        return longest
      }
      var longest = Duration.zero
      for try await pause in group { longest = max(longest, pause) }
      return longest
    }
  }
}
