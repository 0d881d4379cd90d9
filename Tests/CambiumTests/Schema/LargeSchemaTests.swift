import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Schemas that a file may have, far larger than any that is written: what is done with them takes no longer than their
/// size makes it.
@Suite struct LargeSchemaTests {
  private static let count = 20_000

  enum Shape: CaseIterable {
    case fields, optionalFields, parts, records, indexes, indexParts, terms
  }

  @Test(.timeLimit(.minutes(60)), arguments: Shape.allCases)
  func `a large schema is read in time that is linear in its size`(shape: Shape) throws {
    let schema = Self.schema(shape)
    let bytes = schema.encoded()
    let time = try threadTime {
      let read = try Schema(decoding: bytes.rawSpan, version: 1, path: "here")
      _ = try Entities(read, model: nil, names: TreeNames())
      #expect(read.differences(to: read, by: .number).isEmpty)
    }
    // Each of them compared with each other takes minutes.
    #expect(time < .seconds(8), "\(shape)")
  }

  /// A model of two versions: in the second, each field has a new name.
  private static func model(version: Int, records: Int, fields: Int) -> StoreModel {
    StoreModel(
      version: version,
      untyped: (0..<records).map { record in
        RemovedRecord("R\(record)") { version in
          Field(primaryKey: true, name: "id", type: .integer)
          for number in 0..<fields {
            Field(
              name: "f\(number)v\(version)", type: .integer,
              migrationInfo: MigrationInfo(
                defaultValue: nil, renamingID: version == 1 ? nil : "f\(number)v1"))
          }
        }
      })
  }

  @Test(.timeLimit(.minutes(60)), arguments: [true, false])
  func `a large model is opened, locked, planned and migrated in time that is linear in its size`(
    hasManyFields: Bool
  ) throws {
    let (records, fields) =
      hasManyFields ? (1, scaled(20_000, debug: 4_000)) : (scaled(5_000, debug: 1_000), 1)
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let models = (1...2).map { Self.model(version: $0, records: records, fields: fields) }
    func expectSoon(_ name: String, _ body: () throws -> Void) rethrows {
      let time = try threadTime(body)
      #expect(time < .seconds(8), "\(name)")
    }
    try expectSoon("opening") {
      try PersistentStore(at: path, model: models[0]).close()
      try PersistentStore(at: path, model: models[0]).close()
    }
    try expectSoon("locking") {
      let lock = directory.path + "/Schema.lock"
      try SchemaLock.write(models[0], at: lock)
      try SchemaLock.write(models[1], at: lock)
      try SchemaLock.check(models[1], at: lock)
      let read = try StoreModel(SchemaLock(contentsOf: lock))
      #expect(try read.schemas().count == 2)
    }
    try expectSoon("planning and migrating") {
      let migration = try PersistentStore.migration(at: path, to: models[1])
      #expect(migration.plan.canRun)
      _ = try migration.run()
      let store = try PersistentStore(at: path, model: models[1])
      #expect(store.schema.records.count == records)
      try store.close()
    }
  }

  @Test func `descriptions are taken without their types in time that is linear in their number`()
    throws
  {
    let factor = try growth(from: 500, to: 2_000, atMost: 2.5) { count in
      let model = Self.model(version: 2, records: count, fields: 1)
      return try nanoseconds(each: count) {
        let schemas = try model.untyped(version: 2).schemas()
        #expect(schemas.last?.records.count == count)
      }
    }
    #expect(factor < 2.5)
  }

  @Test func `records of a version are found by name in time that is linear in their number`()
    throws
  {
    // Each of them compared with each other takes eight times as long.
    let factor = try growth(from: 1_000, to: 8_000, atMost: 4) { count in
      let names = (0..<count).map { "R\($0)" }
      let key = Field(primaryKey: true, name: "id", type: .integer)
      let version = ModelVersion(
        1,
        describing: Dictionary(
          uniqueKeysWithValues: names.map { ($0, RecordDescription([.init(kind: .field(key))])) }))
      let model = StoreModel([version])
      let described = try model.describedVersions()[0]
      let locked = try SchemaLock(model).versions[0]
      return nanoseconds(each: count) {
        #expect(version.statedRecords.count == count)
        #expect(names.allSatisfy { described.record(named: $0) != nil && locked[$0] != nil })
      }
    }
    #expect(factor < 4)
  }

  @Test(.timeLimit(.minutes(60)))
  func `records of very many types that lead to one another in a ring go by one call`() throws {
    let count = scaled(500, debug: 50)
    let model = StoreModel(
      version: 1,
      untyped: (0..<count).map { number in
        RemovedRecord("R\(number)") { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "next", type: .reference(to: "R\((number + 1) % count)"), optional: true)
          Field(name: "number", type: .integer, derived: .count(of: "previous"))
          UntypedInverse(
            "previous", of: "next", in: "R\((number + count - 1) % count)", deleteRule: .cascade)
        }
      })
    let store = try PersistentStore(inMemory: model)
    try store.write { transaction in
      for number in 0..<count {
        try transaction.save(DynamicRecord("R\(number)", ["id": 1, "next": 1]))
      }
    }
    #expect(try store.fetch(record: "R0").map { $0["number"] } == [.integer(1)])
    try store.write { transaction in _ = try transaction.delete(record: "R5", key: 1) }
    for number in 0..<count { #expect(try store.count(record: "R\(number)") == 0) }
  }

  @Test(.timeLimit(.minutes(60)))
  func `a lock of very many versions is written and read in time that is linear`() throws {
    let directory = try TemporaryDirectory()
    let lock = directory.path + "/Schema.lock"
    let count = scaled(8_000, debug: 1_000)
    let time = try threadTime {
      let model = Self.model(version: count, records: 1, fields: 0)
      try SchemaLock.write(model, at: lock)
      try SchemaLock.check(model, at: lock)
      let read = try StoreModel(SchemaLock(contentsOf: lock))
      let schemas = try read.schemas()
      #expect(schemas.count == count)
      _ = try StoreModel(continuing: schemas, with: []).schemas()
    }
    #expect(time < .seconds(20))
  }

  @Test func `versions are found where they are, and where some are missing`() {
    for numbers in [[], [1], [1, 2, 3], [2, 3, 5], [3, 9]] as [[Int]] {
      for number in 0...10 {
        #expect(numbers.first(version: number) { $0 } == numbers.first { $0 == number })
        #expect(numbers.last(upTo: number) == numbers.last { $0 <= number })
      }
    }
  }

  @Test func `a name is found in a list of every length, also after a change`() {
    var record = Self.record(1)
    for number in 2...40 as ClosedRange<UInt32> {
      #expect(record.field(named: "f\(number)") == nil)
      record.fields.append(Self.field(number))
      #expect(record.field(named: "f\(number)")?.number == number)
    }
    record.fields.append(Self.field(41, "f40"))
    record.fields.removeFirst(3)
    #expect(record.field(named: "f3") == nil)
    #expect(record.field(named: "f40")?.number == 40)
    record.fields[30].name = "other"
    #expect(record.field(named: "other") == record.fields[30])
  }

  @Test func `a composite that is in itself is refused, however many there are`() throws {
    let fields = (1...UInt32(Self.count)).map { number in
      FieldSchema(
        number: number, name: "f\(number)", type: .composite, isOptional: true,
        composite: number % UInt32(Self.count) + 1, modifier: nil)
    }
    let record = RecordSchema(
      number: 1, name: "R", fields: fields, primaryKey: [], indexes: [], modifier: nil)
    guard
      case .invalidDescription = storeError({ () throws(StoreError) in
        _ = try RowLayout(record, version: 1)
      })
    else {
      Issue.record("it is not refused")
      return
    }
  }

  // MARK: Making them

  private static func schema(_ shape: Shape) -> Schema {
    let numbers = 2...UInt32(count)
    switch shape {
    case .fields: return schema(of: numbers.map { field($0) })
    case .optionalFields: return schema(of: numbers.map { field($0, isOptional: true) })
    case .parts:
      // Many in one, which has many bits.
      let parts = numbers.dropFirst().map {
        field($0, "c.f\($0)", isOptional: true, composite: 2)
      }
      return schema(of: [field(2, "c", .composite, isOptional: true)] + parts)
    case .records:
      return Schema(version: 1, label: nil, records: (1...UInt32(count)).map { record($0) })
    case .indexes:
      return schema(indexes: numbers.map { index($0, [2]) }, of: [field(2)])
    case .indexParts:
      return schema(indexes: [index(2, Array(numbers))], of: numbers.map { field($0) })
    case .terms:
      let terms = numbers.map { FieldCondition.comparison(field: "f\($0)", .equal, 1) }
      return schema(
        indexes: [index(2, [2], condition: .or(terms))], of: numbers.map { field($0) })
    }
  }

  private static func schema(indexes: [IndexSchema] = [], of fields: [FieldSchema]) -> Schema {
    Schema(version: 1, label: nil, records: [record(1, fields, indexes)])
  }

  private static func record(
    _ number: UInt32, _ fields: [FieldSchema] = [], _ indexes: [IndexSchema] = []
  ) -> RecordSchema {
    RecordSchema(
      number: number, name: "R\(number)", fields: [field(1)] + fields,
      primaryKey: [KeyPart(field: 1, isDescending: false, isCaseInsensitive: false)],
      indexes: indexes, modifier: nil)
  }

  private static func field(
    _ number: UInt32, _ name: String? = nil, _ type: ColumnType = .int64,
    isOptional: Bool = false, composite: UInt32? = nil
  ) -> FieldSchema {
    FieldSchema(
      number: number, name: name ?? "f\(number)", type: type, isOptional: isOptional,
      composite: composite, modifier: nil)
  }

  private static func index(
    _ number: UInt32, _ fields: [UInt32], condition: FieldCondition? = nil
  ) -> IndexSchema {
    IndexSchema(
      number: number, name: "i\(number)",
      parts: fields.map { KeyPart(field: $0, isDescending: false, isCaseInsensitive: false) },
      isUnique: false, condition: condition)
  }
}
