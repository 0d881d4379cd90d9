import CambiumTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Fields derived of expressions that come, change and go with versions.
@Suite struct DerivedExpressionMigrationTests {
  private static let records: [DynamicRecord] =
    (1...2).map { .of("Author", $0, ["rate": .integer($0 * 10)]) }
    + (0..<6).map { id in
      .of("Book", id, ["author": .integer(id % 2 + 1), "pages": .integer(id)])
    }

  private static func store(
    versions: Int = 2, rate: @escaping @Sendable (Int) -> Field,
    pages: @escaping @Sendable (Int) -> Field,
    @RecordDescription.ResultBuilder _ fields: @escaping @Sendable (Int) -> RecordDescription
  ) throws -> VersionedStore {
    let author = RemovedRecord("Author") { version in
      Field(primaryKey: true, name: "id", type: .integer)
      rate(version)
      inverse("books", of: "author", in: "Book", .cascade)
      fields(version)
    }
    let book = RemovedRecord("Book") { version in
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "author", type: .reference(to: "Author"))
      pages(version)
    }
    return try VersionedStore(versions: versions, [author, book], holding: records)
  }

  private static func plain(_ name: String) -> @Sendable (Int) -> Field {
    { _ in Field(name: name, type: .integer) }
  }

  private static func values(_ field: String, _ store: PersistentStore) throws -> [FieldValue] {
    try store.fetch(record: "Author", where: nil).map { $0[field] }
  }

  @Test
  func
    `A22: derived expressions that are added or changed are computed for the records that there are`()
    throws
  {
    let versioned = try Self.store(
      versions: 3, rate: Self.plain("rate"), pages: Self.plain("pages")
    ) { version in
      if version > 1 {
        Field(
          name: "own", type: .integer, indexed: true,
          derived: .value(version == 2 ? "rate + id" : "rate - id"))
        Field(
          name: "sum", type: .integer, indexed: true,
          derived: .sum(of: "books", value: version == 2 ? "pages * 2" : "pages * pages"))
      }
    }
    let plan = try versioned.plan(to: 2)
    #expect(plan.canRun && plan.isInferred, "\(plan)")
    #expect(plan.work.contains { $0.kind == .derive }, "\(plan)")
    for (version, own, sum) in [
      (2, [11, 22], [12, 18]), (3, [9, 18], [20, 35]),
    ] as [(Int, [FieldValue], [FieldValue])] {
      let store = try versioned.migrated(to: version)
      #expect(try Self.values("own", store) == own)
      #expect(try Self.values("sum", store) == sum)
      for (field, value) in [("own", own[0]), ("sum", sum[1])] {
        let condition = FieldCondition.comparison(field: field, .equal, value)
        #expect(try store.count(record: "Author", where: condition) == 1)
      }
      try store.close()
    }
  }

  @Test func `an expression follows renamed fields, and nothing is computed again`() throws {
    func renamed(_ old: String, to new: String) -> @Sendable (Int) -> Field {
      { version in
        version == 1
          ? Field(name: old, type: .integer)
          : Field(name: new, type: .integer, migrationInfo: .init(renamingID: old))
      }
    }
    let versioned = try Self.store(
      rate: renamed("rate", to: "fee"), pages: renamed("pages", to: "leaves")
    ) { version in
      Field(
        name: "own", type: .integer, derived: .value(version == 1 ? "rate * id" : "fee * id"))
      Field(
        name: "sum", type: .integer,
        derived: .sum(of: "books", value: version == 1 ? "pages * 2" : "leaves * 2"))
    }
    let plan = try versioned.plan()
    #expect(plan.canRun && plan.isInferred, "\(plan)")
    #expect(!plan.work.contains { $0.kind == .derive }, "\(plan)")
    let store = try versioned.migrated()
    #expect(try Self.values("own", store) == [10, 40])
    #expect(try Self.values("sum", store) == [12, 18])
    try store.write { transaction in
      try transaction.save(.of("Author", 1, ["fee": 7]))
      try transaction.save(.of("Book", 0, ["author": 1, "leaves": 100]))
    }
    #expect(try Self.values("own", store) == [7, 40])
    #expect(try Self.values("sum", store) == [212, 18])
    try store.expectSound()
    try store.close()
  }

  @Test func `an expression is computed again when a step changes a field in it`() throws {
    let versioned = try Self.store(rate: Self.plain("rate"), pages: Self.plain("pages")) { _ in
      Field(name: "own", type: .integer, derived: .value("rate * id"))
      Field(name: "sum", type: .integer, derived: .sum(of: "books", value: "pages * 2 + id"))
    }
    let store = try versioned.migrated([
      MigrationStep(to: 2) {
        UpdateRecord("Author") { UpdateField("rate", from: { _ in Int64(3) }) }
        UpdateRecord("Book") { UpdateField("pages", from: { _ in Int64(1) }) }
      }
    ])
    #expect(try Self.values("own", store) == [3, 6])
    #expect(try Self.values("sum", store) == [12, 15])
    try store.close()
  }

  @Test func `an expression without a result ends a migration, and the store is as it was`() throws
  {
    let versioned = try Self.store(rate: Self.plain("rate"), pages: Self.plain("pages")) {
      version in
      if version == 2 {
        Field(name: "sum", type: .integer, derived: .sum(of: "books", value: "10 / pages"))
      }
    }
    let refusal = try versioned.refusal()
    guard case .invalidValue("Author", "sum", let reason)? = refusal else {
      Issue.record("\(String(describing: refusal))")
      return
    }
    #expect(reason.contains("10 / 0 has no result"), "\(reason)")
  }

  @Test func `a version without a field that an expression has is refused`() throws {
    let model = StoreModel(
      version: 1,
      untyped: [
        RemovedRecord("Author") { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "own", type: .integer, derived: .value("rate * id"))
        }
      ])
    #expect(
      storeError { try model.schemas() }?.description.contains("rate, which is not there") == true)
  }
}
