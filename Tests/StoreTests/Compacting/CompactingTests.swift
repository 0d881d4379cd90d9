import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Giving room back, and copying, as a program asks for it.
@Suite struct CompactingTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func open(_ options: StoreOptions = .withoutAutomaticCompaction) throws -> PersistentStore
  {
    try PersistentStore(at: path, model: .samples, options: options)
  }

  /// A store with half of its accounts deleted.
  private func store(_ count: Int = 600) throws -> PersistentStore {
    let store = try open()
    let accounts = Account.some(count)
    try store.write { transaction in try transaction.save(contentsOf: accounts) }
    try store.backend.fold()
    try store.write { transaction in
      _ = try transaction.delete(contentsOf: accounts.filter { $0.id % 2 == 1 })
      try transaction.save(Note(key: "large", text: String(repeating: "x", count: 2_000_000)))
    }
    try store.backend.fold()
    try store.write { transaction in _ = try transaction.delete(Note(key: "large")) }
    try store.backend.fold()
    return store
  }

  private static func remaining(_ count: Int = 600) -> [Account] {
    Account.some(count).filter { $0.id % 2 == 0 }
  }

  private func accounts(_ store: PersistentStore) throws -> [Account] {
    try store.fetch(Account.self).sorted { $0.id < $1.id }
  }

  /// The bytes of the files of pages.
  private func pageBytes() throws -> Int {
    let medium = try PosixFileSystem(at: path)
    return try medium.list(at: .test).reduce(0) { sum, name in
      guard case .pages = name.kind else { return sum }
      return try sum + medium.open(name, .read, at: .test).size(at: .test)
    }
  }

  @Test func `a compaction says what it gains before, and has gained it after`() throws {
    let store = try store()
    let prediction = try store.predictedGain()
    #expect(try prediction.size == pageBytes())
    #expect(prediction.garbage > 2_000_000 && prediction.keptBytes == 0)
    // The gain is less by the header and the footers.
    #expect(prediction.gain < prediction.garbage)
    #expect(prediction.gain > prediction.garbage - 64 << 10)
    var told: [CompactionProgress] = []
    let report = try store.compact { told.append($0) }
    #expect(report.sizeBefore == prediction.size)
    #expect(try report.sizeAfter == pageBytes())
    #expect(report.sizeBefore - report.sizeAfter > prediction.gain / 10 * 9)
    #expect(report.entries >= 300 && report.slices == told.count && report.releasedFiles > 0)
    #expect(told.last?.writtenBytes == report.writtenBytes)
    #expect(try accounts(store) == Self.remaining())
    try store.expectSound()
    try store.close()
    let again = try open()
    #expect(try accounts(again) == Self.remaining())
    try again.close()
  }

  @Test(arguments: [0, 1, 30, 3_000])
  func `after a compaction no gain is predicted, and none is made`(count: Int) throws {
    let store = try open()
    try store.write { try $0.save(contentsOf: Account.some(count)) }
    try store.compact()
    for scope in [CompactionOptions.Scope.whole, .segments] {
      let prediction = try store.predictedGain(of: CompactionOptions(scope: scope))
      #expect(prediction.gain == 0, "\(prediction)")
    }
    var options = CompactionOptions()
    options.leastGainShare = 0.05
    let left = try store.compact(options)
    #expect(left.slices == 0 && left.entries == 0 && left.sizeBefore == left.sizeAfter)
    let report = try store.compact()
    #expect(report.slices > 0 && abs(report.sizeAfter - report.sizeBefore) <= 8192, "\(report)")
    try store.close()
  }

  @Test func `a compaction that gains the share that is wanted is done`() throws {
    let store = try store()
    var options = CompactionOptions()
    options.leastGainShare = 0.05
    let report = try store.compact(options)
    #expect(report.slices > 0 && report.sizeAfter < report.sizeBefore / 2)
    #expect(try accounts(store) == Self.remaining())
    try store.close()
  }

  @Test func `what files of blobs gain is said before, and gained after`() throws {
    var options = StoreOptions.withoutAutomaticCompaction
    options.blobSegmentSize = 100_000
    let store = try PersistentStore(at: path, model: Photo.model, options: options)
    for id in 0..<40 { try store.save(Photo(id, image: 40_000)) }
    for id in 0..<40 where id % 4 != 0 { try store.delete(Photo(id, image: 0)) }
    let statistics = try store.blobStatistics()
    let prediction = try store.predictedGain()
    #expect(prediction.blobSize == statistics.segments.reduce(0) { $0 + $1.size })
    #expect(prediction.blobGain > prediction.blobSize / 4)
    #expect(prediction.blobGain <= statistics.garbageBytes + 4096 * statistics.segments.count)
    // Files with anything in them are left alone then.
    let segments = CompactionOptions(scope: .segments(leastGarbage: 1))
    #expect(try store.predictedGain(of: segments).blobGain < prediction.blobGain)
    let report = try store.compact()
    #expect(report.blobSizeBefore == prediction.blobSize)
    let gained = report.blobSizeBefore - report.blobSizeAfter
    #expect(abs(gained - prediction.blobGain) < prediction.blobGain / 4)
    #expect(try store.predictedGain().blobGain < prediction.blobGain / 4)
    try store.expectSound()
    try store.close()
  }

  @Test func `it ends where it is told to, and goes on there`() throws {
    struct Enough: Error {}
    let store = try store(4_000)
    var options = CompactionOptions()
    options.sliceBytes = 1
    #expect(throws: Enough.self) {
      try store.compact(options) { _ in throw Enough() }
    }
    let pending = try store.snapshot().footer.pendingWork
    let isLarge = !pending.isEmpty
    #expect(try store.predictedGain().size > 0)
    try store.close()
    let again = try open()
    let report = try again.compact()
    #expect(!isLarge || report.slices > 0)
    #expect(try again.snapshot().footer.pendingWork.isEmpty)
    #expect(try accounts(again) == Self.remaining(4_000))
    try again.expectSound()
    try again.close()
  }

  @Test func `steps come to an end`() throws {
    let store = try store(4_000)
    var steps = 0
    while try store.compactionStep(budget: WorkBudget(records: 50, time: .seconds(5))) {
      steps += 1
      try store.save(Note(key: "\(steps)"))
      try #require(steps < 200)
    }
    #expect(try store.predictedGain().garbage < 1_000_000)
    #expect(try accounts(store) == Self.remaining(4_000))
    try store.expectSound()
    try store.close()
  }

  @Test func `a rate is kept`() throws {
    let store = try store(3_000)
    var options = CompactionOptions()
    options.bytesPerSecond = 2 << 20
    let report = try store.compact(options)
    let least = Duration.seconds(Double(report.writtenBytes) / Double(2 << 20) * 0.9)
    #expect(report.elapsed >= least)
    try store.close()
  }

  @Test func `a task that is cancelled ends it`() async throws {
    let store = try store(3_000)
    var options = CompactionOptions()
    options.bytesPerSecond = 1000
    let slow = options
    let task = Task.detached { try await store.compact(slow) }
    try await Task.sleep(for: .milliseconds(20))
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    let report = try await store.compact()
    #expect(report.sizeAfter > 0)
    #expect(try accounts(store) == Self.remaining(3_000))
    try await store.close()
  }

  @Test func `who only reads cannot compact, and can say what it would gain`() throws {
    let store = try store()
    try store.backend.seal()
    var options = StoreOptions.withoutAutomaticCompaction
    options.access = .reading
    let reader = try open(options)
    #expect(try reader.predictedGain() == store.predictedGain())
    #expect(storeError { try reader.compact() } == .readOnly(path: path))
    try store.compact()
    #expect(try accounts(reader) == Self.remaining())
    try reader.refresh()
    #expect(try accounts(reader) == Self.remaining())
    try store.close()
    #expect(storeError { try store.compact() } == .closed(path: path))
  }

  @Test func `a store in memory gives room back`() throws {
    try withStore { store in
      try store.write { try $0.save(contentsOf: Account.some(500)) }
      try store.backend.fold()
      try store.write { _ = try $0.delete(contentsOf: Account.some(400)) }
      try store.backend.fold()
      let report = try store.compact()
      #expect(report.sizeAfter < report.sizeBefore)
      #expect(try accounts(store).count == 100)
    }
  }

  // MARK: Backups

  @Test func `a backup is the store as it was, and a store of its own`() throws {
    let store = try store()
    try store.save(Note(key: "last"))
    let target = directory.path + "/copy"
    let report = try store.backUp(to: target + "/")
    #expect(try report.sequence == store.snapshot().sequence)
    try store.delete(Note(key: "last"))
    let copy = try PersistentStore(
      at: target, model: .samples, options: .withoutAutomaticCompaction)
    #expect(try accounts(copy) == Self.remaining())
    #expect(try copy.fetch(Note.self, key: "last") != nil)
    #expect(copy.report.replayedCommits == 0)
    #expect(try copy.schemas() == store.schemas())
    try copy.expectSound()
    try copy.save(Note(key: "other"))
    try copy.close()
    #expect(try store.fetch(Note.self, key: "other") == nil)
    // Nothing else is left, and what is there is not replaced.
    #expect(try PosixFileSystem(at: directory.path).list(at: .test).isEmpty)
    #expect(try directory.workNames() == [])
    for path in [target, self.path, target + "/"] {
      guard case .io(.fileExists, _, _) = storeError({ try store.backUp(to: path) }) else {
        Issue.record("something was replaced")
        continue
      }
    }
    try store.close()
  }

  @Test func `one that was broken off leaves nothing in the way of the next`() async throws {
    struct Enough: Error {}
    let store = try store(9_000)
    let target = directory.path + "/copy"
    #expect(throws: Enough.self) {
      try store.backUp(to: target) { progress in
        if progress.entries > 4096 { throw Enough() }
      }
    }
    #expect(unsafe access(target, F_OK) != 0)
    #expect(try directory.workNames() == [])
    let report = try await store.backUp(to: target)
    let copy = try await PersistentStore(
      at: target, model: .samples, options: .withoutAutomaticCompaction)
    #expect(try accounts(copy) == Self.remaining(9_000) && report.entries > 4500)
    try await copy.close()
    try await store.close()
  }

  @Test func `a backup whose task is cancelled says so, and leaves nothing`() async throws {
    let store = try store(9_000)
    let target = directory.path + "/copy"
    let task = Task {
      try await store.backUp(to: target)
    }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(unsafe access(target, F_OK) != 0)
    #expect(try directory.workNames() == [])
    try await store.close()
  }

  @Test func `a store that is read, or in memory, is copied too`() throws {
    let store = try store()
    try store.save(Note(key: "late"))
    try store.close()
    var options = StoreOptions.withoutAutomaticCompaction
    options.access = .reading
    let reader = try open(options)
    try reader.backUp(to: directory.path + "/one")
    try withStore { memory in
      try memory.save(Note(key: "late"))
      try memory.write { try $0.save(contentsOf: Self.remaining()) }
      try memory.backUp(to: directory.path + "/two")
    }
    for name in ["one", "two"] {
      let copy = try PersistentStore(
        at: directory.path + "/" + name, model: .samples, options: .withoutAutomaticCompaction)
      #expect(try accounts(copy) == Self.remaining())
      #expect(try copy.fetch(Note.self, key: "late") != nil)
      try copy.expectSound()
      try copy.close()
    }
  }

  @Test func `history goes on in a copy`() throws {
    var options = StoreOptions.withoutAutomaticCompaction
    options.history = HistoryOptions()
    let store = try open(options)
    try store.save(Note(key: "a"))
    let cursor = try store.snapshot().historyCursor
    try store.save(Note(key: "b"))
    try store.backUp(to: directory.path + "/copy")
    let copy = try PersistentStore(
      at: directory.path + "/copy", model: .samples, options: options)
    let history = try copy.history(since: cursor)
    let sequence = try history.next()?.sequence
    #expect(try sequence == store.snapshot().sequence)
    let next = try history.next()
    #expect(next == nil)
    try copy.close()
    try store.close()
  }
}
