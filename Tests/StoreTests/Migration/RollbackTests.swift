import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// One record in three versions.
private enum Things {
  struct First: Record, Equatable {
    var id: Int
    var title: String
    static func recordDescription(for version: Int) -> RecordDescription { Things.thing(version) }
  }

  struct Second: Record, Equatable {
    var id: Int
    var name: String
    var count: Int = 3
    static func recordDescription(for version: Int) -> RecordDescription { Things.thing(version) }
  }

  struct Third: Record, Equatable {
    var id: Int
    var name: String
    var count: Int?
    static func recordDescription(for version: Int) -> RecordDescription { Things.thing(version) }
  }

  @RecordDescription.ResultBuilder
  static func thing(_ version: Int) -> RecordDescription {
    RecordName("Thing")
    Field(primaryKey: true, name: "id", type: .integer)
    if version == 1 {
      Field(name: "title", type: .string, indexed: true)
    } else {
      Field(name: "name", type: .string, unique: true, migrationInfo: .init(renamingID: "title"))
      Field(
        name: "count", type: .integer, optional: version > 2, migrationInfo: .init(default: 3))
    }
  }
}

/// Migrated stores taken back to the version they had.
@Suite struct RollbackTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }
  private static let count = scaled(2_000, debug: 200)
  private static let things = (0..<count).map { Things.First(id: $0, title: "t\($0)") }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func open(
    _ version: Int, again: Bool = false, history: Bool = false
  ) throws -> PersistentStore {
    let types: [any Record.Type] = [Things.First.self, Things.Second.self, Things.Third.self]
    var options = StoreOptions()
    options.allowsMigrationAfterRollback = again
    if history { options.history = .keptForever }
    return try PersistentStore(
      at: path,
      model: StoreModel(version: version, label: "v\(version)", records: [types[version - 1]]),
      options: options)
  }

  /// A store of version 1, whose last commits are in no tree.
  private func make(history: Bool = false) throws {
    let store = try open(1, history: history)
    try store.write { try $0.insert(contentsOf: Self.things.dropLast(2)) }
    try store.close()
    let again = try open(1, history: history)
    for thing in Self.things.suffix(2) { try again.save(thing) }
    try again.write { try $0.setMetadata("of version 1", for: "note") }
  }

  @Test func `a store goes back to the version it had, with all that was there, L6`() throws {
    try make()
    let migrated = try open(2)
    #expect(
      try migrated.keptVersions().map { "\($0.version) \($0.label ?? "")" } == ["1 v1"])
    let last = try migrated.snapshot().sequence
    #expect(try migrated.keptVersions()[0].sequence == last - 1)
    #expect(storeError { try PersistentStore.rollback(at: path, to: 1) }?.isLocked == true)
    try migrated.close()
    #expect(try PersistentStore.inspect(at: path).keptVersions.map(\.version) == [1])

    try PersistentStore.rollback(at: path, to: 1)
    let inspection = try PersistentStore.inspect(at: path)
    #expect(inspection.version == 1 && inspection.label == "v1")
    #expect(inspection.keptVersions.isEmpty)
    #expect(inspection.sequence > last)
    let store = try open(1)
    #expect(try store.fetch(Things.First.self) == Self.things)
    #expect(try store.metadata(String.self, for: "note") == "of version 1")
    #expect(try store.snapshot().check() == [])
    try store.save(Things.First(id: -1, title: "after"))
    try store.close()
    #expect(
      storeError { try PersistentStore.rollback(at: path, to: 1) } == .notKept(version: 1, kept: [])
    )
  }

  @Test func `commits since the migration are not discarded unless that is asked for, L6`() throws {
    try make()
    let store = try open(2)
    try store.save(Things.Second(id: 0, name: "changed"))
    try store.write { try $0.setMetadata("of version 2", for: "note") }
    try store.save(Things.Second(id: -5, name: "new"))
    try store.close()
    let before = try directoryBytes(path)
    #expect(
      storeError { try PersistentStore.rollback(at: path, to: 1) } == .wouldDiscard(commits: 3))
    #expect(try PersistentStore.inspect(at: path).version == 2)
    #expect(before.keys == (try directoryBytes(path)).keys)
    try PersistentStore.rollback(at: path, to: 1, discardingCommits: true)
    let old = try open(1)
    #expect(try old.fetch(Things.First.self) == Self.things)
    #expect(try old.metadata(String.self, for: "note") == "of version 1")
    #expect(try old.snapshot().check() == [])
    try old.close()
  }

  @Test func `the program of the version that was left migrates again only when told to, L6`()
    throws
  {
    try make()
    try open(2).close()
    try PersistentStore.rollback(at: path, to: 1)
    for _ in 0..<2 {
      #expect(storeError { try open(2) } == .rolledBack(from: 2, to: 1))
      let old = try open(1)
      #expect(try old.count(Things.First.self) == Self.count)
      try old.save(Things.First(id: 0, title: "since"))
      try old.close()
    }
    let again = try open(2, again: true)
    #expect(try again.fetch(Things.Second.self, key: 0)?.name == "since")
    #expect(try again.snapshot().check() == [])
    #expect(try again.keptVersions().map(\.version) == [1])
    try again.close()
    // The mark is of no meaning now, and comes to mean something again.
    try open(2).close()
    try PersistentStore.rollback(at: path, to: 1)
    #expect(storeError { try open(2) } == .rolledBack(from: 2, to: 1))
    // A later version may have what was wrong put right.
    let third = try open(3)
    #expect(try third.fetch(Things.Third.self, key: 0)?.name == "since")
    try third.close()
    try PersistentStore.rollback(at: path, to: 1)
    #expect(storeError { try open(2) } == .rolledBack(from: 2, to: 1))
    #expect(storeError { try open(3) } == .rolledBack(from: 3, to: 1))
    try open(1).close()
  }

  @Test func `a run does not undo a rollback unless it is told to, and a rehearsal may try, L6`()
    throws
  {
    try make()
    try open(2).close()
    try PersistentStore.rollback(at: path, to: 1)
    var options = StoreOptions()
    let model = StoreModel(version: 2, label: "v2", records: [Things.Second.self])
    let migration = try PersistentStore.migration(at: path, to: model, options: options)
    #expect(
      migration.plan.faults == [.rolledBack(from: 2, to: 1)] && !migration.plan.canRun,
      "\(migration.plan)")
    #expect(storeError { try migration.run() } == .rolledBack(from: 2, to: 1))
    try migration.rehearse()
    let old = try open(1)
    #expect(try old.fetch(Things.First.self) == Self.things)
    try old.close()
    options.allowsMigrationAfterRollback = true
    let told = try PersistentStore.migration(at: path, to: model, options: options)
    #expect(told.plan.canRun)
    try told.run()
    try open(2).close()
  }

  @Test func `slices, later migrations and earlier rollbacks are no commits to be discarded, L6`()
    throws
  {
    try make()
    let deferred = try PersistentStore(
      at: path, model: StoreModel(version: 2, label: "v2", records: [Things.Second.self]))
    while try deferred.finishMigration(budget: .records(20)) {}
    try deferred.close()
    for _ in 0..<2 {
      var options = StoreOptions()
      options.migration.sliceCount = 10
      options.migration.stepwise = true
      options.allowsMigrationAfterRollback = true
      try PersistentStore(
        at: path, model: StoreModel(version: 3, label: "v3", records: [Things.Third.self]),
        options: options
      ).close()
      try PersistentStore.rollback(at: path, to: 2)
    }
    let second = try open(2)
    try second.save(Things.Second(id: 0, name: "changed"))
    try second.close()
    let third = try open(3, again: true)
    try third.save(Things.Third(id: 1, name: "changed, too"))
    try third.close()
    #expect(
      storeError { try PersistentStore.rollback(at: path, to: 2) } == .wouldDiscard(commits: 1))
    #expect(
      storeError { try PersistentStore.rollback(at: path, to: 1) } == .wouldDiscard(commits: 2))
    try PersistentStore.rollback(at: path, to: 2, discardingCommits: true)
    #expect(
      storeError { try PersistentStore.rollback(at: path, to: 1) } == .wouldDiscard(commits: 1))
    try PersistentStore.rollback(at: path, to: 1, discardingCommits: true)
    let first = try open(1)
    #expect(try first.fetch(Things.First.self) == Self.things)
    try first.close()
  }

  @Test func `of several kept versions one is gone back to, and those behind it are gone, L6`()
    throws
  {
    try make()
    try open(2).close()
    try open(3).close()
    #expect(try PersistentStore.inspect(at: path).keptVersions.map(\.version) == [1, 2])
    try PersistentStore.rollback(at: path, to: 2)
    #expect(try PersistentStore.inspect(at: path).keptVersions.map(\.version) == [1])
    let second = try open(2)
    #expect(try second.count(Things.Second.self) == Self.count)
    try second.close()
    try PersistentStore.rollback(at: path, to: 1)
    let first = try open(1)
    #expect(try first.fetch(Things.First.self) == Self.things)
    try first.close()
    #expect(storeError { try open(2) } == .rolledBack(from: 2, to: 1))
    #expect(storeError { try open(3) } == .rolledBack(from: 3, to: 1))
  }

  @Test func `what is kept is let go of by version, or before one, and cannot be gone back to`()
    throws
  {
    try make()
    try open(2).close()
    let store = try open(3)
    #expect(try PersistentStore.inspect(at: path).keptBytes >= 0)
    try store.dropKeptVersions(before: 2)
    #expect(try store.keptVersions().map(\.version) == [2])
    try store.dropKeptVersion(1)
    #expect(try store.keptVersions().map(\.version) == [2])
    try store.dropKeptVersion(2)
    #expect(try store.keptVersions().isEmpty)
    try store.dropKeptVersions()
    try store.close()
    #expect(try PersistentStore.inspect(at: path).keptBytes == 0)
    #expect(
      storeError { try PersistentStore.rollback(at: path, to: 2) } == .notKept(version: 2, kept: [])
    )
    let again = try open(3)
    #expect(try again.count(Things.Third.self) == Self.count)
    #expect(try again.snapshot().check() == [])
    try again.close()
  }

  @Test func `a version that no step began with is not kept`() throws {
    try make()
    try open(3).close()
    #expect(
      storeError { try PersistentStore.rollback(at: path, to: 2) }
        == .notKept(version: 2, kept: [1]))
    #expect(try PersistentStore.inspect(at: path).version == 3)
  }

  @Test func `who reads meanwhile keeps the version that he opened, and is told of another`() throws
  {
    try make()
    var reading = StoreOptions()
    reading.access = .reading
    func reader(_ version: Int) throws -> PersistentStore {
      let types: [any Record.Type] = [Things.First.self, Things.Second.self]
      return try PersistentStore(
        at: path, model: StoreModel(version: version, records: [types[version - 1]]),
        options: reading)
    }
    let first = try reader(1)
    let store = try open(2)
    // What is not known to be on the medium is shown to nobody else.
    try store.backend.seal()
    #expect(storeError { try first.refresh() } == .newerSchema(found: 2, supported: 1))
    #expect(try first.fetch(Things.First.self) == Self.things)
    let second = try reader(2)
    try store.save(Things.Second(id: -3, name: "x"))
    try store.flush()
    try store.close()
    #expect(try second.refresh())
    try PersistentStore.rollback(at: path, to: 1, discardingCommits: true)
    #expect(storeError { try second.refresh() } == .needsMigration(found: 1, wanted: 2))
    #expect(try second.fetch(Things.Second.self, key: -3)?.name == "x")
    #expect(storeError { try reader(2) } == .rolledBack(from: 2, to: 1))
    // It has the version again that he opened.
    try first.refresh()
    #expect(try first.fetch(Things.First.self) == Self.things)
    try first.close()
    try second.close()
  }

  // MARK: History

  @Test func `a migration ends the history: cursors from before it have expired`() throws {
    try make(history: true)
    let old = try open(1, history: true)
    let cursor = try old.snapshot().historyCursor
    try old.save(Things.First(id: 1, title: "before"))
    try old.close()
    let store = try open(2, history: true)
    try store.save(Things.Second(id: 2, name: "after"))
    // The commits of the migration are none of a program's: where they were made, the history has a gap.
    guard
      case .historyExpired(cursor.sequence, let kept) = storeError({
        _ = try store.history(since: cursor)
      })
    else { return #expect(Bool(false), "the cursor goes on") }
    #expect(kept == (try store.snapshot().sequence) - 1)
    let history = try store.history()
    let commit = try #require(try history.next())
    #expect(commit.changes.map(\.key) == [[2]])
    try store.close()
  }

  @Test func `every cursor from before going back has expired, and those behind it work`() throws {
    try make(history: true)
    let old = try open(1, history: true)
    try old.save(Things.First(id: 1, title: "before"))
    let before = try old.snapshot().historyCursor
    try old.close()
    let store = try open(2, history: true)
    for id in 0..<3 { try store.save(Things.Second(id: id, name: "after \(id)")) }
    let discarded = try store.snapshot().historyCursor
    try store.close()
    try PersistentStore.rollback(at: path, to: 1, discardingCommits: true)
    let back = try open(1, history: true)
    for round in 0..<2 {
      for cursor in [before, discarded] {
        guard
          case .historyExpired(cursor.sequence, _) = storeError({
            _ = try back.history(since: cursor)
          })
        else { return #expect(Bool(false), "the history goes on over a state that is gone") }
      }
      let cursor = try back.snapshot().historyCursor
      try back.save(Things.First(id: 7, title: "new \(round)"))
      let commit = try #require(try back.history(since: cursor).next())
      #expect(commit.changes.map(\.key) == [[7]])
    }
    #expect(try back.snapshot().check() == [])
    try back.close()
  }
}

extension StoreError {
  fileprivate var isLocked: Bool { if case .locked = self { true } else { false } }
}

/// What is in the files of a directory, by their names.
func directoryBytes(_ path: String) throws -> [String: Data] {
  var bytes: [String: Data] = [:]
  for name in try FileManager.default.contentsOfDirectory(atPath: path) {
    bytes[name] = try Data(contentsOf: URL(filePath: path + "/" + name))
  }
  return bytes
}
