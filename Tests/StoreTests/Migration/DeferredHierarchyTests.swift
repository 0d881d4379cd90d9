import CambiumTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A change by which each new row follows from its old one alone.
enum WaitingChange: String, CaseIterable {
  case required, listed, chosen, movedUp, movedDown, otherParent, parentMade, parentMadeOfKinds,
    dissolved

  var model: StoreModel { StoreModel(version: 2, untyped: types) }

  private static func thing(_ version: Int) -> RecordDescription {
    RecordDescription([
      .init(kind: .field(Field(primaryKey: true, name: "id", type: .integer))),
      .init(kind: .field(Field(name: "name", type: .string, indexed: true))),
    ])
  }

  private var types: [RemovedRecord] {
    switch self {
    case .required:
      [
        RemovedRecord("Item") { version in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(
            name: "note", type: .string, optional: version == 1, indexed: true,
            migrationInfo: version == 1 ? nil : .init(default: "none"))
          Field(
            name: "count", type: .int32, optional: version == 1,
            migrationInfo: version == 1 ? nil : .init(default: 7))
        }
      ]
    case .listed:
      [
        RemovedRecord("Item") { version in
          Field(primaryKey: true, name: "id", type: .integer)
          if version == 1 {
            Field(name: "note", type: .string, optional: true, indexed: true)
          } else {
            Field(
              name: "notes", type: .array(of: .string), migrationInfo: .init(renamingID: "note"))
            RecordDescription.Index(.elements("notes"), named: "notes")
          }
        }
      ]
    case .chosen:
      [
        RemovedRecord("Item") { version in
          Field(primaryKey: true, name: "id", type: .integer)
          if version == 1 {
            Field(name: "notes", type: .array(of: .string))
          } else {
            Field(
              name: "note", type: .string, indexed: true,
              migrationInfo: .init(choosing: .last, default: "none", renamingID: "notes"))
          }
        }
      ]
    case .movedUp, .movedDown:
      [
        RemovedRecord("Trip") { [self] version in
          Field(primaryKey: true, name: "id", type: .integer)
          if (version == 1) == (self == .movedDown) {
            Field(
              name: "sum", type: .integer, optional: self == .movedDown, indexed: true,
              migrationInfo: .init(default: 7, renamingID: version == 1 ? nil : "Business.sum"))
          }
        },
        RemovedRecord("Business") { [self] version in
          RecordDescription.Parent("Trip")
          Field(name: "perDiem", type: .integer)
          if (version == 1) == (self == .movedUp) {
            Field(
              name: "sum", type: .integer, optional: self == .movedDown, indexed: true,
              migrationInfo: version == 1 ? nil : .init(renamingID: "sum"))
          }
        },
        RemovedRecord("Personal") { _ in
          RecordDescription.Parent("Trip")
          Field(name: "mood", type: .string)
        },
      ]
    case .otherParent:
      [
        RemovedRecord("Thing") { Self.thing($0) },
        RemovedRecord("Tool") { _ in
          RecordDescription.Parent("Thing")
          Field(name: "use", type: .string, indexed: true, default: "any")
        },
        RemovedRecord("Saw") { version in
          RecordDescription.Parent(version == 2 ? "Tool" : "Thing")
          Field(name: "teeth", type: .integer, indexed: true)
        },
        RemovedRecord("Chainsaw") { _ in
          RecordDescription.Parent("Saw")
          Field(name: "fuel", type: .string, optional: true)
        },
      ]
    case .parentMade, .parentMadeOfKinds, .dissolved:
      [
        RemovedRecord("Thing") { [self] version in
          if (version == 1) == (self == .dissolved) {
            Self.thing(version)
            if self == .dissolved { RecordDescription.Abstract() }
            if self != .dissolved { Field(name: "rank", type: .integer, default: 3) }
          }
        },
        RemovedRecord("Car") { [self] version in
          if (version == 1) == (self == .dissolved) {
            RecordDescription.Parent("Thing")
          } else {
            Self.thing(version)
          }
          Field(name: "doors", type: .integer, indexed: true)
          Field(name: "owner", type: .string, optional: true)
        },
        RemovedRecord("Van") { [self] _ in
          if self != .parentMade {
            RecordDescription.Parent("Car")
            Field(name: "load", type: .integer, indexed: true)
          }
        },
        RemovedRecord("Boat") { [self] version in
          if version == 2, self != .dissolved {
            RecordDescription.Parent("Thing")
            Field(name: "sails", type: .integer)
          }
        },
      ]
    }
  }

  func records(_ count: Int) -> [DynamicRecord] { (0..<Int64(count)).map(record) }

  private func record(_ id: Int64) -> DynamicRecord {
    let name = FieldValue.string("n\(id % 11)")
    let note = id % 3 == 0 ? FieldValue.null : name
    switch self {
    case .required:
      return .of("Item", id, ["note": note, "count": id % 4 == 0 ? .null : .integer(id)])
    case .listed: return .of("Item", id, ["note": note])
    case .chosen:
      return .of("Item", id, ["notes": .array((0..<id % 3).map { .string("n\(id % 11) \($0)") })])
    case .movedUp, .movedDown:
      var fields: [String: FieldValue] = [:]
      let sum = FieldValue.integer(id % 13)
      if self == .movedDown, id % 5 > 0 { fields["sum"] = sum }
      switch id % 3 {
      case 0:
        fields["Business"] = .composite(
          self == .movedUp ? ["perDiem": .integer(id), "sum": sum] : ["perDiem": .integer(id)])
      case 1: fields["Personal"] = .composite(["mood": name])
      default: break
      }
      return .of("Trip", id, fields)
    case .otherParent:
      var fields: [String: FieldValue] = ["name": name]
      let teeth = FieldValue.integer(id % 7)
      switch id % 4 {
      case 0: fields["Saw"] = .composite(["teeth": teeth])
      case 1:
        fields["Saw"] = .composite(["teeth": teeth, "Chainsaw": .composite(["fuel": note])])
      case 2: fields["Tool"] = .composite(["use": name])
      default: break
      }
      return .of("Thing", id, fields)
    case .parentMade, .parentMadeOfKinds, .dissolved:
      var own: [String: FieldValue] = ["doors": .integer(id % 5), "owner": note]
      if self != .parentMade, id % 2 == 0 { own["Van"] = .composite(["load": .integer(id)]) }
      if self != .dissolved { return .of("Car", id, own.merging(["name": name]) { $1 }) }
      return .of("Thing", id, ["name": name, "Car": .composite(own)])
    }
  }
}

/// Hierarchies change, and so do records otherwise, before their rows do: whichever way that comes about, a store is what
/// it is if it is migrated at once.
@Suite struct DeferredHierarchyTests {
  private typealias Records = [DynamicRecord]

  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  /// A compacted store of version 1.
  private func made(_ change: WaitingChange, _ count: Int) throws -> String {
    let path = directory.path + "/\(change)"
    let store = try PersistentStore(at: path, model: change.model.dynamic(version: 1))
    try store.write { transaction in
      for record in change.records(count) { try transaction.save(record) }
    }
    try store.compact()
    try store.close()
    return path
  }

  private func copy(_ path: String) throws -> String {
    let copy = directory.path + "/" + UUID().uuidString
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    return copy
  }

  private func open(
    _ path: String, _ change: WaitingChange, _ mode: MigrationMode,
    _ options: StoreOptions = StoreOptions()
  ) throws -> PersistentStore {
    try PersistentStore(at: path, model: change.model, migration: mode, options: options)
  }

  /// Compares records, their order by each field, and how many have its values, or none.
  private func expectSame(_ store: PersistentStore, _ other: PersistentStore) throws {
    #expect(try store.allRecords() == other.allRecords())
    for record in store.schema.records {
      for field in record.fields where field.type.canBeKey {
        let order = [FieldOrder(field: field.name, isDescending: false)]
        let sorted = try other.fetch(record: record.name, sortedBy: order)
        #expect(try store.fetch(record: record.name, sortedBy: order) == sorted)
        for value in [FieldValue.null, "n5", 3, 7] where value.converted(to: field.type) != nil {
          let condition = FieldCondition.comparison(field: field.name, .equal, value)
          #expect(
            try store.count(record: record.name, where: condition)
              == other.count(record: record.name, where: condition))
        }
      }
    }
    try store.expectSound()
  }

  @Test(arguments: WaitingChange.allCases)
  func `a change of rows that follow from themselves is deferred, and is what it is at once`(
    change: WaitingChange
  ) throws {
    let path = try made(change, 23)
    let model = change.model
    let plan = try PersistentStore.migration(at: path, to: model).plan
    #expect(plan.steps.map(\.isDeferrable) == [true], "\(plan)")
    #expect(plan.steps.map(\.deferralFaults) == [[]])
    // At once, after a rehearsal.
    let eagerPath = try copy(path)
    _ = try PersistentStore.migration(at: eagerPath, to: model).rehearse()
    _ = try PersistentStore.migration(at: eagerPath, to: model).run()
    let eager = try open(eagerPath, change, .refuse)
    try eager.expectSound()
    // Read without being written.
    var reading = StoreOptions()
    reading.access = .reading
    let reader = try open(path, change, .deferred, reading)
    try expectSame(reader, eager)
    try reader.close()
    // Deferred, and finished record by record, with programs that come and go.
    let latePath = try copy(path)
    var late = try open(latePath, change, .deferred)
    #expect(try late.pendingMigration?.recordCount == 23)
    try expectSame(late, eager)
    let backup = directory.path + "/backup"
    var slices = 0
    while try late.finishMigration(budget: WorkBudget(records: 1)) {
      try expectSame(late, eager)
      slices += 1
      if slices == 2 { try late.backUp(to: backup) }
      if slices % 5 == 0 {
        try late.close()
        late = try open(latePath, change, .refuse)
      }
    }
    #expect(slices > 0)
    #expect(try late.pendingMigration == nil)
    try expectSame(late, eager)
    try late.close()
    // From a backup, in the middle, by a model that is read from a file as the command reads it.
    let lock = try StoreModel(SchemaLock(parsing: "\(SchemaLock(model))"))
    let restored = try PersistentStore(at: backup, model: lock, migration: .refuse)
    #expect(try restored.pendingMigration != nil)
    try expectSame(restored, eager)
    try restored.finishMigration()
    try expectSame(restored, eager)
    try restored.close()
    try eager.close()
  }

  @Test(arguments: WaitingChange.allCases)
  func `records are saved and deleted while rows are old, and going back loses only that`(
    change: WaitingChange
  ) throws {
    let path = try made(change, 23)
    let old = try PersistentStore(at: path, model: change.model.dynamic(version: 1))
    let before = try old.allRecords()
    try old.close()
    let stores = [try open(try copy(path), change, .automatic), try open(path, change, .deferred)]
    let records = try stores[0].allRecords()
    for store in stores {
      try store.write { transaction in
        for (index, record) in records.enumerated() where index % 4 == 0 {
          var fresh = record
          fresh["id"] = .integer(Int64(100 + index))
          try transaction.save(fresh)
          // One that is old gets the fields of another.
          fresh["id"] = .integer(Int64((index + 7) % 23))
          try transaction.save(fresh)
          try transaction.delete(record: record.name, key: record["id"])
        }
      }
    }
    try expectSame(stores[1], stores[0])
    _ = try stores[1].finishMigration(budget: WorkBudget(records: 9))
    try expectSame(stores[1], stores[0])
    for store in stores { try store.close() }
    try PersistentStore.rollback(at: path, to: 1, discardingCommits: true)
    let back = try PersistentStore(at: path, model: change.model.dynamic(version: 1))
    #expect(try back.allRecords() == before)
    try back.expectSound()
    try back.close()
  }

  @Test(arguments: WaitingChange.allCases)
  func `a power cut at any moment leaves rows of both versions, and all records`(
    change: WaitingChange
  ) throws {
    let image = StoreImage()
    let first = try image.open(change.model.dynamic(version: 1))
    try first.write { transaction in
      for record in change.records(12) { try transaction.save(record) }
    }
    try first.close()
    let eager = try image.copy().open(change.model)
    let expected = try eager.allRecords()
    try eager.close()
    let running = image.copy()
    var count = 0
    let stride = scaled(5, debug: 37)
    running.medium.beforeEachCall { call in
      guard call % stride == 0 else { return }
      let policies = CrashPolicy.some(2, pending: running.medium.pendingCount, seed: UInt64(call))
      for policy in policies {
        count += 1
        do {
          let store = try running.crashed(policy).open(change.model, migration: .deferred)
          #expect(try store.allRecords() == expected)
          try store.expectSound()
          try store.finishMigration()
          #expect(try store.allRecords() == expected)
          try store.expectSound()
          try store.close()
        } catch {
          Issue.record("call \(call), \(policy): \(error)")
        }
      }
    }
    let store = try running.open(change.model, migration: .deferred)
    while try store.finishMigration(budget: WorkBudget(records: 3)) {}
    try store.close()
    running.medium.beforeEachCall(nil)
    #expect(count > 0)
  }

  @Test(arguments: WaitingChange.allCases)
  func `many records are of a new version at once, and finished in slices`(
    change: WaitingChange
  ) throws {
    let count = scaled(12_000, debug: 600)
    let path = try made(change, count)
    let eager = try open(try copy(path), change, .automatic)
    let late = try open(path, change, .deferred)
    #expect(try late.pendingMigration?.recordCount == count)
    let expected = try eager.allRecords()
    #expect(try late.allRecords() == expected)
    #expect(try late.finishMigration(budget: WorkBudget(records: count / 3)))
    #expect(try late.allRecords() == expected)
    while try late.finishMigration(budget: WorkBudget(records: count / 3)) {}
    try expectSame(late, eager)
    try late.close()
    try eager.close()
  }

  @Test(arguments: WaitingChange.allCases)
  func `what is said of kinds and origins may be anything, and is refused`(
    change: WaitingChange
  ) throws {
    let schemas = try change.model.schemas()
    let step = try SchemaChange(
      from: schemas[0], to: schemas[1], described: change.model.describedVersions()[1])
    var pending = PendingSteps()
    pending.add([step])
    let entries = try pending.entries(schemas)
    var read = PendingSteps()
    for (key, value) in entries { try read.read(key, value.rawSpan, schemas) }
    #expect(read == pending)
    _ = try read.upgrades(schemas)
    var random = SplitMix64(seed: 7)
    var refused = 0
    for round in 0..<scaled(2_000, debug: 300) {
      var damaged = entries
      let place = round % entries.count
      damaged[place].value = DeferredMigrationTests.damaged(damaged[place].value, &random)
      do throws(StoreError) {
        var found = PendingSteps()
        for (key, value) in damaged { try found.read(key, value.rawSpan, schemas) }
        _ = try found.upgrades(schemas)
      } catch {
        guard case .corrupt(_, .pendingSteps, _) = error else {
          Issue.record("round \(round): \(error)")
          continue
        }
        refused += 1
      }
    }
    #expect(refused > 0)
  }

  // MARK: What cannot wait

  private func faults(
    _ types: [RemovedRecord], holding records: [DynamicRecord] = []
  ) throws -> [String] {
    try VersionedStore(versions: 2, types, holding: records).plan().steps
      .flatMap(\.deferralFaults).map { "\($0)" }
  }

  private func vehicle(_ versions: Set<Int> = [1, 2], isUnique: Bool = false) -> RemovedRecord {
    RemovedRecord("Vehicle") { version in
      if versions.contains(version) {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "name", type: .string, unique: isUnique && version == 2)
      }
    }
  }

  private func kind(_ name: String, _ versions: Set<Int>) -> RemovedRecord {
    RemovedRecord(name) { version in
      if versions.contains(version) {
        RecordDescription.Parent("Vehicle")
      } else {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "name", type: .string)
      }
      Field(name: "size", type: .integer)
    }
  }

  @Test func `the plan names what cannot wait, and why`() throws {
    #expect(
      try faults([vehicle(), kind("Car", [2])]) == [
        "Car: its records come among others as Vehicle.Car, where two of them may have one key"
      ])
    #expect(
      try faults([vehicle([2]), kind("Car", [2]), kind("Boat", [2])]) == [
        "Boat: its records come among others as Vehicle.Boat, where two of them may have one key",
        "Car: its records come among others as Vehicle.Car, where two of them may have one key",
      ])
    #expect(
      try faults([vehicle(), kind("Car", [1]), kind("Boat", [1, 2])]) == [
        "Vehicle.Car: its records become Car and leave others behind, so they need a tree of their own"
      ])
    #expect(
      try faults([vehicle(isUnique: true)]) == [
        "Vehicle: the unique constraint name is new, and two records may break it"
      ])
    let changed = RemovedRecord("Item") { version in
      Field(primaryKey: true, name: "id", type: version == 1 ? .int32 : .int64)
      if version == 1 {
        Field(name: "tags", type: .array(of: .string))
      } else {
        Field(
          name: "tag", type: .string, optional: true, migrationInfo: .init(renamingID: "tags"))
      }
    }
    #expect(
      try faults([changed]) == [
        "Item: its primary keys change", "Item.tag: a list may have several elements",
      ])
  }
}
