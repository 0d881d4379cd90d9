import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Keeps the work that it followed, in the order in which it ended.
private final class KeptWork: StoreTracer {
  struct Ended {
    let work: StoreWork
    let error: StoreError?
  }

  let begun = Guarded<[StoreWork]>([])
  let ended = Guarded<[Ended]>([])
  /// The store whose figures are taken whenever work begins and ends.
  let store = Guarded<PersistentStore?>(nil)

  func begin(_ work: StoreWork) -> StoreWorkEnd? {
    begun.withLock { $0.append(work) }
    look()
    return { [self] error in
      look()
      ended.withLock { $0.append(Ended(work: work, error: error as? StoreError)) }
    }
  }

  private func look() { _ = try? store.withLock { $0 }?.metrics() }

  func count(_ work: StoreWork) -> Int { ended.withLock { $0.count { $0.work == work } } }
}

/// Hears of work when it begins, and does not want to hear of its end.
private struct Incurious: StoreTracer {
  func begin(_ work: StoreWork) -> StoreWorkEnd? { nil }
}

@Suite(.timeLimit(.minutes(60))) struct StoreTracerTests {
  private let tracer = KeptWork()

  private var options: StoreOptions {
    var options = StoreOptions()
    options.tracer = tracer
    return options
  }

  private var steps: [MigrationStep] {
    [MigrationStep(to: 2) { UpdateRecord("Item") { UpdateField("price", by: { _ in 1 }) } }]
  }

  @Test func `a transaction is followed to its flush, with its author and its error`() throws {
    let store = try PersistentStore(
      on: SimulatedFileSystem(), model: .samples, options: options, seed: 1)
    tracer.store.withLock { $0 = store }
    tracer.ended.withLock { $0 = [] }
    try store.write(author: "Ada") { try $0.save(Note(key: "a")) }
    let works = tracer.ended.withLock { $0.map(\.work) }
    #expect(works == [.flush, .transaction(author: "Ada")])
    let error = storeError { try store.insert(Note(key: "a")) }
    #expect(tracer.ended.withLock { $0.last?.work } == .transaction(author: nil))
    #expect(tracer.ended.withLock { $0.last?.error } == error)
    #expect(error != nil)
    tracer.store.withLock { $0 = nil }
  }

  @Test func `a fold is followed`() throws {
    let medium = SimulatedFileSystem()
    let store = try PersistentStore(on: medium, model: .samples, options: options, seed: 1)
    tracer.store.withLock { $0 = store }
    try store.save(Note(key: "a"))
    let before = tracer.count(.fold)
    try store.backend.fold()
    #expect(tracer.count(.fold) == before + 1)
    #expect(tracer.ended.withLock { $0.last { $0.work == .fold }?.error } == nil)
    try store.save(Note(key: "b"))
    medium.limitDisk(to: medium.diskUsage)
    #expect(storeError { try store.backend.fold() } != nil)
    #expect(tracer.ended.withLock { $0.last { $0.work == .fold }?.error } != nil)
    medium.limitDisk(to: nil)
    tracer.store.withLock { $0 = nil }
  }

  @Test func `the transactions of tasks and threads that write at once are each followed once`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let store = try await PersistentStore(
      at: directory.path + "/store", model: .samples, options: options)
    tracer.store.withLock { $0 = store }
    let crew = Crew()
    try crew.start(4) { number in
      for round in 0..<10 { try? store.save(Note(key: "\(number) \(round)")) }
    }
    crew.startTasks(4) { number in
      for round in 0..<10 { try? await store.save(Note(key: "t\(number) \(round)")) }
    }
    #expect(await crew.ends())
    #expect(tracer.count(.transaction(author: nil)) == 80)
    #expect(try store.count(Note.self) == 80)
    tracer.store.withLock { $0 = nil }
    try await store.close()
    let (begun, ended) = (tracer.begun.withLock { $0.count }, tracer.ended.withLock { $0.count })
    #expect(begun == ended)
  }

  @Test func `a migration is followed, a rehearsal is not`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    try Priced.make(at: path, count: 20)
    let migration = try PersistentStore.migration(
      at: path, to: Priced.second, steps: steps, options: options)
    try migration.rehearse()
    #expect(tracer.count(.migration(from: 1, to: 2)) == 0)
    try PersistentStore(at: path, model: Priced.second, steps: steps, options: options).close()
    #expect(tracer.count(.migration(from: 1, to: 2)) == 1)
    try PersistentStore(at: path, model: Priced.second, steps: steps, options: options).close()
    #expect(tracer.count(.migration(from: 1, to: 2)) == 1)
  }

  @Test func `opening tells the progress of its migration`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    try Priced.make(at: path, count: 20)
    let told = Guarded<[MigrationProgress]>([])
    var options = StoreOptions()
    options.migrationProgress = { progress in told.withLock { $0.append(progress) } }
    try PersistentStore(at: path, model: Priced.second, steps: steps, options: options).close()
    let last = try #require(told.withLock { $0.last })
    #expect(last.fraction == 1)
    #expect(last.recordsDone == last.records)
    #expect(last.records >= 20)
    #expect(last.version == 2)
  }

  @Test func `a tracer need not hear of the end`() throws {
    var options = StoreOptions()
    options.tracer = Incurious()
    let store = try PersistentStore(inMemory: .samples, options: options)
    try store.save(Note(key: "a"))
    #expect(try store.count(Note.self) == 1)
  }
}
