import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Observers of a store that is only read, while another writes to it.
@Suite(.timeLimit(.minutes(60))) struct FollowedObservationTests {
  private static var reading: StoreOptions {
    var options = StoreOptions()
    options.access = .reading
    return options
  }

  @Test func `who reads is told what another commits, without asking, H6`() async throws {
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/s"
    let writer = try await PersistentStore(at: path, model: .samples)
    try await writer.write { try $0.save(Note(key: "a")) }
    try await writer.close()
    let again = try await PersistentStore(at: path, model: .samples)
    let reader = try await PersistentStore(at: path, model: .samples, options: Self.reading)
    let told = Told(by: try reader.changes(of: Note.self))
    let key = Told(by: try reader.changes(of: Note.self, key: "b"))
    let seats = try reader.changes(of: Seat.self)
    try await again.write(author: "me") { transaction in
      try transaction.delete(Note.self, key: "a")
      try transaction.save(Note(key: "b"))
    }
    let set = try #require(try await told.next())
    #expect(set.inserted.map(\.key) == ["b"] && set.deleted.map(\.key) == ["a"])
    #expect(set.authors == [nil])
    #expect(try await key.next()?.record?.key == "b")
    try await reader.close()
    #expect(try await told.next() == nil)
    #expect(try await Told(by: seats).next() == nil)
    try await again.close()
  }

  @Test func `what is told always leads to the state, whatever the writer does`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("Followed writer: seed \(seed)")
    let directory = try TemporaryDirectory()
    let path = "\(directory.path)/s"
    var options = StoreOptions()
    options.foldThreshold = 1 << 14
    options.transactionBudget = 1 << 9
    try await PersistentStore(at: path, model: .samples, options: options).close()
    let reader = try await PersistentStore(at: path, model: .samples, options: Self.reading)
    try await withThrowingTaskGroup(of: [Note]?.self) { group in
      for observer in 0..<3 {
        group.addTask {
          var generator = SplitMix64(seed: seed &+ 7 &+ UInt64(observer))
          let changes = try reader.changes(of: Note.self)
          var followed = FollowedNotes(try changes.snapshot.fetch(Note.self))
          for try await set in changes {
            let fits = followed.apply(set)
            let state = try changes.snapshot.fetch(Note.self)
            #expect(fits && followed.sorted == state, "seed \(seed)")
            if observer > 0 {
              try await Task.sleep(for: .milliseconds(Int.random(in: 0..<60, using: &generator)))
            }
          }
          return followed.sorted
        }
      }
      var generator = SplitMix64(seed: seed)
      var last: [Note] = []
      for _ in 0..<scaled(20, debug: 4) {
        let writer = try await PersistentStore(at: path, model: .samples, options: options)
        for _ in 0..<Int.random(in: 1...200, using: &generator) {
          try await ObservedWritersTests.change(writer, &generator)
          if Int.random(in: 0..<10, using: &generator) == 0 { try await reader.refresh() }
        }
        if Bool.random(using: &generator) {
          try await Task.sleep(for: .milliseconds(Int.random(in: 0..<150, using: &generator)))
        }
        last = try writer.fetch(Note.self)
        try await writer.close()
      }
      try await reader.refresh()
      try await reader.close()
      for try await followed in group { #expect(followed == last, "seed \(seed)") }
    }
  }

  @Test func `who reads is told what another process commits, H6`() async throws {
    let directory = try TemporaryDirectory()
    await #expect(processExitsWith: .success) { [path = directory.path as String] in
      let writer = ForkedChild { pipe in
        do {
          // Closed once, so that the schema is in sight at once.
          try PersistentStore(at: "\(path)/s", model: .samples).close()
          let store = try PersistentStore(at: "\(path)/s", model: .samples)
          send(0, to: pipe)
          for number in 0..<100 {
            try store.save(Note(key: "\(number)"), durability: .relaxed)
            if number % 10 == 0 { usleep(5_000) }
          }
          try store.close()
          return 0
        } catch { return 1 }
      }
      guard let writer, writer.next() == 0 else { exit(1) }
      let reader = try await PersistentStore(
        at: "\(path)/s", model: .samples, options: FollowedObservationTests.reading)
      let changes = try reader.changes(of: Note.self)
      var count = try changes.snapshot.count(Note.self)
      var iterator = changes.makeAsyncIterator()
      while count < 100 {
        guard let set = try await iterator.next() else { exit(2) }
        count += set.inserted.count
      }
      if count != 100 { exit(3) }
      try await reader.close()
    }
    withExtendedLifetime(directory) {}
  }
}
