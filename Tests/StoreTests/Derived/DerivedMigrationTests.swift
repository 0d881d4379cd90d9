import CambiumTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Derived fields that come, change and go with versions.
@Suite struct DerivedMigrationTests {
  private static let records: [DynamicRecord] =
    (1...3).map { .of("Author", $0, ["name": .string("Ä\($0)")]) }
    + (0..<10).map { id in
      .of("Book", id, ["author": .integer(id % 2 + 1), "pages": .integer(id)])
    }

  private static func author(
    @RecordDescription.ResultBuilder _ fields: @escaping @Sendable (Int) -> RecordDescription
  ) -> RemovedRecord {
    RemovedRecord("Author") { version in
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      inverse("books", of: "author", in: "Book", .cascade)
      fields(version)
    }
  }

  private static let book = RemovedRecord("Book") { _ in
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "author", type: .reference(to: "Author"))
    Field(name: "pages", type: .integer)
  }

  private static func store(
    versions: Int = 2, _ book: RemovedRecord = Self.book,
    @RecordDescription.ResultBuilder _ fields: @escaping @Sendable (Int) -> RecordDescription
  ) throws -> VersionedStore {
    try VersionedStore(versions: versions, [author(fields), book], holding: records)
  }

  private static func values(
    _ field: String, _ store: PersistentStore
  ) throws -> [FieldValue] {
    try store.fetch(record: "Author", where: nil).map { $0[field] }
  }

  private static let counts: [FieldValue] = [5, 5, 0]
  private static let sums: [FieldValue] = [20, 25, 0]

  @Test(arguments: [false, true])
  func `A22: derived fields that are added are computed for the records that there are`(
    isStepwise: Bool
  ) throws {
    let versioned = try Self.store { version in
      if version == 2 {
        Field(name: "count", type: .integer, indexed: true, derived: .count(of: "books"))
        Field(name: "pages", type: .integer, derived: .sum(of: "books", "pages"))
        Field(name: "most", type: .integer, optional: true, derived: .maximum(of: "books", "pages"))
        Field(name: "folded", type: .string, unique: true, derived: .folded("name"))
        Field(name: "changed", type: .date, optional: true, derived: .modificationDate)
      }
    }
    let plan = try versioned.plan()
    #expect(plan.canRun && plan.isInferred, "\(plan)")
    #expect(plan.steps.map(\.isDeferrable) == [false])
    #expect(plan.work.contains { $0.kind == .derive && $0.records == 3 }, "\(plan)")
    var options = StoreOptions()
    options.migration.sliceCount = 2
    options.migration.stepwise = isStepwise
    for mode in [MigrationMode.automatic, .deferred] {
      let store = try PersistentStore(
        at: try versioned.copy(), model: versioned.model, migration: mode, options: options)
      #expect(try store.pendingMigration == nil)
      #expect(try Self.values("count", store) == Self.counts)
      #expect(try Self.values("pages", store) == Self.sums)
      #expect(try Self.values("most", store) == [8, 9, nil])
      #expect(try Self.values("folded", store) == ["a1", "a2", "a3"])
      #expect(try Self.values("changed", store) == [nil, nil, nil])
      let five = FieldCondition.comparison(field: "count", .equal, 5)
      #expect(try store.count(record: "Author", where: five) == 2)
      try store.write { try $0.save(.of("Book", 99, ["author": 3, "pages": 7])) }
      #expect(try Self.values("count", store) == [5, 5, 1])
      try store.expectSound()
      try store.close()
    }
  }

  @Test func `another derivation is computed again, and one that goes leaves its values`() throws {
    let versioned = try Self.store(versions: 4) { version in
      switch version {
      case 1: Field(name: "d", type: .integer, indexed: true, derived: .count(of: "books"))
      case 2:
        Field(name: "d", type: .integer, indexed: true, derived: .sum(of: "books", "pages"))
      case 3: Field(name: "d", type: .integer, indexed: true)
      default: Field(name: "d", type: .integer, indexed: true, derived: .count(of: "books"))
      }
    }
    for (version, values) in [(2, Self.sums), (3, Self.sums), (4, Self.counts)] {
      let store = try versioned.migrated(to: version)
      #expect(try Self.values("d", store) == values)
      let condition = FieldCondition.comparison(field: "d", .equal, values[0])
      #expect(try store.count(record: "Author", where: condition) >= 1)
      try store.close()
    }
  }

  @Test func `what steps do to related records is in derived fields`() throws {
    let book = RemovedRecord("Book") { version in
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "author", type: .reference(to: "Author"))
      Field(name: "pages", type: version == 1 ? .int32 : .double)
    }
    let versioned = try Self.store(book) { version in
      Field(name: "count", type: .integer, derived: .count(of: "books"))
      if version == 1 {
        Field(name: "pages", type: .integer, derived: .sum(of: "books", "pages"))
      } else {
        Field(name: "pages", type: .double, derived: .sum(of: "books", "pages"))
      }
    }
    let inferred = try versioned.migrated()
    #expect(try Self.values("pages", inferred) == [.double(20), .double(25), .double(0)])
    try inferred.close()
    let moved = try versioned.migrated([
      MigrationStep(to: 2) {
        UpdateRecord("Book") { UpdateField("author", from: { _ in Int64(3) }) }
      }
    ])
    #expect(try Self.values("count", moved) == [0, 0, 10])
    #expect(try Self.values("pages", moved) == [.double(0), .double(0), .double(45)])
    try moved.close()
    let emitted = try versioned.migrated([
      MigrationStep(to: 2) {
        TransformRecords("Book", into: "Book") { old, emit in
          if try old["id", as: Int64.self] > 3 { return }
          try emit(
            .of(
              "Book", try old["id", as: Int64.self],
              ["author": old["author"], "pages": .double(1)]))
        }
      }
    ])
    #expect(try Self.values("count", emitted) == [2, 2, 0])
    #expect(try Self.values("pages", emitted) == [.double(2), .double(2), .double(0)])
    try emitted.close()
    let hooked = try versioned.migrated([
      MigrationStep(to: 2) {
        RunAfter { transaction in _ = try transaction.delete(record: "Book", key: 0) }
      }
    ])
    #expect(try Self.values("count", hooked) == [4, 5, 0])
    try hooked.close()
  }

  @Test func `a closure of the next step sees what is derived, and emits records without it`()
    throws
  {
    let versioned = try Self.store(versions: 3) { version in
      if version > 1 {
        Field(name: "count", type: .integer, derived: .count(of: "books"))
      }
      if version == 3 { Field(name: "copy", type: .integer) }
    }
    let updated = try versioned.migrated([
      MigrationStep(to: 3) {
        UpdateRecord("Author") {
          UpdateField("copy", from: { old in try old["count", as: Int64.self] })
        }
      }
    ])
    #expect(try Self.values("copy", updated) == Self.counts)
    #expect(try Self.values("count", updated) == Self.counts)
    try updated.close()
    let emitted = try versioned.migrated([
      MigrationStep(to: 3) {
        TransformRecords("Author", into: "Author") { old, emit in
          try emit(
            .of(
              "Author", try old["id", as: Int64.self],
              ["name": old["name"], "copy": old["count"]]))
        }
      }
    ])
    #expect(try Self.values("copy", emitted) == Self.counts)
    #expect(try Self.values("count", emitted) == Self.counts)
    try emitted.close()
  }

  @Test func `a step gives a derived field no values, and a sum that cannot be ends the migration`()
    throws
  {
    let versioned = try Self.store { version in
      if version == 2 {
        Field(name: "count", type: .integer, derived: .count(of: "books"))
      }
    }
    let step = MigrationStep(to: 2) {
      UpdateRecord("Author") { UpdateField("count", from: { _ in Int64(1) }) }
    }
    #expect(
      try versioned.faults([step]) == [
        "Author.count: the step gives it values, but the store computes it, as the count over Book.author; leave it out"
          + " of the step"
      ])
    let book = RemovedRecord("Book") { _ in
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "author", type: .reference(to: "Author"))
      Field(name: "pages", type: .integer)
    }
    let author = Self.author { version in
      if version == 2 {
        Field(name: "sum", type: .integer, derived: .sum(of: "books", "pages"))
      }
    }
    let full = try VersionedStore(
      versions: 2, [author, book],
      holding: [.of("Author", 1, ["name": "A"])]
        + (1...2).map { .of("Book", $0, ["author": 1, "pages": .integer(.max)]) })
    let refusal = try full.refusal()
    guard case .invalidValue("Author", "sum", _)? = refusal else {
      Issue.record("\(String(describing: refusal))")
      return
    }
  }
}
