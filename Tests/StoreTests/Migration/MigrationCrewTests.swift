import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Migrations of so many records that several threads make them.
@Suite struct MigrationCrewTests {
  private static let count = Migrator.crewCountMin + 2_345
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func model(_ version: Int) -> StoreModel {
    let item = RemovedRecord("Item") { version in
      Field(primaryKey: true, name: "id", type: .int32)
      Field(name: "name", type: .string)
      if version == 1 {
        Field(name: "count", type: .int32)
        Field(name: "rest", type: .string)
      } else {
        Field(name: "count", type: .int64, indexed: true)
      }
    }
    let part = RemovedRecord("Part") { version in
      if version > 1 {
        Field(primaryKey: true, name: "id", type: .int32)
        Field(name: "rest", type: .string)
      }
    }
    return StoreModel(version: version, untyped: [item, part])
  }

  private func old(_ id: Int) -> DynamicRecord {
    DynamicRecord(
      "Item",
      [
        "id": .integer(Int64(id)), "name": .string("n\(id)"), "count": .integer(Int64(id % 97)),
        "rest": .string(String(repeating: "r", count: id % 50)),
      ])
  }

  private func new(_ id: Int) -> DynamicRecord {
    var new = old(id)
    new.fields["rest"] = nil
    return new
  }

  private func make() throws {
    let store = try PersistentStore(at: path, model: model(1))
    try store.write { transaction in
      for id in 0..<Self.count { try transaction.save(old(id)) }
    }
    try store.close()
  }

  @discardableResult
  private func migrate(_ steps: [MigrationStep], sliceCount: Int = 5_000) throws -> MigrationReport
  {
    var options = StoreOptions()
    options.migration.sliceCount = sliceCount
    return try PersistentStore.migration(at: path, to: model(2), steps: steps, options: options)
      .run()
  }

  private func expectMigrated(_ isPart: (Int) -> Bool) throws {
    let store = try PersistentStore(at: path, model: model(2), migration: .refuse)
    defer { try? store.close() }
    var id = 0
    try store.forEach(record: "Item") { record in
      #expect(record == new(id))
      id += 1
    }
    #expect(id == Self.count)
    let parts = (0..<Self.count).filter(isPart)
    #expect(try store.count(record: "Part") == parts.count)
    try store.expectSound()
  }

  @Test(arguments: [700, 5_000, 1_000_000])
  func `rows are converted, slice by slice`(sliceCount: Int) throws {
    try make()
    try migrate([], sliceCount: sliceCount)
    try expectMigrated { _ in false }
  }

  @Test func `values are made by closures of rows that are converted`() throws {
    try make()
    let step = MigrationStep(to: 2) {
      UpdateRecord("Item") { UpdateField("count", by: { try $0.as(Int.self).map { $0 % 97 } }) }
    }
    try migrate([step])
    try expectMigrated { _ in false }
  }

  /// Splits each record in two.
  private func split(_ refused: Int? = nil, twice: Int? = nil) -> MigrationStep {
    MigrationStep(to: 2) {
      TransformRecords("Item", into: "Item", "Part") { old, emit in
        let id = try old["id", as: Int.self]
        if id == refused { throw Refusal() }
        var item = old.record
        item.fields["rest"] = nil
        try emit(item)
        guard id % 3 == 0 else { return }
        try emit(
          DynamicRecord(
            "Part",
            [
              "id": id == twice ? 0 : .integer(Int64(id)), "rest": try old["rest"],
            ]))
      }
    }
  }

  private struct Refusal: Error {}

  @Test func `each record becomes two`() throws {
    try make()
    try migrate([split()])
    try expectMigrated { $0 % 3 == 0 }
  }

  @Test func `the record that fails is named, and nothing has changed`() throws {
    try make()
    let place = Self.count - 1_000
    let error = storeError { _ = try migrate([split(place)]) }
    guard case .stepFailed(2, let source, let reason)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(source == "Item \(place)" && reason.contains("Refusal"))
    let store = try PersistentStore(at: path, model: model(1), migration: .refuse)
    #expect(try store.count(record: "Item") == Self.count)
    try store.close()
  }

  @Test func `a key that two records make is found`() throws {
    try make()
    let error = storeError { _ = try migrate([split(twice: 9_000)]) }
    guard case .stepFailed(2, let source, let reason)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(source == "Item 9000" && reason.contains("Item 0 makes too"))
  }

  @Test func `records are merged with those that were made before, in their order`() throws {
    try make()
    let step = MigrationStep(to: 2) {
      TransformRecords("Item", into: "Item", "Part") { old, emit in
        var item = old.record
        item.fields["rest"] = nil
        try emit(item)
        let id = try old["id", as: Int.self]
        try emit.upsert(
          DynamicRecord(
            "Part", ["id": .integer(Int64(id % 10)), "rest": .string("\(id)")]),
          merging: { existing, new in
            let before = try #require(Int(try existing["rest", as: String.self]))
            #expect(before == id - 10)
            return new
          })
      }
    }
    try migrate([step])
    try expectMigrated { $0 < 10 }
  }
}
