import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite("A fenced store", .serialized)
struct FenceTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path }
  private let place = "postgres://db:5432/\"notes\""

  init() throws { directory = try TemporaryDirectory() }

  private func open(
    _ access: StoreOptions.Access = .writing, history: HistoryOptions? = nil
  ) throws -> PersistentStore {
    var options = StoreOptions()
    options.access = access
    options.history = history
    return try PersistentStore(at: path, model: .samples, options: options)
  }

  @Test func `every write and every opening for writing says where the records are`() throws {
    let moved = StoreError.moved(path: path, to: place)
    let store = try open()
    try store.save(Note(key: "before"))
    #expect(try store.snapshot().movedTo == nil)
    try store.fence(movedTo: place)
    #expect(storeError { try store.save(Note(key: "after")) } == moved)
    #expect(storeError { try store.write { _ in } } == moved)
    #expect(storeError { try store.compact() } == moved)
    #expect(storeError { try store.fence(movedTo: "elsewhere") } == moved)
    #expect(try store.count(Note.self) == 1)
    #expect(try store.snapshot().movedTo == place)
    #expect(try store.metadataNames() == [])
    try store.close()

    for access in [StoreOptions.Access.writing, .writingExisting] {
      #expect(storeError { try open(access) } == moved)
    }
    #expect(storeError { try PersistentStore(untypedAt: path) } == moved)
    #expect(storeError { try PersistentStore.rollback(at: path, to: 1) } == moved)
    #expect(storeError { try PersistentStore.fence(at: path, movedTo: "elsewhere") } == moved)
    let reader = try open(.reading)
    #expect(try reader.fetch(Note.self).map(\.key) == ["before"])
    #expect(try reader.snapshot().movedTo == place)
    try reader.close()

    #expect(try PersistentStore.liftFence(at: path) == place)
    #expect(try PersistentStore.liftFence(at: path) == nil)
    let again = try open()
    try again.save(Note(key: "after"))
    #expect(try again.count(Note.self) == 2)
    try again.close()
  }

  @Test func `a task that writes is told where the records are`() async throws {
    let store = try open()
    try await store.save(Note(key: "before"))
    try store.fence(movedTo: place)
    await #expect(throws: StoreError.moved(path: path, to: place)) {
      try await store.write { try $0.save(Note(key: "after")) }
    }
    #expect(try store.count(Note.self) == 1)
    try await store.close()
  }

  @Test func `a store that is not closed after the fence stays fenced`() throws {
    do {
      let store = try open()
      try store.save(Note(key: "before"))
      try store.fence(movedTo: place)
    }
    #expect(storeError { try open() } == .moved(path: path, to: place))
    #expect(try open(.reading).count(Note.self) == 1)
  }

  @Test func `a store that a program has open is fenced by that program only`() throws {
    let store = try open()
    let error = storeError { try PersistentStore.fence(at: path, movedTo: place) }
    guard case .locked? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    try store.save(Note(key: "still written"))
    try store.close()
    try PersistentStore.fence(at: path, movedTo: place)
    #expect(storeError { try open() } == .moved(path: path, to: place))
  }

  @Test func `writes of other threads come before the fence, or are refused`() async throws {
    let (store, place) = (try open(), place)
    let written = Guarded(0)
    let crew = Crew()
    try crew.start(4) { thread in
      for number in 0... {
        let error = storeError {
          try store.write(durability: .relaxed) { try $0.save(Note(key: "\(thread) \(number)")) }
        }
        if let error {
          #expect(error == .moved(path: store.path, to: place))
          return
        }
        written.withLock { $0 += 1 }
      }
    }
    #expect(await comesTrue { written.withLock { $0 } >= 200 })
    #expect(storeError { try store.fence(movedTo: place) } == nil)
    try #require(await crew.ends())
    #expect(try store.count(Note.self) == written.withLock { $0 })
    try await store.close()
    #expect(try open(.reading).count(Note.self) == written.withLock { $0 })
  }

  @Test func `a history goes on over the fence and its end`() throws {
    let store = try open(history: .keptForever)
    try store.save(Note(key: "first"))
    let start = try store.snapshot().historyCursor
    try store.close()
    try PersistentStore.fence(at: path, movedTo: place)
    try PersistentStore.liftFence(at: path)
    let again = try open(history: .keptForever)
    try again.save(Note(key: "second"))
    let history = try again.history(since: start)
    var changes: [Int] = []
    while let commit = try history.next() { changes.append(commit.changes.count) }
    #expect(changes == [0, 0, 1])
    try again.close()
  }
}
