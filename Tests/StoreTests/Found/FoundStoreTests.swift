import CambiumTesting
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A store of every kind, as the library of today leaves it and as earlier ones did: each is read, migrated and compacted.
@Suite struct FoundStoreTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  @Test(.enabled(if: FoundPlace.isRecording), arguments: FoundStore.allCases)
  func `stores are recorded if the environment says so`(kind: FoundStore) throws {
    try FoundPlace.record(kind, scratch: path)
  }

  @Test(arguments: FoundStore.allCases, FoundPlace.all)
  func `a store holds the records that were saved, for every reader`(
    kind: FoundStore, place: FoundPlace
  ) throws {
    try place.put(kind, at: path)
    for mode in [ReadMode.mapped, .buffered(cacheSize: 1 << 18)] {
      var options = StoreOptions()
      options.access = .reading
      options.readMode = mode
      let store = try PersistentStore(untypedAt: path, options: options)
      #expect(store.schema.version == kind.version)
      try expect(store, toHold: kind, in: kind.version)
    }
    try expectWhole()
  }

  @Test(arguments: FoundStore.allCases, FoundPlace.all)
  func `a store is read in every way, backed up and compacted`(
    kind: FoundStore, place: FoundPlace
  ) throws {
    try place.put(kind, at: path)
    let uses: [StoreUse] = [
      .inspect, .map, .check, .deepCheck, .records, .queries, .blobs, .history, .backUp, .compact,
      .deepCheck, .records, .backUp,
    ]
    for (number, use) in uses.enumerated() {
      let faults = try use.run(at: path, scratch: directory.path + "/copy\(number)")
      #expect(faults.isEmpty, "\(use): \(faults)")
    }
    let store = try PersistentStore(untypedAt: path)
    try expect(store, toHold: kind, in: kind.version)
    try store.close()
  }

  @Test(arguments: FoundStore.allCases, FoundPlace.all)
  func `a store is migrated to a version that none was recorded in, and compacted`(
    kind: FoundStore, place: FoundPlace
  ) throws {
    try place.put(kind, at: path)
    let store = try PersistentStore(
      at: path, model: kind.model.dynamic(version: 3), steps: kind.steps)
    try expect(store, toHold: kind, in: 3)
    try store.compact()
    try expect(store, toHold: kind, in: 3)
    try store.close()
    try expectWhole()
  }

  @Test(arguments: FoundStore.allCases, FoundPlace.all)
  func `the program of the same version goes on`(kind: FoundStore, place: FoundPlace) throws {
    try place.put(kind, at: path)
    let store = try PersistentStore(
      at: path, model: kind.model.dynamic(version: kind.version),
      steps: kind.version > 1 ? kind.steps : [])
    while try store.finishMigration(budget: WorkBudget(records: 30)) {}
    #expect(try store.pendingMigration == nil)
    try expect(store, toHold: kind, in: kind.version)
    // Every record is written again.
    try store.write { transaction in
      for record in kind.records(in: kind.version) { try transaction.save(record) }
    }
    try expect(store, toHold: kind, in: kind.version)
    try store.close()
    try expectWhole()
  }

  @Test(arguments: FoundPlace.all)
  func `a store goes back to the version that it keeps`(place: FoundPlace) throws {
    try place.put(.kept, at: path)
    #expect(try PersistentStore.inspect(at: path).keptVersions.map(\.version) == [1])
    try PersistentStore.rollback(at: path, to: 1)
    let store = try PersistentStore(untypedAt: path)
    try expect(store, toHold: .kept, in: 1)
    try store.close()
    try expectWhole()
  }

  @Test(arguments: FoundPlace.all)
  func `a history says what each commit did`(place: FoundPlace) throws {
    try place.put(.history, at: path)
    let history = try PersistentStore.snapshot(at: path).history()
    var (authors, changes): ([String?], [Int]) = ([], [])
    while let commit = try history.next() {
      authors.append(commit.author)
      changes.append(commit.changes.count)
    }
    #expect(authors == ["clerk", "clerk", "clerk", "clerk", "visitor", "visitor", nil])
    #expect(changes == [30, 30, 30, 10, 1, 1, 2])
  }

  /// Else the tests above would be of stores that are only called so.
  @Test(arguments: FoundPlace.all)
  func `stores are in the states that they are named for`(place: FoundPlace) throws {
    func open<Result>(_ kind: FoundStore, _ body: (PersistentStore) throws -> Result) throws
      -> Result
    {
      try place.put(kind, at: path)
      var options = StoreOptions()
      options.access = .reading
      return try body(PersistentStore(untypedAt: path, options: options))
    }
    #expect(try open(.deferred) { try $0.pendingMigration?.recordCount } == FoundRecords.itemCount)
    #expect(try open(.plain) { try $0.pendingMigration } == nil)
    let marks = try open(.migrating) { store in
      try store.snapshot().trees.count(in: store.backend.names.slot(of: MigrationMark.treeName))
    }
    #expect(marks == 1)
    #expect(try open(.blobs) { _ in try PersistentStore.inspect(at: path).blobBytes } > 0)
    try place.put(.crashed, at: path)
    let crashed = try PersistentStore(untypedAt: path)
    #expect(crashed.report.replayedCommits > 0)
    #expect(crashed.report.discardedTail != nil)
    try crashed.close()
  }

  private func expect(
    _ store: PersistentStore, toHold kind: FoundStore, in version: Int,
    _ location: SourceLocation = #_sourceLocation
  ) throws {
    let expected = try kind.expected(in: version).snapshot()
    let differences = try store.snapshot().contentDifferences(to: expected)
    #expect(differences == [], sourceLocation: location)
    try store.expectSound(location)
  }

  private func expectWhole(_ location: SourceLocation = #_sourceLocation) throws {
    let faults = try PersistentStore.check(at: path, .deep).faults
    #expect(faults.isEmpty, "\(faults)", sourceLocation: location)
  }
}
