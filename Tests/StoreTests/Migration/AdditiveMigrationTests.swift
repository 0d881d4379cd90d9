import CambiumTesting
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A change between two versions of a record.
enum AdditiveChange: CaseIterable, Sendable {
  case addsOptional, addsDefault, addsComposite
  case renames, renamesRecord, renamesAndAdds, addsRecord
  case removes, widens, makesOptional, requires, movesKey
  case addsIndexedOptional, addsIndexedDefault, addsIndex, addsUnique

  /// True if the store is of the new version by one commit.
  var isOneCommit: Bool {
    switch self {
    case .addsOptional, .addsDefault, .addsComposite, .renames, .renamesRecord,
      .renamesAndAdds, .addsRecord:
      true
    case .removes, .widens, .makesOptional, .requires, .movesKey, .addsIndexedOptional,
      .addsIndexedDefault, .addsIndex, .addsUnique:
      false
    }
  }

  /// True if rows of the version before are not those of the new one.
  var changesRows: Bool {
    switch self {
    case .renames, .renamesRecord, .addsRecord, .addsIndex, .addsUnique: false
    default: true
    }
  }

  private var record: String { self == .renamesRecord ? "Thing" : "Item" }

  func model(_ version: Int) -> StoreModel {
    let isNew = version == 2
    let item = RemovedRecord("Item") { isLater in
      let isNew = isLater == 2
      if isNew, self == .renamesRecord { RecordName("Thing", renamingID: "Item") }
      Field(primaryKey: !(isNew && self == .movesKey), name: "id", type: .int32)
      if isNew, self == .renames || self == .renamesAndAdds {
        Field(name: "title", type: .string, migrationInfo: .init(renamingID: "name"))
      } else {
        Field(
          primaryKey: isNew && self == .movesKey, name: "name", type: .string,
          unique: isNew && self == .addsUnique)
      }
      if !(isNew && self == .removes) {
        Field(
          name: "count", type: isNew && self == .widens ? .int64 : .int32,
          optional: isNew && self == .makesOptional, indexed: isNew && self == .addsIndex)
      }
      Field(
        name: "note", type: .string, optional: !(isNew && self == .requires),
        migrationInfo: .init(default: "none"))
      if isNew {
        if self == .addsOptional || self == .addsIndexedOptional {
          Field(
            name: "more", type: .double, optional: true, indexed: self == .addsIndexedOptional)
        }
        if self == .addsDefault || self == .renamesAndAdds || self == .addsIndexedDefault {
          Field(
            name: "more", type: .string, indexed: self == .addsIndexedDefault,
            migrationInfo: .init(default: "new"))
        }
        if self == .addsComposite {
          Field(
            name: "place", type: .composite { Field(name: "city", type: .string) }, optional: true)
        }
      }
    }
    let other = RemovedRecord("Other") { version in
      if version > 1 { Field(primaryKey: true, name: "id", type: .int32) }
    }
    return StoreModel(
      version: version, untyped: isNew && self == .addsRecord ? [item, other] : [item])
  }

  func old(_ id: Int) -> DynamicRecord {
    DynamicRecord(
      "Item",
      [
        "id": .integer(Int64(id)), "name": .string("n\(id)"), "count": .integer(Int64(id % 7)),
        "note": id % 3 == 0 ? .null : "a note",
      ])
  }

  func new(_ id: Int) -> DynamicRecord {
    let old = old(id)
    var new = DynamicRecord(record, old.fields)
    switch self {
    case .addsOptional, .addsIndexedOptional: new["more"] = .null
    case .addsDefault, .addsIndexedDefault: new["more"] = "new"
    case .addsComposite: new["place"] = .null
    case .renames, .renamesAndAdds:
      new.fields["name"] = nil
      new["title"] = old["name"]
      if self == .renamesAndAdds { new["more"] = "new" }
    case .removes: new.fields["count"] = nil
    case .requires: if old["note"] == .null { new["note"] = "none" }
    default: break
    }
    return new
  }
}

/// Migrations that only add or rename, of their own accord.
@Suite struct AdditiveMigrationTests {
  private static let count = 300

  private func made(_ change: AdditiveChange) throws -> StoreImage {
    let image = StoreImage()
    let store = try image.open(change.model(1))
    try store.write { transaction in
      for id in 0..<Self.count { try transaction.save(change.old(id)) }
    }
    try store.close()
    return image
  }

  @Test(arguments: AdditiveChange.allCases)
  func `what only adds or renames leaves rows as they are, and all else rewrites them`(
    change: AdditiveChange
  ) throws {
    let image = try made(change)
    let store = try image.open(change.model(2))
    let leaves = change.isOneCommit && change.changesRows
    #expect(try store.pendingMigration?.recordCount == (leaves ? Self.count : nil))
    let all = (0..<Self.count).map(change.new)
    func found() throws -> Set<DynamicRecord> { Set(try store.allRecords()) }
    #expect(try found() == Set(all))
    try store.expectSound()
    // Rows that are written are new, others stay.
    let record = try #require(all.first)
    try store.write { try $0.save(record) }
    #expect(try found() == Set(all))
    #expect(try !store.finishMigration())
    #expect(try store.pendingMigration == nil)
    #expect(try found() == Set(all))
    try store.expectSound()
    try store.close()
    let again = try image.open(change.model(2), migration: .refuse)
    #expect(Set(try again.allRecords()) == Set(all))
    try again.close()
  }

  @Test(arguments: AdditiveChange.allCases)
  func `step by step, rows are rewritten in any case`(change: AdditiveChange) throws {
    let image = try made(change)
    var options = StoreOptions()
    options.migration.stepwise = true
    let store = try image.open(change.model(2), options: options)
    #expect(try store.pendingMigration == nil)
    #expect(Set(try store.allRecords()) == Set((0..<Self.count).map(change.new)))
    try store.close()
  }

  private static func make(_ change: AdditiveChange, at path: String) throws {
    let store = try PersistentStore(at: path, model: change.model(1))
    try store.write { transaction in
      for id in 0..<count { try transaction.save(change.old(id)) }
    }
    try store.close()
  }

  @Test(arguments: [AdditiveChange.addsDefault, .removes])
  func `the progress ends with all of it done, also where it is one commit`(
    change: AdditiveChange
  ) async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    try Self.make(change, at: path)
    let migration = try await PersistentStore.migration(at: path, to: change.model(2))
    for isRehearsal in [true, false] {
      let stream = migration.progress
      let report = try await isRehearsal ? migration.rehearse() : migration.run()
      var last: MigrationProgress?
      for await progress in stream { last = progress }
      let progress = try #require(last)
      #expect(progress.fraction == 1 && progress.tasks > 0 && progress.task == progress.tasks)
      #expect(progress.version == 2 && progress.recordsDone == report.records)
      #expect(progress.elapsed > .zero && (progress.work == "one commit") == change.isOneCommit)
    }
  }

  @Test(arguments: [AdditiveChange.addsDefault, .removes])
  func `plan, rehearsal and run say whether rows are rewritten`(change: AdditiveChange) throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    try Self.make(change, at: path)
    let migration = try PersistentStore.migration(at: path, to: change.model(2))
    #expect(migration.plan.canRun)
    #expect((migration.plan.work.map(\.kind) == [.publish]) == change.isOneCommit)
    #expect((migration.plan.records == 0) == change.isOneCommit)
    #expect("\(migration.plan)".contains("one commit") == change.isOneCommit)
    let rehearsed = try migration.rehearse()
    #expect(try PersistentStore.inspect(at: path).schemas.count == 1)
    let report = try migration.run()
    for report in [rehearsed, report] {
      #expect(report.records == (change.isOneCommit ? 0 : Self.count))
      #expect(report.isOneCommit == change.isOneCommit)
      #expect("\(report)".contains("in one commit, which rewrote no record") == change.isOneCommit)
      #expect("\(report)".contains(" records read") != change.isOneCommit, "\(report)")
    }
    let again = try migration.run()
    #expect(again.records == 0 && "\(again)" == "The store already has version 2.")
    let after = try PersistentStore(at: path, model: change.model(2), migration: .refuse)
    #expect(Set(try after.allRecords()) == Set((0..<Self.count).map(change.new)))
    try after.close()
  }
}
