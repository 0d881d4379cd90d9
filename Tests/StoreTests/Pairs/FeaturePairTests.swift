import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Features two by two, as far as no other test shows that they go together.
@Suite(.timeLimit(.minutes(60))) struct FeaturePairTests {
  private typealias Card = Workshop.Card
  private typealias Good = Workshop.Good
  private typealias Shelf = Workshop.Shelf
  private typealias Tool = Workshop.Tool

  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }
  private var copy: String { directory.path + "/copy" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private static var options: StoreOptions {
    var options = StoreOptions()
    options.history = HistoryOptions(keepsOldValues: true)
    return options
  }

  private func open(
    _ path: String, _ version: Int = 1, _ migration: MigrationMode = .automatic
  ) throws -> PersistentStore {
    try PersistentStore(
      at: path, model: Workshop.model(version), migration: migration, options: Self.options)
  }

  private func filled() throws -> PersistentStore {
    let store = try open(path)
    try Workshop.fill(store)
    return store
  }

  private func inMemory(_ options: StoreOptions = Self.options) throws -> PersistentStore {
    let store = try PersistentStore(inMemory: Workshop.model(), options: options)
    try Workshop.fill(store)
    return store
  }

  // Asynchronous tests would call others of these names.
  private func backUp(_ store: PersistentStore) throws { try store.backUp(to: copy) }
  private func compact(_ store: PersistentStore) throws { try store.compact() }

  private func salvage() throws -> SalvageReport {
    var options = SalvageOptions()
    options.collations = [.german, .length]
    return try PersistentStore.salvage(at: path, to: copy, options: options)
  }

  // MARK: Whole stores

  @Test func `what policies, imports and conditions do is undone whole, and then nobody's news`()
    async throws
  {
    let store = try inMemory()
    try await Workshop.use(store)
    try await store.close()
  }

  @Test func `a backup is used by every feature as its store is`() async throws {
    let store = try filled()
    try backUp(store)
    try await Workshop.use(store)
    try await store.close()
    let other = try open(copy)
    try await Workshop.use(other)
    try await other.close()
  }

  @Test func `a store is used by every feature after a compaction`() async throws {
    let store = try filled()
    try compact(store)
    try await Workshop.use(store)
    try await store.close()
    let again = try open(path)
    try compact(again)
    try await Workshop.use(again)
    try await again.close()
  }

  @Test func `a copy that was salvaged is used by every feature as its store is`() async throws {
    try await filled().close()
    let report = try salvage()
    #expect(report.isWhole, "\(report)")
    let store = try open(copy)
    try await Workshop.use(store)
    try await store.close()
  }

  @Test func `a store is used by every feature while a migration waits, and so is its backup`()
    async throws
  {
    try await filled().close()
    let store = try open(path, 2, .deferred)
    #expect(try store.pendingMigration != nil)
    try await Workshop.use(store)
    try backUp(store)
    let other = try open(copy, 2, .deferred)
    try await Workshop.use(other)
    try await other.close()
    try compact(store)
    try await Workshop.use(store)
    // Finishing leaves what is not stored.
    var tool = Workshop.tools[0]
    tool.good.mark = 6
    try await store.save(tool)
    while try await store.finishMigration(budget: .records(2)) {}
    #expect(try store.fetch(Tool.self, key: 3)?.good.mark == 6)
    try await store.save(Workshop.tools[0])
    try await Workshop.use(store)
    try await store.close()
  }

  @Test func `a step of a migration imports records, and takes over unique values`() throws {
    try filled().close()
    let step = MigrationStep(to: 2) {
      RunAfter(Shelf.self, Good.self, Tool.self) { transaction in
        try transaction.importRecords(Good.self, from: [2, 7], id: \.self) { id, good in
          var good = good ?? Good(id: id, label: "neu", code: "c\(id)", shelf: Reference(2))
          good.note = "imported"
          return good
        }
        try transaction.save(
          Good(id: 8, label: "x", code: "c1", shelf: Reference(2)), onConflict: .replaceOther)
      }
    }
    let store = try PersistentStore(
      at: path, model: Workshop.model(2), steps: [step], options: Self.options)
    let goods = try store.fetch(Good.self)
    #expect(goods.map(\.id) == [2, 3, 4, 7, 8])
    #expect(goods.map(\.note) == ["imported", nil, nil, "imported", nil])
    #expect(try store.fetch(Shelf.self).map(\.goodCount) == [2, 3])
    #expect(try store.fetch(Tool.self) == Workshop.tools)
    #expect(try store.faults() == [])
    try store.close()
  }

  // MARK: Observers

  @Test func `observers are told of what policies, imports and an undo change`() async throws {
    let store = try inMemory()
    var changes = try store.changes(of: Good.self).makeAsyncIterator()
    let place = try store.snapshot().historyCursor
    let taker = Good(id: 9, label: "x", code: "c1", shelf: Reference(2))
    try await store.save(taker, onConflict: .replaceOther)
    let policy = try #require(try await changes.next())
    #expect(policy.inserted == [taker] && policy.deleted.map(\.id) == [1])
    let report = try await store.importRecords(Good.self, from: [2, 9, 11], id: \.self) {
      id, good in
      var good = good ?? Good(id: id, label: "y", code: "c\(id)", shelf: Reference(1))
      if id == 2 { good.size = 7 }
      return good
    }
    #expect(report.unchanged == 1)
    let imported = try #require(try await changes.next())
    #expect(imported.inserted.map(\.id) == [11])
    #expect(imported.updated.map(\.changedFields) == [["size"]])
    try store.undo(since: place)
    let undone = try #require(try await changes.next())
    #expect(undone.inserted.map(\.id) == [1])
    #expect(undone.updated.map(\.new.size) == [2])
    #expect(Set(undone.deleted.map(\.id)) == [9, 11])
    try await store.close()
  }

  @Test func `results in the order of a collation are told where a record moves`() async throws {
    let store = try inMemory()
    let results = try store.results(of: Good.sorted(by: .ascending(\.label, collation: .german)))
    var iterator = results.makeAsyncIterator()
    #expect(try await iterator.next()?.records.map(\.id) == [4, 2, 1, 3])
    var good = Workshop.goods[0]
    good.label = "äb"
    try await store.save(good)
    #expect(try await iterator.next()?.records.map(\.id) == [1, 4, 2, 3])
    try await store.close()
  }

  // MARK: Values

  @Test func `orders by collations are of kinds, of derived strings and over relations`() throws {
    let store = try inMemory()
    try Workshop.expectFilled(store)
    // What they are sorted by changes.
    var shelf = Workshop.shelves[1]
    shelf.name = "Zülpich"
    try store.save(shelf)
    let folded = try store.fetch(Shelf.sorted(by: .ascending(\.folded, collation: .german)))
    #expect(folded.map(\.id) == [1, 2])
    let goods = try store.fetch(
      record: "Good",
      sortedBy: [FieldOrder(field: "shelf.name", collation: .german), FieldOrder(field: "id")])
    #expect(goods.map { $0["id"] } == [1, 2, 4, 3])
    var tool = Workshop.tools[0]
    tool.maker = "Zz"
    try store.save(tool)
    let makers = try store.fetch(Tool.sorted(by: .ascending(\.maker, collation: .german)))
    #expect(makers.map(\.good.id) == [4, 3])
    #expect(try store.faults() == [])
    try store.close()
  }

  @Test func `strings with one sort key are in each other's way, for policies and imports`() throws
  {
    let store = try inMemory()
    func cards() throws -> [Card] { try store.fetch(Card.self) }
    try store.save(Card(id: 1, name: "abc"))
    #expect(throws: StoreError.self) { try store.insert(Card(id: 2, name: "xyz")) }
    try store.insert(Card(id: 2, name: "xyz"), onConflict: .keepOther)
    #expect(try cards() == [Card(id: 1, name: "abc")])
    try store.insert(Card(id: 2, name: "xyz"), onConflict: .updateOther)
    #expect(try cards() == [Card(id: 1, name: "xyz")])
    try store.save(Card(id: 3, name: "def"), onConflict: .replaceOther)
    #expect(try cards() == [Card(id: 3, name: "def")])
    for (id, isRefused) in [(4, true), (5, false)] {
      let error = storeError {
        _ = try store.importRecords(Card.self, from: [id], id: \.self) { id, _ in
          Card(id: id, name: String(repeating: "i", count: id - 1))
        }
      }
      #expect((error != nil) == isRefused)
    }
    #expect(try cards() == [Card(id: 3, name: "def"), Card(id: 5, name: "iiii")])
    #expect(try store.faults() == [])
    try store.close()
  }

  @Test func `what the store derives and cuts leaves external and tracked values where they are`()
    throws
  {
    // Without a history, which would keep blobs.
    let store = try inMemory(StoreOptions())
    let blobs = try store.blobStatistics().count
    #expect(blobs == 5)
    var shelf = Workshop.shelves[0]
    shelf.mark = 5
    try store.save(shelf)
    try store.save(Good(id: 7, label: "x", code: "c7", shelf: Reference(1)))
    shelf.goodCount = 4
    #expect(try store.fetch(Shelf.self, key: 1) == shelf)
    var tool = Workshop.tools[1]
    tool.good.mark = 6
    try store.save(tool)
    #expect(try store.blobStatistics().count == blobs)
    // A deletion cuts one tool, and takes another one with its blobs along.
    try store.delete(Shelf.self, key: 2)
    tool.bench = nil
    #expect(try store.fetch(Tool.self) == [tool])
    #expect(try store.fetch(Shelf.self) == [shelf])
    #expect(try store.blobStatistics().count == blobs - 3)
    #expect(try store.faults() == [])
    try store.close()
  }
}
