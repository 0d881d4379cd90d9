import Synchronization
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What a write of records did is seen by every read that begins after it has returned.
@Suite(.timeLimit(.minutes(60))) struct VisibleWritesTests {
  private final class Stop: Sendable {
    let isSet = Atomic(false)
  }

  @Test func `relaxed writes are seen by the next read of any kind, beside durable ones`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let store = try await PersistentStore(
      at: directory.path + "/s", model: StoreModel(records: [Note.self]))
    let stop = Stop()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        var number = 0
        while !stop.isSet.load(ordering: .relaxed) {
          number += 1
          try await store.write { try $0.save(Note(key: "durable", text: "\(number)")) }
        }
      }
      group.addTask {
        defer { stop.isSet.store(true, ordering: .relaxed) }
        for number in 0..<scaled(200, debug: 60) {
          let note = Note(key: "k\(number)", text: "\(number)")
          if number.isMultiple(of: 2) {
            try await store.write(durability: .relaxed) { try $0.save(note) }
          } else {
            try Self.save(note, in: store)
          }
          try await Self.expectSeen(note, in: store)
        }
      }
      try await group.waitForAll()
    }
    try await store.close()
  }

  /// From a task too, but without suspending.
  private static func save(_ note: Note, in store: PersistentStore) throws {
    try store.write(durability: .relaxed) { try $0.save(note) }
  }

  private static func expectSeen(_ note: Note, in store: PersistentStore) async throws {
    let fetched = try store.fetch(Note.self, key: note.key)
    #expect(fetched == note)
    #expect(try await store.fetch(Note.where { $0.text == note.text }).contains(note))
    #expect(try store.snapshot().fetch(Note.self, key: note.key) == note)
    #expect(try await store.read { try $0.fetch(Note.self, key: note.key) } == note)
  }

  @Test func `a reader that opens after a flush sees what was saved before it`() throws {
    let directory = try TemporaryDirectory()
    let (path, model) = (directory.path + "/s", StoreModel(records: [Note.self]))
    let store = try PersistentStore(at: path, model: model)
    var reading = StoreOptions()
    reading.access = .reading
    let held = try PersistentStore(at: path, model: model, options: reading)
    for count in 1...20 {
      let durability: Durability = count.isMultiple(of: 3) ? .relaxed : .durable
      try store.write(durability: durability) { try $0.save(Note(key: "k\(count)")) }
      try store.flush()
      let reader = try PersistentStore(at: path, model: model, options: reading)
      #expect(try reader.count(Note.self) == count)
      try reader.close()
      try held.refresh()
      #expect(try held.count(Note.self) == count)
    }
    try held.close()
    try store.close()
  }
}
