import Cambium
import CambiumPostgres
import FoundationEssentials
import Testing

/// A program of a new version, and one of the old version, that use the same database.
@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct MigratedStoreTests {
  private enum Old {
    struct Item: Record, Identifiable {
      var id: Int
      var name: String

      static func recordDescription(for version: Int) -> RecordDescription {
        Field("id", primaryKey: true)
        Field("name")
      }
    }
  }

  private struct Item: Record, Identifiable {
    var id: Int
    var title: String
    var price: Double

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      if version < 2 {
        Field("name")
      } else {
        Field("title", unique: version > 2, migrationInfo: .init(renamingID: "name"))
        Field("price", migrationInfo: .init(default: 1.5))
      }
    }
  }

  private static let old = StoreModel(version: 1, records: [Old.Item.self])

  private static func model(_ version: Int) -> StoreModel {
    StoreModel(version: version, records: [Item.self])
  }

  private func database(_ name: String) async throws -> (address: String, old: PostgresStore) {
    let server = try #require(PostgresServer.shared)
    let address = try server.makeDatabase(name)
    let store = try await PostgresStore(address, model: Self.old)
    try await store.write { transaction in
      for id in 0..<5 { try transaction.save(Old.Item(id: id, name: "Item \(id)")) }
    }
    return (address, store)
  }

  @Test("Opening a store migrates the database, unless that is refused")
  func opening() async throws {
    let (address, old) = try await database("open_migrating")
    await #expect(throws: StoreError.needsMigration(found: 1, wanted: 2)) {
      try await PostgresStore(address, model: Self.model(2), migration: .refuse)
    }
    #expect(try await old.count(Query<Old.Item>()) == 5)
    let store = try await PostgresStore(address, model: Self.model(2))
    let items = try await store.fetch(Query<Item>())
    #expect(items.map(\.title) == (0..<5).map { "Item \($0)" })
    #expect(items.allSatisfy { $0.price == 1.5 })
    try await store.save(Item(id: 9, title: "new", price: 2))
    let again = try await PostgresStore(address, model: Self.model(2))
    #expect(try await again.count(Query<Item>()) == 6)
  }

  @Test("A store of the old version reads and writes nothing any more, and says why")
  func oldProgram() async throws {
    let (address, old) = try await database("old_program")
    let store = try await PostgresStore(address, model: Self.model(2))
    await #expect(throws: StoreError.newerSchema(found: 2, supported: 1)) {
      try await old.fetch(Query<Old.Item>())
    }
    await #expect(throws: StoreError.newerSchema(found: 2, supported: 1)) {
      try await old.save(Old.Item(id: 7, name: "late"))
    }
    await #expect(throws: StoreError.newerSchema(found: 2, supported: 1)) {
      try await PostgresStore(address, model: Self.old)
    }
    #expect(try await store.count(Query<Item>()) == 5)
  }

  @Test("A migration waits for transactions that run, and those that come wait for it")
  func runningTransactions() async throws {
    let (address, old) = try await database("running")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<4 {
        group.addTask {
          for number in 0..<200 {
            do {
              try await old.save(
                Old.Item(id: 100 + task * 1_000 + number, name: "\(task) \(number)"))
            } catch StoreError.newerSchema {
              return
            }
          }
        }
      }
      group.addTask {
        try await Task.sleep(for: .milliseconds(50))
        _ = try await PostgresStore(address, model: Self.model(2))
      }
      try await group.waitForAll()
    }
    let store = try await PostgresStore(address, model: Self.model(2))
    let items = try await store.fetch(Query<Item>())
    #expect(items.count > 5 && items.allSatisfy { $0.price == 1.5 })
  }

  @Test(
    "The plan counts the records that would be refused, and the run refuses them as a store does")
  func refusals() async throws {
    let (address, old) = try await database("refusals_m")
    try await old.save(Old.Item(id: 8, name: "Item 1"))
    let migration = try await PostgresStore.migration(at: address, to: Self.model(3))
    // It is the second step that refuses them, whose table does not exist yet.
    #expect(migration.plan.faults == [])
    await #expect(throws: StoreError.self) { try await migration.rehearse() }
    await #expect(throws: StoreError.self) { try await migration.run() }
    #expect(try await old.count(Query<Old.Item>()) == 6)
    _ = try await PostgresStore(address, model: Self.model(2))
    let second = try await PostgresStore.migration(at: address, to: Self.model(3))
    #expect(
      second.plan.faults == [
        .duplicates(record: "Item", constraint: "title", count: 1, first: "1")
      ])
    #expect(!second.plan.canRun)
  }

  @Test("Changes are observed in the new version, also beside a transaction that is open for long")
  func observers() async throws {
    let (address, old) = try await database("observers_m")
    await old.close()
    let other = try Connection(address)
    try other.run("BEGIN; SELECT txid_current()")
    defer { _ = try? other.run("ROLLBACK") }
    let store = try await PostgresStore(address, model: Self.model(2))
    let changes = Observed(try await store.observeChanges(of: Item.self))
    try await store.save(Item(id: 20, title: "seen", price: 1))
    let first = try await changes.next()
    #expect(first?.inserted.map(\.id) == [20])
    try other.run("INSERT INTO item (id, title, price) VALUES (21, 'late', 1); COMMIT")
    try await store.save(Item(id: 22, title: "last", price: 1))
    var seen: Set<Int> = []
    while seen.count < 2, let next = try await changes.next() {
      #expect(next.isComplete)
      seen.formUnion(next.inserted.map(\.id))
    }
    #expect(seen == [21, 22])
  }
}
