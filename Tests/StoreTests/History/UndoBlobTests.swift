import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What undo brings back of values outside of rows, and who knows that the history has them.
@Suite struct UndoBlobTests {
  struct Sheet: Record, Hashable {
    var id: Int
    var title = ""
    var image = Data()
    var text = ""
    var shared: Data?
    var count: Int?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "title", type: .string)
      if version < 3 {
        Field(name: "image", type: .binaryData, storage: .external(threshold: 100))
      } else {
        Transient("image", default: Data())
      }
      Field(name: "text", type: .string, storage: .external(threshold: 50))
      Field(
        name: "shared", type: .binaryData,
        storage: .external(threshold: 50, deduplicated: true), optional: true)
      if version > 1 {
        Field(name: "count", type: .integer, optional: true)
      } else {
        Transient("count", default: Int?.none)
      }
    }

    init(_ id: Int, _ title: String = "", size: Int = 5000) {
      self.id = id
      self.title = title
      image = PhotoContent.bytes(size, seed: UInt64(id * 100 + title.count))
      text = PhotoContent.text(size / 10 + id)
      shared = PhotoContent.bytes(size, seed: 5)
    }
  }

  static func model(_ version: Int = 1) -> StoreModel {
    StoreModel(version: version, records: [Sheet.self])
  }

  static func options(_ commits: Int? = nil) -> StoreOptions {
    var options = StoreOptions()
    options.history = HistoryOptions(commitCount: commits, keepsOldValues: true)
    options.blobSegmentSize = 30_000
    options.allowsMigrationAfterRollback = true
    return options
  }

  static func open(
    _ medium: SimulatedFileSystem, _ version: Int = 1, _ commits: Int? = nil
  ) throws -> PersistentStore {
    try PersistentStore(
      on: medium, model: model(version), options: options(commits), seed: UInt64(version))
  }

  private func sheets(_ store: PersistentStore) throws -> [Sheet] { try store.fetch(Sheet.self) }

  @Test func `what was inserted, replaced or deleted outside of rows is undone, and done again`()
    throws
  {
    let store = try PersistentStore(inMemory: Self.model(), options: Self.options())
    var states = [try sheets(store)]
    var places = [try store.snapshot().historyCursor]
    func step(_ body: () throws -> Void) throws {
      try body()
      states.append(try sheets(store))
      places.append(try store.snapshot().historyCursor)
    }
    try step { try store.save(Sheet(1, "a")) }
    try step { try store.save(Sheet(2, "b")) }
    try step { try store.save(Sheet(1, "other")) }
    try step { try store.save(Sheet(1, "short", size: 10)) }
    try step { try store.delete(Sheet.self, key: 2) }
    try step {
      // Each goes and comes within one transaction.
      try store.write { transaction in
        try transaction.delete(Sheet.self, key: 1)
        try transaction.save(Sheet(1, "again"))
        try transaction.save(Sheet(1, "and again"))
        try transaction.save(Sheet(2, "b"))
      }
    }
    try step { try store.write { try $0.deleteAll(Sheet.self) } }
    for (place, state) in zip(places, states).reversed() {
      let undone = try store.undo(since: place)
      #expect(try sheets(store) == state)
      #expect(try store.faults() == [])
      try store.undo(since: undone)
      #expect(try sheets(store) == states.last)
    }
    let history = try store.history()
    while let commit = try history.next() {
      for change in commit.changes {
        if case .blob(let blob)? = change.old?["image"] { _ = try blob.data() }
      }
    }
    try store.close()
  }

  @Test func `a value that only the history names survives collection, compaction and reopening`()
    throws
  {
    let medium = SimulatedFileSystem()
    var store = try Self.open(medium)
    let start = try store.snapshot().historyCursor
    for id in 0..<12 { try store.save(Sheet(id, "first")) }
    let full = try sheets(store)
    let middle = try store.snapshot().historyCursor
    for id in 0..<12 where id % 3 > 0 { try store.delete(Sheet.self, key: id) }
    try store.save(Sheet(0, "second"))
    try store.collectBlobs(BlobBudget(bytes: .max, garbageShare: 0))
    try store.compact()
    try store.close()
    store = try Self.open(medium)
    #expect(try store.faults() == [])
    try store.undo(since: middle)
    #expect(try sheets(store) == full)
    let undone = try store.undo(since: start)
    #expect(try sheets(store) == [])
    try store.collectBlobs(BlobBudget(bytes: .max, garbageShare: 0))
    try store.undo(since: undone)
    #expect(try sheets(store) == full)
    #expect(try store.faults() == [])
    // In a backup, too.
    let copy = SimulatedFileSystem()
    try store.backUp(into: copy)
    let copied = try Self.open(copy)
    #expect(try copied.faults() == [])
    try copied.undo(since: start)
    #expect(try sheets(copied) == [])
    try copied.undo(since: middle)
    #expect(try sheets(copied) == full)
    try copied.close()
    try store.close()
  }

  @Test func `what a history no longer keeps is collected`() throws {
    let medium = SimulatedFileSystem()
    var store = try Self.open(medium, 1, 2)
    try store.save(Sheet(1, "a"))
    #expect(try store.blobStatistics().count == 3)
    try store.delete(Sheet.self, key: 1)
    #expect(try store.blobStatistics().count == 3)
    for id in 2..<6 { try store.save(Sheet(id, size: 0)) }
    #expect(try store.blobStatistics().count == 0)
    #expect(try store.faults() == [])
    try store.close()
    store = try Self.open(medium)
    try store.save(Sheet(1, "a"))
    try store.delete(Sheet.self, key: 1)
    try store.save(Sheet(1, "b"))
    #expect(try store.blobStatistics().count == 5)
    try store.write { try $0.purgeHistory(before: .distantFuture) }
    #expect(try store.blobStatistics().count == 3)
    #expect(try store.faults() == [])
    try store.collectBlobs(BlobBudget(bytes: .max, garbageShare: 0))
    #expect(try store.fetch(Sheet.self, key: 1) == Sheet(1, "b"))
    try store.close()
  }

  @Test(arguments: [2, 3])
  func `migrations and rollbacks count what the history names`(version: Int) throws {
    let medium = SimulatedFileSystem()
    var store = try Self.open(medium)
    for id in 0..<4 { try store.save(Sheet(id, "first")) }
    let place = try store.snapshot().historyCursor
    try store.delete(Sheet.self, key: 1)
    try store.save(Sheet(2, "second"))
    try store.close()
    store = try Self.open(medium, version)
    #expect(try store.faults() == [])
    try store.save(Sheet(3, "third"))
    #expect(try store.faults() == [])
    let middle = try store.snapshot().historyCursor
    try store.delete(Sheet.self, key: 2)
    try store.undo(since: middle)
    #expect(try store.fetch(Sheet.self, key: 2)?.text == Sheet(2, "second").text)
    #expect(throws: StoreError.self) { try store.undo(since: place) }
    #expect(try store.faults() == [])
    try store.close()
    let opening = try StoreOpening(Self.model(version), .automatic, Self.options())
    let backend = try EngineBackend(
      alone: medium, Self.options().engine, creating: true, opening, seed: 9)
    try Rollback(backend: backend, version: 1).run(discardingCommits: true)
    try backend.close()
    store = try Self.open(medium)
    #expect(try store.faults() == [])
    #expect(try store.fetch(Sheet.self, key: 3) == Sheet(3, "first"))
    // Commits take out what is older than the rollback.
    for id in 10..<20 { try store.save(Sheet(id, size: 0)) }
    try store.dropKeptVersions()
    try store.collectBlobs(BlobBudget(bytes: .max, garbageShare: 0))
    #expect(try store.faults() == [])
    try store.close()
  }

  @Test func `deferred migrations keep what the history names`() throws {
    let medium = SimulatedFileSystem()
    var store = try Self.open(medium)
    for id in 0..<6 { try store.save(Sheet(id, "first")) }
    try store.delete(Sheet.self, key: 1)
    try store.close()
    store = try PersistentStore(
      on: medium, model: Self.model(2), migration: .deferred, options: Self.options(), seed: 5)
    #expect(try store.faults() == [])
    let place = try store.snapshot().historyCursor
    try store.delete(Sheet.self, key: 2)
    try store.save(Sheet(3, "second"))
    while try store.finishMigration(budget: .records(2)) {}
    #expect(try store.faults() == [])
    try store.undo(since: place)
    #expect(try store.fetch(Sheet.self, key: 2) == Sheet(2, "first"))
    #expect(try store.fetch(Sheet.self, key: 3) == Sheet(3, "first"))
    #expect(try store.faults() == [])
    try store.close()
  }

  @Test func `a crash leaves all that the history names, or nothing of it`() throws {
    let medium = SimulatedFileSystem()
    var violations: [String] = []
    let stride = scaled(3, debug: 11)
    medium.beforeEachCall { call in
      guard call % stride == 0 else { return }
      for policy in CrashPolicy.some(1, pending: medium.pendingCount, seed: UInt64(call)) {
        do {
          let store = try Self.open(medium.crashed(policy), 1, 3)
          let faults = try store.faults()
          if !faults.isEmpty { violations.append("\(call), \(policy): \(faults)") }
          if let extent = try store.snapshot().historyExtent, extent.start < extent.end {
            try store.undo(since: extent.start)
            let left = try store.faults()
            if !left.isEmpty { violations.append("\(call), \(policy), undone: \(left)") }
          }
        } catch { violations.append("\(call), \(policy): \(error)") }
      }
    }
    let store = try Self.open(medium, 1, 3)
    for id in 0..<5 { try store.save(Sheet(id % 3, "\(id)")) }
    try store.delete(Sheet.self, key: 1)
    try store.undo(since: try #require(try store.snapshot().historyExtent).start)
    try store.collectBlobs(BlobBudget(bytes: .max, garbageShare: 0))
    try store.save(Sheet(7, "last"))
    try store.close()
    medium.beforeEachCall(nil)
    #expect(violations == [])
  }
}

/// A kind's values outside of rows.
@Suite struct UndoKindTests {
  struct Paper: Record, Hashable {
    var id: Int
    var body = ""
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "body", type: .string, storage: .external(threshold: 20))
    }
  }

  struct Map: Record, Hashable {
    var paper: Paper
    var image = Data()
    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(Paper.self, property: "paper")
      Field(name: "image", type: .binaryData, storage: .external(threshold: 20))
    }
  }

  @Test func `a kind's external values are undone, and done again`() throws {
    var options = StoreOptions()
    options.history = HistoryOptions(keepsOldValues: true)
    let store = try PersistentStore(
      inMemory: StoreModel(records: [Paper.self, Map.self]), options: options)
    func map(_ size: Int) -> Map {
      Map(
        paper: Paper(id: 1, body: PhotoContent.text(size)), image: PhotoContent.bytes(size, seed: 3)
      )
    }
    let start = try store.snapshot().historyCursor
    try store.save(map(500))
    let place = try store.snapshot().historyCursor
    try store.save(map(900))
    try store.delete(Paper.self, key: 1)
    let undone = try store.undo(since: place)
    #expect(try store.fetch(Map.self) == [map(500)])
    #expect(try store.faults() == [])
    try store.undo(since: undone)
    #expect(try store.fetch(Map.self) == [])
    let again = try store.undo(since: start)
    try store.undo(since: again)
    try store.undo(since: place)
    #expect(try store.fetch(Map.self) == [map(500)])
    #expect(try store.faults() == [])
    try store.close()
  }
}

/// What undo has to do with fields that the store computes, with properties that are not stored, and with long rows.
@Suite struct UndoFieldTests {
  struct Owner: Record, Identifiable, Hashable {
    var id: Int
    var name = ""
    var total = 0
    var count = 0
    var progress = 0.0
    static let parts = Inverse("parts", of: \Part.owner, deleteRule: .cascade)
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(name: "total", type: .integer, derived: .sum(of: "parts", "value"))
      Field(name: "count", type: .integer, derived: .count(of: "parts"))
      Transient("progress", default: 0.0, tracked: true)
      parts
    }
  }

  struct Part: Record, Hashable {
    var id: Int
    var owner: Reference<Owner>
    var value = 0
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "owner", type: .reference(to: Owner.self))
      Field(name: "value", type: .integer)
    }
  }

  struct Text: Record, Hashable {
    var id: Int
    var text: String
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "text", type: .string)
    }
  }

  private func open() throws -> PersistentStore {
    var options = StoreOptions()
    options.history = HistoryOptions(keepsOldValues: true)
    return try PersistentStore(
      inMemory: StoreModel(records: [Owner.self, Part.self, Text.self]), options: options)
  }

  @Test func `tracked properties survive an undo`() throws {
    let store = try open()
    try store.save(Owner(id: 1, name: "a", progress: 0.5))
    let place = try store.snapshot().historyCursor
    try store.save(Owner(id: 1, name: "b", progress: 0.7))
    let undone = try store.undo(since: place)
    #expect(try store.fetch(Owner.self, key: 1) == Owner(id: 1, name: "a", progress: 0.7))
    try store.undo(since: undone)
    #expect(try store.fetch(Owner.self, key: 1) == Owner(id: 1, name: "b", progress: 0.7))
  }

  @Test(arguments: [false, true])
  func `an author's commits are undone whatever others' do to counts and sums`(
    isFirst: Bool
  ) throws {
    let store = try open()
    try store.save(Owner(id: 1, name: "a"))
    let place = try store.snapshot().historyCursor
    for author in isFirst ? ["A", "B"] : ["B", "A"] {
      try store.write(author: author) { transaction in
        try transaction.save(
          Part(id: author == "A" ? 1 : 2, owner: Reference(1), value: author == "A" ? 5 : 7))
      }
    }
    let undone = try store.undo(since: place, by: "A")
    #expect(try store.fetch(Owner.self) == [Owner(id: 1, name: "a", total: 7, count: 1)])
    #expect(try store.fetch(Part.self).map(\.id) == [2])
    try store.undo(since: undone, by: "A")
    #expect(try store.fetch(Owner.self) == [Owner(id: 1, name: "a", total: 12, count: 2)])
    #expect(try store.faults() == [])
  }

  @Test func `an owner that one author renames is undone while another adds parts`() throws {
    let store = try open()
    try store.save(Owner(id: 1, name: "a"))
    let place = try store.snapshot().historyCursor
    try store.write(author: "A") { try $0.save(Owner(id: 1, name: "b")) }
    try store.write(author: "B") { try $0.save(Part(id: 2, owner: Reference(1), value: 7)) }
    try store.undo(since: place, by: "A")
    #expect(try store.fetch(Owner.self) == [Owner(id: 1, name: "a", total: 7, count: 1)])
    #expect(try store.faults() == [])
    // What another author has really changed is in the way.
    let second = try store.snapshot().historyCursor
    try store.write(author: "A") { try $0.save(Owner(id: 1, name: "c")) }
    try store.write(author: "B") { try $0.save(Owner(id: 1, name: "d")) }
    #expect(throws: StoreError.self) { try store.undo(since: second, by: "A") }
    #expect(try store.fetch(Owner.self).map(\.name) == ["d"])
  }

  @Test func `a row of many megabytes is undone, and its history read`() throws {
    let store = try open()
    let long = Text(id: 1, text: String(repeating: "x", count: 9_000_000))
    try store.save(long)
    try store.save(Text(id: 2, text: "two"))
    let place = try store.snapshot().historyCursor
    try store.write { transaction in
      try transaction.save(Text(id: 1, text: "new"))
      try transaction.save(Text(id: 2, text: "other"))
    }
    #expect(try store.faults() == [])
    let change = try #require(try store.history(since: place).next())
    #expect(change.changes.map { $0.old?["text"] } == [.string(long.text), .string("two")])
    let undone = try store.undo(since: place)
    #expect(try store.fetch(Text.self) == [long, Text(id: 2, text: "two")])
    try store.undo(since: undone)
    #expect(try store.fetch(Text.self, key: 1)?.text == "new")
    try store.write { try $0.purgeHistory(before: .distantFuture) }
    #expect(try store.faults() == [])
  }

  @Test func `a history says how far back it reaches, and whether commits can be undone`() throws {
    let medium = SimulatedFileSystem()
    func open(_ history: HistoryOptions?) throws -> PersistentStore {
      var options = StoreOptions()
      options.history = history
      return try PersistentStore(
        on: medium, model: StoreModel(records: [Text.self]), options: options, seed: 3)
    }
    var store = try open(nil)
    #expect(try store.snapshot().historyExtent == nil)
    try store.save(Text(id: 1, text: "a"))
    try store.close()
    store = try open(HistoryOptions())
    let first = try store.snapshot().historyCursor
    try store.save(Text(id: 1, text: "b"))
    var extent = try #require(try store.snapshot().historyExtent)
    #expect(extent.start == first && extent.oldValuesStart == nil)
    try store.close()
    store = try open(HistoryOptions(keepsOldValues: true))
    let second = try store.snapshot().historyCursor
    try store.save(Text(id: 1, text: "c"))
    extent = try #require(try store.snapshot().historyExtent)
    #expect(extent.start == first && extent.oldValuesStart == second)
    #expect(extent.end == (try store.snapshot().historyCursor))
    try store.undo(since: second)
    #expect(throws: StoreError.self) { try store.undo(since: first) }
    try store.write { try $0.purgeHistory(through: extent.end) }
    extent = try #require(try store.snapshot().historyExtent)
    #expect(extent.oldValuesStart == extent.start && extent.start > second)
    try store.close()
  }
}
