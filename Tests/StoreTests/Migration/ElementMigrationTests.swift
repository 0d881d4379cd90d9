import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Indexes of elements that a later version adds to records that there are.
@Suite struct ElementMigrationTests {
  private struct Plain: Record {
    var id: Int
    var tags: [String]
    var codes: [Int]?
    var points: [Double] = []
    static func recordDescription(for version: Int) -> RecordDescription {
      ElementMigrationTests.description(version)
    }
  }

  private struct Indexed: Record, Equatable {
    var id: Int
    var tags: [String]
    var codes: [Int]?
    var points: [Double] = []
    static func recordDescription(for version: Int) -> RecordDescription {
      ElementMigrationTests.description(version)
    }
  }

  @RecordDescription.ResultBuilder
  private static func description(_ version: Int) -> RecordDescription {
    RecordName("Item")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "tags", type: .array(of: .string))
    Field(name: "codes", type: .array(of: .integer), optional: true)
    Field(name: "points", type: .array(of: .double))
    if version > 1 { RecordDescription.Index(.elements("tags"), named: "tags") }
    if version > 2 {
      RecordDescription.Unique(.elements("codes"), named: "codes")
      RecordDescription.Index(.elements("points"), named: "points")
    }
  }

  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }
  private static let count = scaled(2_000, debug: 300)

  private static func tags(_ id: Int) -> [String] {
    (0..<id % 5).map { "tag \((id + $0) % 40)" } + (id % 2 == 0 ? ["even", "even"] : [])
  }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func make(_ change: (inout [Plain]) -> Void = { _ in }) throws {
    let store = try PersistentStore(at: path, model: StoreModel(records: [Plain.self]))
    var items = (0..<Self.count).map {
      Plain(id: $0, tags: Self.tags($0), codes: $0 % 3 == 0 ? nil : [$0, $0 + 100_000, $0])
    }
    change(&items)
    try store.save(contentsOf: items)
    try store.close()
  }

  private func open(_ version: Int, _ migration: MigrationMode) throws -> PersistentStore {
    try PersistentStore(
      at: path, model: StoreModel(version: version, records: [Indexed.self]), migration: migration)
  }

  private func compare(_ store: PersistentStore) throws {
    for tag in ["even", "tag 3", "tag 39", "none"] {
      let query = Indexed.where { $0.tags.contains(tag) }
      let expected = (0..<Self.count).filter { Self.tags($0).contains(tag) }
      #expect(try store.fetch(query).map(\.id) == expected)
      #expect(try store.count(query) == expected.count)
    }
    #expect(try store.snapshot().check() == [])
  }

  @Test func `records that there are come into an index of elements`() throws {
    try make()
    let store = try open(3, .automatic)
    try compare(store)
    let entryCount = (0..<Self.count).reduce(0) { $0 + Set(Self.tags($1)).count }
    #expect(try store.entryCount(of: "tags", Indexed.self) == entryCount)
    #expect(try store.explain(Indexed.where { $0.tags.contains("tag 3") }).access.contains("tags"))
    #expect(try store.fetch(Indexed.where { $0.codes.contains(100_004) }).map(\.id) == [4])
    try store.close()
  }

  @Test func `a deferred index of elements is built in pieces while records change`() throws {
    try make()
    let store = try open(2, .deferred)
    #expect(try store.pendingMigration?.indexes == ["tags"])
    try compare(store)
    let plan = try store.explain(Indexed.where { $0.tags.contains("tag 3") })
    #expect(plan.access == "all rows")
    while try store.finishMigration(budget: WorkBudget(records: 37)) {
      // Before and behind the place that the build has come to.
      for id in [1, 11, Self.count - 2] {
        let store = store
        try store.update(Indexed(id: id, tags: ["other \(id)", "even"]))
        #expect(try store.snapshot().check() == [])
        try store.update(Indexed(id: id, tags: Self.tags(id)))
      }
    }
    #expect(try store.pendingMigration == nil)
    try compare(store)
    #expect(try store.explain(Indexed.where { $0.tags.contains("tag 3") }).access.contains("tags"))
    try store.close()
  }

  @Test func `elements that two records have are counted by records, in the plan and after`() throws
  {
    try make { items in
      items[5].codes = [4, 100_004, 7]
      items[6].codes = [4, 4, -1]
      items[9].codes = [-1, -1]
    }
    // 5 has two of 4's, and 7 one of 5's; 6 has one of 4's; 9 has 6's.
    let plan = try PersistentStore.migration(
      at: path, to: StoreModel(version: 3, records: [Indexed.self])
    ).plan
    #expect(
      plan.faults == [.duplicates(record: "Item", constraint: "codes", count: 4, first: "5 as 4")])
    #expect(storeError { try open(3, .automatic) } != nil)
    let old = try open(2, .automatic)
    #expect(try old.fetch(Indexed.self, key: 6)?.codes == [4, 4, -1])
    try old.close()
  }

  @Test func `what is no number keeps an index of elements from being added`() throws {
    try make { items in
      items[3].points = [1, .nan, .nan]
      items[8].points = [.nan]
    }
    #expect(storeError { try open(3, .automatic) } != nil)
    let old = try open(2, .automatic)
    try compare(old)
    try old.close()
  }
}
