import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Properties that are not stored and whose changes are told all the same.
@Suite(.timeLimit(.minutes(60))) struct TrackedPropertyTests {
  private func makeStore(_ options: StoreOptions = StoreOptions()) throws -> PersistentStore {
    try PersistentStore(inMemory: .downloads, options: options)
  }

  // MARK: What is told

  /// The effects of one operation on one record.
  private struct Outcome: Equatable {
    /// The changed fields that observers are told of; nil if they are not told.
    var fields: Set<String>?
    var commits: UInt64
    var progress: Double
    var views: Int
  }

  /// Saves a record, changes it in one way, and says what came of it: as a transaction tells, and as observers are told.
  private func outcome(
    _ operation: Operation, _ change: (inout Download) -> Void
  ) async throws -> Outcome {
    let store = try makeStore()
    try await store.save(Download(id: 1, name: "a", progress: 0.5))
    let before = try store.snapshot().sequence
    let told = Told(by: try store.changes(of: Download.self))
    let ofKey = Told(by: try store.changes(of: Download.self, key: 1))
    var new = try #require(try store.fetch(Download.self, key: 1))
    change(&new)
    let fields = try await operation.run(new, change, in: store)
    let commits = try store.snapshot().sequence - before
    // Behind it comes one that is told in any case.
    try await store.update(Download.where { $0.id == 1 }) { $0.name += "+" }
    try await store.save(Download(id: 2, name: "end"))
    let update = try #require(try await told.next()?.updated.first)
    #expect(update.changedFields.subtracting(["name"]) == (fields ?? []).subtracting(["name"]))
    #expect(update.old == Download(id: 1, name: "a", progress: 0.5))
    #expect(update.new.progress == new.progress)
    let change = try #require(try await ofKey.next())
    #expect(change.record?.progress == new.progress)
    let found = try #require(try store.fetch(Download.self, key: 1))
    return Outcome(
      fields: fields, commits: commits, progress: found.progress, views: found.views)
  }

  private enum Operation: CaseIterable {
    case save, update, merge, updateOther, byQuery, inTask, saveMany

    /// Returns the changed fields that the transaction itself tells.
    func run(
      _ new: Download, _ change: (inout Download) -> Void, in store: PersistentStore
    ) async throws -> Set<String>? {
      if self == .inTask {
        return try await store.write { try Self.fields(of: &$0) { try $0.save(new) } }
      }
      return try runAtOnce(new, change, in: store)
    }

    private func runAtOnce(
      _ new: Download, _ change: (inout Download) -> Void, in store: PersistentStore
    ) throws -> Set<String>? {
      try store.write { transaction in
        try Self.fields(of: &transaction) { transaction in
          switch self {
          case .save, .inTask: try transaction.save(new)
          case .update: try transaction.update(new)
          case .merge: try transaction.save(new) { stored, new in stored = new }
          case .updateOther:
            var other = new
            other.id = 9
            try transaction.save(other, onConflict: .updateOther)
          case .byQuery: try transaction.update(Download.where { $0.id == 1 }, set: change)
          case .saveMany: try transaction.save(contentsOf: [new])
          }
        }
      }
    }

    private static func fields(
      of transaction: inout WriteTransaction, _ body: (inout WriteTransaction) throws -> Void
    ) throws -> Set<String>? {
      transaction.keepChanges()
      try body(&transaction)
      return try transaction.changes(of: Download.self).updated.first?.changedFields
    }
  }

  @Test(arguments: Operation.allCases)
  private func `A17: a tracked property is among the changed fields, and no row is written`(
    by operation: Operation
  ) async throws {
    func row(_ fields: Set<String>?, commits: UInt64, progress: Double = 0.5) -> Outcome {
      Outcome(fields: fields, commits: commits, progress: progress, views: 0)
    }
    #expect(try await outcome(operation) { _ in } == row(nil, commits: 0))
    #expect(try await outcome(operation) { $0.views = 7 } == row(nil, commits: 0))
    #expect(try await outcome(operation) { $0.size = 7 } == row(["size"], commits: 1))
    #expect(
      try await outcome(operation) { $0.progress = 0.75 }
        == row(["progress"], commits: 0, progress: 0.75))
    #expect(
      try await outcome(operation) { $0.progress = 0 }
        == row(["progress"], commits: 0, progress: 0))
    #expect(
      try await outcome(operation) { ($0.progress, $0.size) = (1, 7) }
        == row(["progress", "size"], commits: 1, progress: 1))
  }

  @Test func `A17: what is not tracked is neither told nor kept`() async throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Plain.self]))
    try await store.save(Plain(id: 1))
    let told = Told(by: try store.changes(of: Plain.self))
    try await store.save(Plain(id: 1, views: 3, hits: 4))
    try await store.save(Plain(id: 2))
    let set = try #require(try await told.next())
    #expect(set.updated.isEmpty && set.inserted.map(\.id) == [2])
    #expect(try store.fetch(Plain.self, key: 1) == Plain(id: 1))
    #expect(try store.backend.snapshot().unstored.isEmpty)
  }

  @Test func `an observer that waits is woken by a change that is not stored`() async throws {
    let store = try makeStore()
    try await store.save(Download(id: 1, name: "a"))
    let changes = try store.changes(of: Download.self)
    async let first = Told(by: changes).next()
    for step in 1...20 {
      try await Task.sleep(for: .milliseconds(5))
      try await store.save(Download(id: 1, name: "a", progress: Double(step)), durability: .durable)
    }
    let update = try #require(try await first?.updated.first)
    #expect(update.old.progress == 0 && update.new.progress > 0)
    #expect(update.changedFields == ["progress"])
  }

  @Test func `queries that are observed show the tracked values of their records`() async throws {
    let store = try makeStore()
    try await store.save(Download(id: 1, name: "a"))
    try await store.save(Download(id: 2, name: "b"))
    let all = Told(by: try store.results(of: Query<Download>().sorted(by: .ascending(\.name))))
    let window = Told(by: try store.results(of: Download.where { $0.id < 9 }.limit(1)))
    let set = Told(by: try store.changes(of: Download.where { $0.name == "a" }))
    #expect(try await all.next()?.records.map(\.progress) == [0, 0])
    #expect(try await window.next()?.records.map(\.progress) == [0])
    for (id, name) in [(1, "a"), (2, "b")] {
      try await store.save(Download(id: id, name: name, progress: Double(id)), durability: .durable)
    }
    let results = try #require(try await all.next())
    #expect(results.records.map(\.progress) == [1, 2])
    #expect(results.difference.updates.map(\.change.changedFields) == [["progress"], ["progress"]])
    #expect(try await window.next()?.records.map(\.progress) == [1])
    #expect(try await set.next()?.updated.map(\.new.progress) == [1])
  }

  /// Why nobody knows which records a transaction has written.
  private enum Unknown: CaseIterable { case allDeleted, begunWithin, folded }

  @Test(arguments: Unknown.allCases)
  private func `records whose rows are the same are compared when nobody knows which were written`(
    because reason: Unknown
  ) async throws {
    let store = try makeStore()
    for id in 1...9 { try await store.save(Download(id: id, name: "\(id)", progress: 1)) }
    try store.backend.fold()
    var changes = reason == .allDeleted ? try store.changes(of: Download.self) : nil
    try await store.write { transaction in
      if reason == .allDeleted {
        try transaction.deleteAll(Download.self)
      } else {
        // No keys are noted for an observer that comes now.
        changes = try store.changes(of: Download.self)
        try transaction.delete(Download.self, key: 9)
      }
      for id in 1...8 {
        try transaction.save(
          Download(id: id, name: "\(id)", size: id == 5 ? 5 : 0, progress: id % 3 == 0 ? 1 : 2))
      }
    }
    if reason == .folded { try store.backend.fold() }
    let told = Told(by: try #require(changes))
    let set = try #require(try await told.next())
    #expect(set.updated.map(\.new.id) == [1, 2, 4, 5, 7, 8])
    #expect(set.updated.allSatisfy { $0.old.progress == 1 && $0.new.progress == 2 })
    #expect(set.updated.map(\.changedFields.count) == [1, 1, 1, 2, 1, 1])
    #expect(set.deleted.map(\.id) == [9] && set.inserted.isEmpty)
  }

  @Test func `an observer beside busy writers misses no change that is not stored`() async throws {
    let store = try makeStore()
    let (writers, steps) = (3, scaled(20_000, debug: 2000))
    for id in 0..<writers { try await store.save(Download(id: id, name: "\(id)")) }
    let changes = try store.changes(of: Download.self)
    try await withThrowingTaskGroup { group in
      for id in 0..<writers {
        group.addTask {
          for step in 1...steps {
            let record = Download(
              id: id, name: "\(id)", size: step / 500, progress: Double(step))
            try await store.write(durability: step % 100 == 0 ? .durable : .relaxed) {
              try $0.save(record)
            }
          }
        }
      }
      group.addTask {
        var progress = [Double](repeating: 0, count: writers)
        for try await set in changes {
          for update in set.updated {
            #expect(update.old.progress == progress[update.new.id])
            progress[update.new.id] = update.new.progress
          }
          if progress.allSatisfy({ $0 == Double(steps) }) { break }
        }
      }
      try await group.waitForAll()
    }
  }

  // MARK: What is kept

  @Test func `a snapshot has the tracked values that were committed before it`() throws {
    let store = try makeStore()
    try store.save(Download(id: 1, name: "a", progress: 0.25))
    let old = try store.snapshot()
    try store.save(Download(id: 1, name: "a", progress: 0.5))
    let new = try store.snapshot()
    try store.write { transaction in
      try transaction.save(Download(id: 1, name: "a", progress: 0.75))
      #expect(try transaction.fetch(Download.self, key: 1)?.progress == 0.75)
      #expect(try store.fetch(Download.self, key: 1)?.progress == 0.5)
    }
    #expect(try old.fetch(Download.self, key: 1)?.progress == 0.25)
    #expect(try new.fetch(Download.self).map(\.progress) == [0.5])
    #expect(old.sequence == new.sequence)
    #expect(try store.fetch(Download.where { $0.name == "a" }).map(\.progress) == [0.75])
    #expect(try store.fetch(Download.self, keys: [1]).map(\.progress) == [0.75])
  }

  @Test func `what is rolled back, or not committed, drops tracked values`() throws {
    let medium = InterposedFileSystem(InMemoryFileSystem())
    let store = try PersistentStore(on: medium, model: .downloads, seed: 1)
    func progress() throws -> Double? {
      let record = try store.fetch(Download.self, key: 1)
      return record?.progress
    }
    try store.save(Download(id: 1, name: "a", progress: 1))
    try store.save(Download(id: 2, name: "b"))
    struct Stop: Error {}
    #expect(throws: Stop.self) {
      try store.write { transaction in
        try transaction.save(Download(id: 1, name: "a", progress: 2))
        throw Stop()
      }
    }
    #expect(try progress() == 1)
    try store.write { transaction in
      try transaction.save(Download(id: 1, name: "a", progress: 2))
      try? transaction.savepoint { transaction in
        try transaction.save(Download(id: 1, name: "a", progress: 3))
        try transaction.delete(Download.self, key: 1)
        throw Stop()
      }
      #expect(try transaction.fetch(Download.self, key: 1)?.progress == 2)
    }
    #expect(try progress() == 2)
    #expect(throws: StoreError.self) { try store.save(Download(id: 1, name: "b", progress: 4)) }
    #expect(try progress() == 2)
    medium.failWriting { _ in .noSpace }
    #expect(throws: StoreError.self) {
      try store.save(Download(id: 1, name: "c", progress: 5), durability: .durable)
    }
    #expect(try progress() == 2)
  }

  @Test(arguments: [false, true])
  func `a tracked value is visible when the commit before it is, or never`(isLost: Bool)
    async throws
  {
    let medium = InterposedFileSystem(InMemoryFileSystem())
    let store = try PersistentStore(on: medium, model: .downloads, seed: 1)
    // The store has no threads, so nothing in it may suspend.
    try { try store.save(Download(id: 1, name: "1"), durability: .durable) }()
    let crew = Crew()
    let isRefused = Guarded(false)
    var duringFlush: [Double] = []
    var isWritten = false
    medium.beforeCalls { _ in
      if isWritten { return }
      isWritten = true
      if isLost { medium.failWriting { _ in .ioError } }
      do {
        // On another thread, as it returns when what it waits for is visible.
        try crew.start { _ in
          do {
            try store.write(durability: .relaxed) { transaction in
              for id in 1...2 {
                try transaction.save(Download(id: id, name: "\(id)", progress: 5))
              }
            }
          } catch {
            isRefused.withLock { $0 = true }
          }
        }
        usleep(20_000)
        duringFlush = try store.fetch(Download.self).map(\.progress)
      } catch {
        Issue.record(error)
      }
    }
    let error = storeError {
      try store.save(Download(id: 2, name: "2"), durability: .durable)
    }
    #expect(await crew.ends())
    medium.beforeCalls(nil)
    #expect(isWritten && duringFlush == [0])
    #expect((error != nil) == isLost)
    #expect(isRefused.withLock { $0 } == isLost)
    #expect(try store.fetch(Download.self).map(\.progress) == (isLost ? [0] : [5, 5]))
  }

  @Test func `a deleted record, and a closed store, have no tracked values`() throws {
    let medium = InMemoryFileSystem()
    let store = try PersistentStore(on: medium, model: .downloads, seed: 1)
    func renewed() throws -> [Double] {
      for id in 1...2 { try store.write { try $0.save(.download(id)) } }
      return try store.fetch(Download.self).map(\.progress)
    }
    func fill() throws {
      for id in 1...2 { try store.save(Download(id: id, name: "\(id)", progress: 1)) }
    }
    try fill()
    // Written without its type, a record keeps them.
    #expect(try renewed() == [1, 1])
    try store.delete(Download.self, key: 1)
    #expect(try renewed() == [0, 1])
    try store.delete(Download.where { $0.name == "2" })
    #expect(try renewed() == [0, 0])
    try fill()
    try store.write { try $0.deleteAll(Download.self) }
    #expect(try store.backend.snapshot().unstored.isEmpty)
    #expect(try renewed() == [0, 0])
    try fill()
    let last = try store.snapshot()
    try store.close()
    #expect(try last.fetch(Download.self).map(\.progress) == [1, 1])
    let reopened = try PersistentStore(on: medium, model: .downloads, seed: 1)
    #expect(try reopened.fetch(Download.self).map(\.progress) == [0, 0])
    try reopened.close()
  }

  @Test func `folds, compaction and commits without a log keep tracked values`() throws {
    var options = StoreOptions()
    options.transactionBudget = 1000
    let store = try makeStore(options)
    struct Stop: Error {}
    try store.write { transaction in
      for id in 0..<500 { try transaction.save(Download(id: id, name: "\(id)", progress: 1)) }
      try? transaction.savepoint { transaction in
        for id in 0..<500 { try transaction.save(Download(id: id, name: "\(id)", progress: 2)) }
        throw Stop()
      }
    }
    func check() throws {
      let found = try store.fetch(Download.self)
      #expect(found.count == 500 && found.allSatisfy { $0.progress == 1 })
    }
    try check()
    try store.backend.fold()
    try check()
    try store.compact()
    try check()
    try store.close()
  }

  @Test func `tracked properties of composites and kinds are told by their whole names`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Job.self, Build.self]))
    func fields<Subject: Record>(_ record: Subject) throws -> Set<String>? {
      try store.write { transaction in
        transaction.keepChanges()
        try transaction.save(record)
        return try transaction.changes(of: Job.self).updated.first?.changedFields
      }
    }
    var build = Build(job: Job(id: 1), warnings: 0)
    #expect(try fields(build) == nil)
    build.job.place = .init(room: "a", load: 3)
    build.warnings = 2
    #expect(
      try fields(build)?.isSuperset(of: ["place.load", "place.room", "Build.warnings"]) == true)
    build.job.place?.load = 4
    #expect(try fields(build) == ["place.load"])
    #expect(try store.fetch(Build.self) == [build])
    // Over a kind, only what the parent has is written.
    var job = build.job
    job.heat = 9
    #expect(try fields(job) == ["heat"])
    build.job = job
    #expect(try store.fetch(Build.self) == [build] && store.fetch(Job.self) == [job])
    build.job.place = nil
    #expect(try fields(build)?.contains("place.load") == true)
    #expect(try store.fetch(Build.self) == [build])
    build.job.place = .init(room: "a")
    try store.save(build)
    #expect(try store.fetch(Job.self, key: 1)?.place?.load == 0)
    try store.delete(Job.self, key: 1)
    #expect(try store.backend.snapshot().unstored.isEmpty)
  }

  @Test func `hooks are given tracked values, and change them`() throws {
    let store = try PersistentStore(inMemory: StoreModel(records: [Hooked.self]))
    try store.save(Hooked(id: 1, count: 1))
    try store.save(Hooked(id: 1, count: 2))
    #expect(try store.fetch(Hooked.self, key: 1)?.count == 12)
  }

  // MARK: What is refused

  @Test func `tracked properties are refused where they cannot be compared or named`() throws {
    func fault<Subject: Record>(_ type: Subject.Type) -> String {
      let error = storeError { try PersistentStore(inMemory: StoreModel(records: [type])) }
      guard case .invalidDescription(_, let field, _, let reason) = error else { return "none" }
      return "\(field ?? ""): \(reason)"
    }
    #expect(
      fault(Incomparable.self).hasPrefix("cause: ")
        && fault(Incomparable.self).contains("not Equatable"))
    #expect(fault(SameName.self).hasPrefix("size: "))
    #expect(fault(Coded.self).hasPrefix("progress: ") && fault(Coded.self).contains(".codable"))
  }

  @Test func `conditions, orders and indexes refuse tracked properties as all that are not stored`()
    throws
  {
    let store = try makeStore()
    func isInvalid(_ error: StoreError?) -> Bool {
      if case .invalidQuery = error { true } else { false }
    }
    #expect(isInvalid(storeError { try store.fetch(Download.where { $0.progress > 0.5 }) }))
    #expect(
      isInvalid(
        storeError { try store.fetch(Query<Download>().sorted(by: .ascending(\.progress))) }))
    let error = storeError {
      try PersistentStore(inMemory: StoreModel(records: [Indexed.self]))
    }
    guard case .invalidDescription = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  // MARK: - At random

  @Test func `tracked values at random are those of a model`() async throws {
    for seed in 0..<UInt64(scaled(300, debug: 25)) {
      do { try await TrackedHistory(seed: seed).run() } catch {
        Issue.record("seed \(seed): \(error)")
      }
    }
  }
}

/// A store and an observer of it, against dictionaries.
private final class TrackedHistory {
  private var random: SplitMix64
  private let medium = InMemoryFileSystem()
  private var store: PersistentStore
  private var records: [Int: Download] = [:]
  private var snapshots: [(StoreSnapshot, [Int: Download])] = []
  private var told: Told<StoreObservation<ChangeSet<Download>>>
  /// The records as the observer was told.
  private var mirror: [Int: Download] = [:]
  private struct Stop: Error {}

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    store = try Self.open(medium, &random)
    told = Told(by: try store.changes(of: Download.self))
  }

  private static func open(
    _ medium: InMemoryFileSystem, _ random: inout SplitMix64
  ) throws -> PersistentStore {
    var options = StoreOptions()
    if Bool.random(using: &random) { options.transactionBudget = 600 }
    return try PersistentStore(
      on: medium, model: .downloads, options: options, seed: random.next())
  }

  func run() async throws {
    for _ in 0..<60 {
      try await step()
      try agree(try fetched(store) == records, "the records are others")
    }
    for (snapshot, expected) in snapshots {
      try agree(try fetched(snapshot) == expected, "a snapshot has changed")
    }
    try await observe()
    try await store.close()
  }

  private func fetched(_ reader: some RecordReading) throws -> [Int: Download] {
    Dictionary(uniqueKeysWithValues: try reader.fetch(Download.self).map { ($0.id, $0) })
  }

  private func step() async throws {
    switch Int.random(in: 0..<20, using: &random) {
    case 0: try store.backend.fold()
    case 1: snapshots.append((try store.snapshot(), records))
    case 2: try await observe()
    case 3: try await reopen()
    default: try write()
    }
  }

  /// One transaction, which may fail, of changes, some of which are taken back.
  private func write() throws {
    var new = records
    let fails = Int.random(in: 0..<5, using: &random) == 0
    do {
      try store.write(durability: Bool.random(using: &random) ? .durable : .relaxed) {
        transaction in
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let before = new
          let isTakenBack = Int.random(in: 0..<4, using: &random) == 0
          do {
            try transaction.savepoint { transaction in
              for _ in 0..<Int.random(in: 1...3, using: &random) {
                try change(&transaction, &new)
              }
              if isTakenBack { throw Stop() }
            }
          } catch is Stop { new = before }
          try agree(
            Dictionary(
              uniqueKeysWithValues: try transaction.fetch(Download.self).map { ($0.id, $0) })
              == new,
            "the transaction reads others")
        }
        if fails { throw Stop() }
      }
      records = new
    } catch is Stop {}
  }

  private func change(
    _ transaction: inout WriteTransaction, _ records: inout [Int: Download]
  ) throws {
    let id = Int.random(in: 0..<12, using: &random)
    var record = records[id] ?? Download(id: id, name: "\(id)")
    switch Int.random(in: 0..<12, using: &random) {
    case 0:
      try transaction.delete(Download.self, key: id)
      records[id] = nil
      return
    case 1:
      let below = Int.random(in: 0..<4, using: &random)
      try transaction.delete(Download.where { $0.id < below })
      records = records.filter { $0.key >= below }
      return
    case 2 where Bool.random(using: &random):
      try transaction.deleteAll(Download.self)
      records = [:]
      return
    case 3:
      record.size = Int.random(in: 0..<3, using: &random)
      try transaction.save(
        DynamicRecord(
          "Download",
          [
            "id": .integer(Int64(id)), "name": .string(record.name),
            "size": .integer(Int64(record.size)),
          ]))
    case 4:
      let progress = Double(Int.random(in: 0..<3, using: &random))
      try transaction.update(Download.where { $0.id == id }) { $0.progress = progress }
      if records[id] == nil { return }
      record.progress = progress
    case 5:
      record.size = Int.random(in: 0..<3, using: &random)
      fallthrough
    default:
      record.progress = Double(Int.random(in: 0..<3, using: &random))
      try transaction.save(record)
    }
    records[id] = record
  }

  /// Takes what the observer is told, which makes its records those of the store.
  private func observe() async throws {
    if records == mirror { return }
    guard let set = try await told.next() else {
      throw Disagreement(description: "nothing is told")
    }
    for record in set.inserted + set.updated.map(\.new) { mirror[record.id] = record }
    for update in set.updated {
      let (old, new) = (update.old, update.new)
      var fields: Set<String> = []
      if old.size != new.size { fields.insert("size") }
      if old.progress != new.progress { fields.insert("progress") }
      try agree(fields == update.changedFields && !fields.isEmpty, "the fields are others")
    }
    for record in set.deleted { mirror[record.id] = nil }
    try agree(mirror == records, "the observer is told others")
  }

  private func reopen() async throws {
    try await store.close()
    store = try Self.open(medium, &random)
    for id in records.keys { records[id]?.progress = 0 }
    told = Told(by: try store.changes(of: Download.self))
    mirror = records
    snapshots = []
  }
}

extension StoreModel {
  fileprivate static var downloads: StoreModel { StoreModel(records: [Download.self]) }
}

private struct Download: Record, Equatable {
  var id: Int
  var name: String
  var size = 0
  var views = 0
  var progress = 0.0

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string, unique: true)
    Field(name: "size", type: .integer)
    Transient("views", default: 0)
    Transient("progress", default: 0.0, tracked: true)
  }
}

extension DynamicRecord {
  fileprivate static func download(_ id: Int) -> DynamicRecord {
    DynamicRecord(
      "Download",
      ["id": .integer(Int64(id)), "name": .string("\(id)"), "size": .integer(7)])
  }
}

private struct Plain: Record, Equatable {
  var id: Int
  var views = 0
  var hits = 0

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Transient("views", default: 0)
    Transient("hits", default: 0, tracked: false)
  }
}

private struct Job: Record, Equatable {
  var id: Int
  var place: Place?
  var heat = 0

  struct Place: Codable, Equatable {
    var room: String
    var load = 0
  }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(
      name: "place",
      type: .composite {
        Field(name: "room", type: .string)
        Transient("load", default: 0, tracked: true)
      }, optional: true)
    Transient("heat", default: 0, tracked: true)
  }
}

private struct Build: Record, Equatable {
  var job: Job
  var warnings: Int?

  static func recordDescription(for version: Int) -> RecordDescription {
    Parent(Job.self, property: "job")
    Transient("warnings", default: 0, tracked: true)
  }
}

private struct Hooked: Record {
  var id: Int
  var count = 0

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Transient("count", default: 0, tracked: true)
  }

  static var hooks: RecordHooks<Hooked> {
    RecordHooks(beforeUpdate: { record, old, _ in record.count += 10 * old.count })
  }
}

private protocol Cause: Sendable {}
private struct Rain: Cause, Equatable {}

private struct Incomparable: Record {
  var id: Int
  var cause: any Cause = Rain()

  init(from decoder: any Decoder) throws { id = try Int(from: decoder) }
  func encode(to encoder: any Encoder) throws { try id.encode(to: encoder) }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Transient("cause", default: Rain(), tracked: true)
  }
}

private struct SameName: Record {
  var id: Int
  var bytes: Int
  var size = 0

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "size", type: .integer, property: "bytes")
    Transient("size", default: 0, tracked: true)
  }
}

private struct Coded: Record {
  var id: Int
  var progress = 0.0

  static var coding: RecordCoding { .codable }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Transient("progress", default: 0.0, tracked: true)
  }
}

private struct Indexed: Record {
  var id: Int
  var progress = 0.0

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Transient("progress", default: 0.0, tracked: true)
    Index("progress")
  }
}
