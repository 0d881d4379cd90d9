import CambiumTesting
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Fields that begin or cease to have a sequence from one version to the next.
@Suite struct SequenceMigrationTests {
  private static func store(
    _ count: Int = 40, versions: Int = 2,
    @RecordDescription.ResultBuilder _ fields: @escaping @Sendable (Int) -> RecordDescription
  ) throws -> VersionedStore {
    let type = RemovedRecord("R") { version in
      Field(primaryKey: true, name: "id", type: .integer)
      fields(version)
    }
    let records = (0..<count).map { index -> DynamicRecord in
      // Every third has a number, in the order of their keys or not.
      let number: FieldValue = index % 3 == 0 ? .integer(Int64(500 - index)) : .null
      return DynamicRecord(
        "R",
        ["id": .integer(Int64(index)), "n": number, "m": .integer(Int64(index + 1))])
    }
    return try VersionedStore(versions: versions, [type], holding: records)
  }

  private static func numbers(_ field: String, _ store: PersistentStore) throws -> [UInt64?] {
    try store.fetch(record: "R", where: nil).map { $0[field].sequenceNumber }
  }

  /// - Parameter others: The values that the record has besides its key.
  private static func insert(
    _ id: Int64, _ store: PersistentStore, _ others: [String: FieldValue] = [:]
  ) throws -> DynamicRecord? {
    let fields = ["id": .integer(id)].merging(others) { $1 }
    try store.write { try $0.save(DynamicRecord("R", RecordFields(fields))) }
    return try store.fetch(record: "R", key: id)
  }

  @RecordDescription.ResultBuilder
  private static func plain(_ version: Int) -> RecordDescription {
    Field(name: "n", type: .integer, optional: true, unique: true)
    Field(name: "m", type: .integer, unique: true)
  }

  @Test(arguments: [1, 7, 1_000])
  func `A25: a new field with a sequence numbers the records in the order of their keys`(
    sliceCount: Int
  ) throws {
    let versioned = try Self.store { version in
      Self.plain(version)
      if version == 2 {
        Field(name: "p", type: .int16, unique: true, generated: .sequence(from: 10, by: 5))
      }
    }
    let plan = try versioned.plan()
    #expect(plan.canRun && plan.isInferred, "\(plan)")
    // It cannot wait: which number a record has depends on all records.
    #expect(plan.steps.map(\.isDeferrable) == [false])
    #expect(
      plan.steps[0].deferralFaults.map { "\($0)" }.contains {
        $0.contains("sequence from 10 by 5, which numbers all records at once")
      }, "\(plan.steps[0].deferralFaults)")
    var options = StoreOptions()
    options.migration.sliceCount = sliceCount
    let store = try PersistentStore(
      at: try versioned.copy(), model: versioned.model, options: options)
    #expect(try Self.numbers("p", store) == (0..<40).map { UInt64(10 + 5 * $0) })
    #expect(try Self.insert(90, store, ["m": 90])?["p"] == 210)
    try store.expectSound()
    try store.close()
  }

  @Test
  func `an optional field that gets a sequence keeps its numbers, and gives the others after them`()
    throws
  {
    let versioned = try Self.store { version in
      if version == 1 {
        Self.plain(version)
      } else {
        Field(
          name: "n", type: .integer, optional: true, unique: true, generated: .sequence)
        Field(name: "m", type: .integer, unique: true)
      }
    }
    let store = try versioned.migrated()
    let numbers = try Self.numbers("n", store)
    var next: UInt64 = 500
    for (index, number) in numbers.enumerated() {
      if index % 3 == 0 {
        #expect(number == UInt64(500 - index))
      } else {
        next += 1
        #expect(number == next)
      }
    }
    try store.close()
  }

  @Test(arguments: [MigrationMode.automatic, .deferred])
  func `a field that every record has gets a sequence without a change of rows`(
    mode: MigrationMode
  ) throws {
    let versioned = try Self.store { version in
      Field(name: "n", type: .integer, optional: true, unique: true)
      Field(
        name: "m", type: .integer, unique: true, generated: version == 2 ? .sequence : nil)
    }
    let plan = try versioned.plan()
    #expect(plan.canRun && plan.isInferred, "\(plan)")
    let store = try versioned.migrated(to: nil, [], mode)
    #expect(try Self.insert(90, store)?["m"] == 41)
    #expect(try Self.numbers("m", store).prefix(40) == (1...40).map { UInt64($0) }[...])
    try store.close()
  }

  @Test
  func
    `a version without the sequence keeps the numbers, and one that has it again goes on behind them`()
    throws
  {
    let versioned = try Self.store(versions: 4) { version in
      Field(name: "n", type: .integer, optional: true, unique: true)
      Field(
        name: "m", type: version == 4 ? .int64 : .int32, unique: true,
        generated: version == 2 || version == 4 ? .sequence(from: 1_000) : nil)
    }
    let path = try versioned.copy()
    func open(_ version: Int) throws -> PersistentStore {
      try PersistentStore(at: path, model: versioned.model.dynamic(version: version))
    }
    var store = try open(2)
    #expect(try Self.insert(90, store)?["m"] == 1_000)
    try store.close()
    store = try open(3)
    try store.write {
      try $0.save(DynamicRecord("R", ["id": 91, "m": 5_000]))
    }
    try store.close()
    store = try open(4)
    #expect(try Self.insert(92, store)?["m"] == 5_001)
    try store.expectSound()
    try store.close()
    // Back and forth: the state before the last migration, and again.
    try PersistentStore.rollback(at: path, to: 3, discardingCommits: true)
    store = try open(3)
    #expect(try Self.numbers("m", store).last == 5_000)
    try store.close()
  }

  @Test
  func `a sequence that is too short for the records ends the migration, and nothing has changed`()
    throws
  {
    let versioned = try Self.store(200) { version in
      Self.plain(version)
      if version == 2 { Field(name: "p", type: .int8, unique: true, generated: .sequence) }
    }
    let error = try versioned.refusal()
    #expect("\(String(describing: error))".contains("used up"))
  }
}
