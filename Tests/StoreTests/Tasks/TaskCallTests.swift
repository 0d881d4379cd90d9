import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A call for a task, of a store of photos.
private struct TaskCall: Sendable {
  let name: String
  let make: @Sendable (PersistentStore) async throws -> Void

  init(_ name: String, _ make: @escaping @Sendable (PersistentStore) async throws -> Void) {
    self.name = name
    self.make = make
  }

  /// One after the other, each finds what the one before left.
  static let all: [TaskCall] = writing + reading + maintaining

  private static let writing = [
    TaskCall("save") { store in try await store.save(Photo(1, image: 3_000)) },
    TaskCall("insert") { store in try await store.insert(Photo(2, image: 500_000)) },
    TaskCall("update") { store in try await store.update(Photo(2, image: 400_000)) },
    TaskCall("save, of several") { store in
      try await store.save(contentsOf: (3..<200).map { Photo($0, image: 120, notes: 100) })
    },
    TaskCall("write, of more than its memory") { store in
      try await store.write { transaction in
        for id in 200..<600 { try transaction.save(Photo(id, image: 10, notes: 150)) }
      }
    },
    TaskCall("update, of a query") { store in
      _ = try await store.update(Photo.where { $0.id < 100 }) { $0.name += "+" }
    },
    TaskCall("delete") { store in _ = try await store.delete(Photo(3, image: 0)) },
    TaskCall("delete, of a key") { store in _ = try await store.delete(Photo.self, key: 4) },
    TaskCall("delete, of a query") { store in
      _ = try await store.delete(Photo.where { $0.id > 500 })
    },
    TaskCall("importRecords") { store in
      _ = try await store.importRecords(Photo.self, from: 600..<700, id: { $0 }) { id, _ in
        Photo(id, image: 10)
      }
    },
    TaskCall("makeBlob") { store in
      let blob = try await store.makeBlob(from: PhotoContent.bytes(700_000, seed: 1))
      var photo = Photo(700, image: 0)
      photo.image = blob
      try await store.save(photo)
    },
    TaskCall("a writer of a blob") { store in
      let writer = try store.makeBlobWriter()
      for seed in 0..<4 as Range<UInt64> {
        try await writer.append(PhotoContent.bytes(200_000, seed: seed))
      }
      _ = try await writer.finish()
    },
    TaskCall("flush") { store in try await store.flush() },
  ]

  private static let reading = [
    TaskCall("fetch") { store in _ = try await store.fetch(Photo.where { $0.id < 300 }) },
    TaskCall("first") { store in _ = try await store.first(Photo.where { $0.name == "photo 9" }) },
    TaskCall("count") { store in _ = try await store.count(Photo.where { $0.name != "x" }) },
    TaskCall("read") { store in
      _ = try await store.read { snapshot in try snapshot.fetch(Photo.self).count }
    },
    TaskCall("records") { store in for try await _ in store.records(Query<Photo>()) {} },
    TaskCall("chunks, and the content") { store in
      let photo = try #require(try await store.first(Photo.where { $0.id == 700 }))
      for try await _ in photo.image.chunks {}
      #expect(try await photo.image.data().count == 700_000)
    },
    TaskCall("changes") { store in
      var changes = try store.changes(of: Photo.self).makeAsyncIterator()
      try await store.save(Photo(5, image: 200))
      #expect(try await changes.next() != nil)
    },
    TaskCall("results") { store in
      var results = try store.results(of: Query<Photo>()).makeAsyncIterator()
      #expect(try await results.next() != nil)
      try await store.save(Photo(6, image: 200))
      #expect(try await results.next() != nil)
    },
  ]

  private static let maintaining = [
    TaskCall("backUp") { store in
      let directory = try TemporaryDirectory()
      _ = try await store.backUp(to: directory.path + "/copy")
    },
    TaskCall("compact") { store in _ = try await store.compact() },
    TaskCall("compactionStep") { store in _ = try await store.compactionStep() },
    TaskCall("collectBlobs") { store in _ = try await store.collectBlobs() },
    TaskCall("finishMigration") { store in _ = try await store.finishMigration() },
    TaskCall("dropKeptVersions") { store in try await store.dropKeptVersions() },
    TaskCall("delete, of all") { store in _ = try await store.delete(Query<Photo>()) },
    TaskCall("close") { store in try await store.close() },
  ]
}

@Suite("Stores in tasks")
struct TaskCallTests {
  /// The names of threads that are none of the library's.
  private final class Strangers: Sendable {
    private let names = Guarded<Set<String>>([])

    func note() {
      let name = nameOfThread()
      if !name.hasPrefix("cambium") { names.withLock { _ = $0.insert(name) } }
    }

    func take() -> Set<String> {
      names.withLock { names in
        defer { names = [] }
        return names
      }
    }
  }

  @Test(.timeLimit(.minutes(60)))
  func `no call of a task touches the storage on a thread that all tasks share`() async throws {
    var options = StoreOptions()
    options.transactionBudget = 4_096
    options.foldThreshold = 16_384
    options.readMode = .buffered(cacheSize: 4_096)
    let (storage, strangers) = (MemoryStorage(), Strangers())
    storage.beforeCalls { strangers.note() }
    let store = try await PersistentStore(on: storage, model: Photo.model, options: options)
    #expect(strangers.take() == [], "open")
    for call in TaskCall.all {
      try await call.make(store)
      #expect(strangers.take() == [], "\(call.name)")
    }
    let again = try await PersistentStore(on: storage, model: Photo.model, options: options)
    #expect(strangers.take() == [], "open again")
    #expect(try await again.count(Query<Photo>()) == 0)
    try await again.close()
    #expect(strangers.take() == [], "close")
    storage.beforeCalls(nil)
  }

  @Test(.timeLimit(.minutes(60)))
  func `migrations and checks of tasks run on threads of the library`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    try Priced.make(at: path, count: 100)
    let (strangers, count) = (Strangers(), Guarded(0))
    let step = MigrationStep(to: 2) {
      UpdateRecord("Item") {
        UpdateField(
          "price",
          by: { old in
            strangers.note()
            count.withLock { $0 += 1 }
            return Int(try old.as(String.self) ?? "") ?? 0
          })
      }
    }
    let migration = try await PersistentStore.migration(
      at: path, to: Priced.second, steps: [step])
    try await migration.rehearse()
    #expect(count.withLock { $0 } >= 100)
    let store = try await PersistentStore(at: path, model: Priced.second, steps: [step])
    #expect(count.withLock { $0 } >= 200)
    try await store.close()
    let check = try await PersistentStore.check(at: path, .deep) { _ in
      strangers.note()
      count.withLock { $0 = 0 }
    }
    #expect(check.faults == [] && count.withLock { $0 } == 0)
    #expect(strangers.take() == [])
  }

  /// Every form with a path, and what is thrown.
  @Test func `calls of tasks do and throw what the others do`() async throws {
    let directory = try TemporaryDirectory()
    let (path, other) = (directory.path + "/a", directory.path + "/b")
    let store = try await PersistentStore(at: path, version: 1, model: .samples)
    await #expect(throws: StoreError.self) {
      _ = try await PersistentStore(at: path, model: .samples)
    }
    try await store.save(Note(key: "a"))
    await #expect(throws: StoreError.self) { try await store.insert(Note(key: "a")) }
    var options = StoreOptions()
    options.access = .reading
    let reader = try await PersistentStore(untypedAt: path, options: options)
    try await store.save(Note(key: "b"))
    try await store.flush()
    #expect(try await reader.refresh())
    try await reader.close()
    try await store.close()
    await #expect(throws: StoreError.closed(path: store.path)) {
      try await store.save(Note(key: "c"))
    }
    #expect(try await PersistentStore.inspect(at: path).version == 1)
    try await PersistentStore.move(from: path, to: other)
    #expect(try await PersistentStore.check(at: other).isWhole)
    try await PersistentStore.salvage(at: other, to: path)
    try await PersistentStore.replace(at: path, with: other)
    await #expect(throws: StoreError.self) {
      try await PersistentStore.rollback(at: path, to: 1)
    }
    try await PersistentStore.delete(at: path)
    await #expect(throws: StoreError.self) { try await PersistentStore.delete(at: path) }
  }

  // MARK: Cancelling

  @Test(.timeLimit(.minutes(60)))
  func `a long read ends when its task is cancelled`() async throws {
    let store = try PersistentStore(inMemory: .samples)
    try await store.save(contentsOf: (0..<2_000).map { Note(key: "\($0)") })
    let begins = Guarded(false)
    let task = Task {
      try await store.read { snapshot -> Int in
        begins.withLock { $0 = true }
        while true { _ = try snapshot.fetch(Note.where { $0.text == "none" }) }
      }
    }
    while !begins.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
    task.cancel()
    await #expect(throws: CancellationError.self) { _ = try await task.value }
  }

  @Test(.timeLimit(.minutes(60)))
  func `an import ends when its task is cancelled, and imports nothing`() async throws {
    let store = try PersistentStore(inMemory: .samples)
    let begins = Guarded(false)
    let task = Task {
      try await store.importRecords(Note.self, from: 0..<1_000, id: { "\($0)" }) { number, _ in
        if number == 10 {
          begins.withLock { $0 = true }
          while !Task.isCancelled { sched_yield() }
        }
        return Note(key: "\(number)")
      }
    }
    while !begins.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
    task.cancel()
    await #expect(throws: CancellationError.self) { _ = try await task.value }
    #expect(try store.count(Note.self) == 0)
    try store.expectSound()
  }

  @Test func `a loop over records ends when its task is cancelled`() async throws {
    let store = try PersistentStore(inMemory: .samples)
    try await store.save(contentsOf: (0..<2_000).map { Note(key: "\($0)") })
    let isFar = Guarded(false)
    let task = Task {
      var count = 0
      for try await _ in store.records(Query<Note>()) {
        count += 1
        if count < 20 { continue }
        isFar.withLock { $0 = true }
        while !Task.isCancelled { await Task.yield() }
      }
      return count
    }
    while !isFar.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
    task.cancel()
    #expect(try await task.value == 20)
  }

  // MARK: The lock

  @Test(.timeLimit(.minutes(60)))
  func `an opening waits for the writer that is about to end`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let first = try await PersistentStore(at: path, model: .samples)
    var options = StoreOptions()
    options.lock = .wait(for: .seconds(60))
    let waiting = Task { [options] in
      try await PersistentStore(at: path, model: .samples, options: options)
    }
    try await Task.sleep(for: .milliseconds(50))
    try await first.save(Note(key: "a"))
    try await first.close()
    let second = try await waiting.value
    #expect(try second.contains(Note.self, key: "a"))
    // A thread waits as a task does.
    let crew = Crew()
    let third = Guarded<PersistentStore?>(nil)
    try crew.start { [options] _ in
      let store = try? PersistentStore(at: path, model: .samples, options: options)
      third.withLock { $0 = store }
    }
    try await Task.sleep(for: .milliseconds(50))
    #expect(third.withLock { $0 } == nil)
    try await second.close()
    try #require(await crew.ends())
    let store = try #require(third.withLock { $0 })
    #expect(try store.contains(Note.self, key: "a"))
    try await store.close()
  }

  @Test(.timeLimit(.minutes(60)))
  func `an opening stops waiting when its time is over, or its task is cancelled`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let first = try await PersistentStore(at: path, model: .samples)
    var options = StoreOptions()
    options.lock = .wait(for: .milliseconds(60))
    let start = ContinuousClock.now
    let error = storeError {
      _ = try PersistentStore(at: path, model: .samples, options: options)
    }
    guard case .locked = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(ContinuousClock.now - start >= .milliseconds(60))
    options.lock = .wait(for: .seconds(3_600))
    let waiting = Task { [options] in
      try await PersistentStore(at: path, model: .samples, options: options)
    }
    try await Task.sleep(for: .milliseconds(50))
    waiting.cancel()
    await #expect(throws: StoreError.self) { _ = try await waiting.value }
    try await first.close()
  }
}
