import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Each figure of a store moves as its name says.
@Suite(.timeLimit(.minutes(60))) struct StoreMetricsTests {
  private let medium = SimulatedFileSystem()

  /// A store for one thread: nothing moves by itself.
  private func open(_ model: StoreModel = .samples) throws -> PersistentStore {
    try PersistentStore(on: medium, model: model, seed: 1)
  }

  @Test func `a durable commit counts one commit and one flush`() throws {
    let store = try open()
    let before = try store.metrics()
    try store.save(Note(key: "a"))
    let after = try store.metrics()
    #expect(after.commits == before.commits + 1)
    #expect(after.sequence == before.sequence + 1)
    #expect(after.flushes.count == before.flushes.count + 1)
    #expect(after.flushes.total >= before.flushes.total + after.flushes.last)
    #expect(after.flushes.longest >= after.flushes.last)
    #expect(after.unflushedCommits == 0)
    #expect(after.state == .open)
  }

  @Test func `a transaction that fails or changes nothing counts nothing`() throws {
    let store = try open()
    let before = try store.metrics()
    #expect(throws: CancellationError.self) { try store.write { _ in throw CancellationError() } }
    try store.write { _ in }
    #expect(try store.metrics() == before)
  }

  @Test func `counts begin at zero when the store is opened again, the sequence continues`() throws
  {
    let store = try open()
    try store.save(Note(key: "a"))
    let sequence = try store.metrics().sequence
    try store.close()
    let metrics = try open().metrics()
    #expect(metrics.commits == 0)
    #expect(metrics.sequence == sequence)
  }

  @Test func `relaxed commits wait for their flush`() throws {
    let store = try open()
    let before = try store.metrics()
    try store.save(Note(key: "a"), durability: .relaxed(flushWithin: nil))
    try store.save(Note(key: "b"), durability: .relaxed(flushWithin: nil))
    let waiting = try store.metrics()
    #expect(waiting.commits == before.commits + 2)
    #expect(waiting.unflushedCommits == 2)
    #expect(waiting.flushes == before.flushes)
    try store.flush()
    #expect(try store.metrics().unflushedCommits == 0)
    #expect(try store.metrics().flushes.count > before.flushes.count)
  }

  @Test func `a fold empties the backlog and fills pages`() throws {
    let store = try open()
    let empty = try store.metrics()
    try store.write { transaction in
      for number in 0..<100 { try transaction.save(Note(key: "\(number)", text: "text")) }
    }
    let before = try store.metrics()
    #expect(before.foldBacklogBytes > empty.foldBacklogBytes)
    #expect(before.usedLogBytes > empty.usedLogBytes)
    #expect(before.logBytes >= before.usedLogBytes)
    try store.backend.fold()
    let after = try store.metrics()
    #expect(after.foldBacklogBytes == 0)
    #expect(after.folds.count == before.folds.count + 1)
    #expect(after.folds.total > before.folds.total)
    #expect(after.livePageBytes > before.livePageBytes)
    #expect(after.pageBytes >= after.livePageBytes)
    #expect(after.totalBytes == after.logBytes + after.pageBytes + after.blobBytes)
  }

  @Test func `deleting records makes live bytes fewer than all bytes`() throws {
    let store = try open()
    try store.save(contentsOf: (0..<500).map { Note(key: "\($0)", text: "text") })
    try store.backend.fold()
    let before = try store.metrics()
    try store.write { try $0.deleteAll(Note.self) }
    try store.backend.fold()
    let after = try store.metrics()
    #expect(after.livePageBytes < before.livePageBytes)
    #expect(after.pageBytes > after.livePageBytes)
  }

  @Test func `the files of blobs are counted`() throws {
    let store = try open(Photo.model)
    #expect(try store.metrics().blobBytes == 0)
    try store.save(Photo(1, image: 200_000))
    #expect(try store.metrics().blobBytes >= 50_000)
  }

  @Test func `the oldest snapshot of an earlier state has an age`() throws {
    let store = try open()
    #expect(try store.metrics().oldestSnapshotAge == nil)
    do {
      let snapshot = try store.snapshot()
      #expect(try store.metrics().oldestSnapshotAge == nil, "nothing was committed after it")
      try store.save(Note(key: "a"))
      #expect(try #require(try store.metrics().oldestSnapshotAge) > .zero)
      _ = snapshot.sequence
    }
    #expect(try store.metrics().oldestSnapshotAge == nil)
  }

  @Test func `observers are counted as long as they are there`() async throws {
    let store = try PersistentStore(inMemory: .samples)
    #expect(try store.metrics().observers == 0)
    do {
      let notes = Told(by: try store.changes(of: Note.self))
      #expect(try store.metrics().observers == 1)
      try await store.save(Note(key: "a"))
      _ = try await notes.next()
    }
    #expect(await comesTrue { (try? store.metrics().observers) == 0 })
  }

  @Test func `threads and tasks that wait for their turn are counted`() async throws {
    let store = try PersistentStore(inMemory: .samples)
    let isOver = Guarded(false)
    let crew = Crew()
    try crew.start { _ in
      try? store.write { _ in
        while !isOver.withLock({ $0 }) { try Pause().wait(.milliseconds(1)) }
      }
    }
    #expect(await comesTrue { isBusy(store) })
    try crew.start(2) { number in try? store.save(Note(key: "\(number)")) }
    #expect(await comesTrue { (try? store.metrics().waitingWriters) == 2 })
    crew.startTasks(3) { number in try? await store.save(Note(key: "t\(number)")) }
    #expect(await comesTrue { (try? store.metrics().waitingWriters) == 5 })
    isOver.withLock { $0 = true }
    #expect(await crew.ends())
    #expect(try store.metrics().waitingWriters == 0)
    #expect(try store.count(Note.self) == 5)
  }

  private func isBusy(_ store: PersistentStore) -> Bool {
    guard let engine = (store.backend as? EngineBackend)?.engine else { return false }
    return engine.locked { engine.writer != nil }
  }
}

// MARK: - States

extension StoreMetricsTests {
  @Test func `a store whose disk is full says so, until there is space`() throws {
    let store = try open()
    try store.save(contentsOf: (0..<200).map { Note(key: "\($0)", text: "text") })
    medium.limitDisk(to: medium.diskUsage)
    guard case .full = storeError({ try store.backend.fold() }) else {
      return #expect(Bool(false), "there was space for the trees")
    }
    #expect(try store.metrics().state == .full)
    medium.limitDisk(to: nil)
    try store.backend.fold()
    #expect(try store.metrics().state == .open)
    #expect(try store.metrics().foldBacklogBytes == 0)
  }

  @Test
  func
    `a store whose disk is full for blobs says so, and leaves nothing there, until one has space`()
    throws
  {
    let store = try open(Photo.model)
    func photo(_ id: Int) -> Photo { Photo(id, image: 400_000) }
    try store.save(photo(1))
    let names = medium.names
    medium.limitDisk(to: medium.diskUsage)
    for id in 2..<6 {
      let error = storeError { try store.save(photo(id)) }
      guard case .full = error else { return #expect(Bool(false), "\(String(describing: error))") }
      #expect(try store.metrics().state == .full)
    }
    #expect(medium.names == names)
    medium.limitDisk(to: nil)
    try store.save(photo(6))
    #expect(try store.metrics().state == .open)
  }

  @Test func `a store whose log failed says why, and counts no flush`() throws {
    let store = try open()
    let before = try store.metrics()
    medium.inject(.flush(.errorCacheShowsNew), at: .site(.logFrameSync, 0), .forGood)
    #expect(storeError { try store.save(Note(key: "a")) } != nil)
    let after = try store.metrics()
    guard case .failed(.io) = after.state else {
      return #expect(Bool(false), "\(after.state)")
    }
    #expect(after.flushes == before.flushes)
    #expect(after.unflushedCommits == 1)
    medium.heal()
    #expect(storeError { try store.close() } != nil)
    #expect(try store.metrics().state == .closed)
  }

  @Test func `a store that was closed returns its last figures`() throws {
    let store = try PersistentStore(inMemory: .samples)
    try store.save(Note(key: "a"))
    let commits = try store.metrics().commits
    try store.close()
    let metrics = try store.metrics()
    #expect(metrics.state == .closed)
    #expect(metrics.commits == commits)
    #expect(metrics.flushes.count == 0, "in memory, nothing is flushed")
  }

  @Test func `a store that is only read has the sizes and the sequence of its writer`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let store = try PersistentStore(at: path, model: .samples)
    try store.save(contentsOf: (0..<100).map { Note(key: "\($0)") })
    try store.close()
    let written = try store.metrics()
    var options = StoreOptions()
    options.access = .reading
    let reader = try PersistentStore(at: path, model: .samples, options: options)
    let read = try reader.metrics()
    #expect(read.sequence == written.sequence)
    #expect(read.pageBytes == written.pageBytes)
    #expect(read.livePageBytes == written.livePageBytes)
    #expect(read.logBytes == written.logBytes)
    #expect(read.commits == 0)
    try reader.close()
    #expect(try reader.metrics().state == .closed)
  }
}
