import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What an observer makes of the changes that it is told of.
struct FollowedNotes {
  var notes: [String: Note]
  var setCount = 0
  var emptySets = 0

  init(_ notes: [Note]) {
    self.notes = Dictionary(uniqueKeysWithValues: notes.map { ($0.key, $0) })
  }

  /// Takes a set in. False where it does not fit what was there.
  mutating func apply(_ set: ChangeSet<Note>) -> Bool {
    setCount += 1
    if set.isEmpty { emptySets += 1 }
    for note in set.inserted where notes.updateValue(note, forKey: note.key) != nil { return false }
    for update in set.updated {
      if notes.updateValue(update.new, forKey: update.new.key) != update.old { return false }
      if update.old == update.new { return false }
    }
    for note in set.deleted where notes.removeValue(forKey: note.key) != note { return false }
    return true
  }

  var sorted: [Note] {
    notes.values.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
  }
}

@Suite(.timeLimit(.minutes(60))) struct ObservedWritersTests {
  static func change(
    _ store: PersistentStore, _ generator: inout SplitMix64
  ) async throws {
    struct Stop: Error {}
    let durability: Durability =
      Int.random(in: 0..<3, using: &generator) == 0 ? .durable : .relaxed
    var random = generator
    do {
      try await store.write(
        durability: durability, author: "w\(Int.random(in: 0..<3, using: &random))"
      ) {
        transaction in
        for _ in 0..<Int.random(in: 1...6, using: &random) {
          let key = "k\(Int.random(in: 0..<40, using: &random))"
          switch Int.random(in: 0..<20, using: &random) {
          case 0: try transaction.deleteAll(Note.self)
          case 1: try transaction.save(Seat(row: "A", number: 1, guest: key))
          case 2:
            try? transaction.savepoint { transaction in
              try transaction.save(Note(key: key, text: "undone"))
              throw Stop()
            }
          case 3: throw Stop()
          case 4..<9: try transaction.delete(Note.self, key: key)
          default:
            try transaction.save(Note(key: key, text: "\(Int.random(in: 0..<9, using: &random))"))
          }
        }
      }
    } catch is Stop {}
    generator = random
  }

  @Test(arguments: [false, true])
  func `a stream applied to its first result is always the state it has led to`(
    onDisk: Bool
  ) async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("Observed writers: seed \(seed), on disk: \(onDisk)")
    let directory = try TemporaryDirectory()
    var options = StoreOptions()
    options.foldThreshold = 1 << 16
    options.transactionBudget = 1 << 10
    let store =
      try await onDisk
      ? PersistentStore(at: "\(directory.path)/s", model: .samples, options: options)
      : PersistentStore(inMemory: .samples, options: options)
    let rounds = scaled(onDisk ? 1_500 : 6_000, debug: onDisk ? 200 : 500)
    try await withThrowingTaskGroup(of: FollowedNotes?.self) { group in
      for writer in 0..<3 {
        group.addTask {
          var generator = SplitMix64(seed: seed &+ UInt64(writer))
          for _ in 0..<rounds { try await Self.change(store, &generator) }
          return nil
        }
      }
      for observer in 0..<6 {
        group.addTask {
          try await Self.observe(store, observer, seed: seed)
        }
      }
      for _ in 0..<3 { _ = try await group.next() }
      try await store.close()
      for try await followed in group {
        guard let followed else { continue }
        #expect(followed.emptySets == 0)
      }
    }
  }

  private static func observe(
    _ store: PersistentStore, _ observer: Int, seed: UInt64
  ) async throws -> FollowedNotes {
    var generator = SplitMix64(seed: seed &+ 100 &+ UInt64(observer))
    // They begin while others write.
    try await Task.sleep(for: .microseconds(Int.random(in: 0..<3000, using: &generator)))
    let changes = try store.changes(of: Note.self)
    var followed = FollowedNotes(try changes.snapshot.fetch(Note.self))
    for try await set in changes {
      let fits = followed.apply(set)
      #expect(fits, "seed \(seed)")
      let state = try changes.snapshot.fetch(Note.self)
      #expect(followed.sorted == state, "seed \(seed)")
      if followed.sorted != state { break }
      if observer > 2 {
        try await Task.sleep(for: .microseconds(Int.random(in: 0..<4000, using: &generator)))
      }
    }
    return followed
  }

  @Test func `keys that are observed by many are each told of what concerns them`() async throws {
    let seed = UInt64.random(in: 0...UInt64.max)
    print("Observed keys: seed \(seed)")
    let store = try PersistentStore(inMemory: .samples)
    let rounds = scaled(3_000, debug: 300)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 0..<60 {
        group.addTask {
          let key = "k\(number % 40)"
          let changes = try store.changes(of: Note.self, key: key)
          var present = try changes.snapshot.fetch(Note.self, key: key)
          for try await change in changes {
            switch change.kind {
            case .inserted(let note): #expect(present == nil && note.key == key)
            case .updated(let update): #expect(present == update.old && present != update.new)
            case .deleted(let note): #expect(present == note)
            }
            present = change.record
            #expect(try changes.snapshot.fetch(Note.self, key: key) == present, "seed \(seed)")
          }
          let last = try changes.snapshot.fetch(Note.self, key: key)
          #expect(last == present, "seed \(seed)")
        }
      }
      try await Task.sleep(for: .milliseconds(20))
      var generator = SplitMix64(seed: seed)
      for _ in 0..<rounds { try await Self.change(store, &generator) }
      try await store.close()
      try await group.waitForAll()
    }
  }
}
