import CambiumTesting
import FoundationEssentials
import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A change by which each new row follows from its old one alone.
enum WaitingChange: String, CaseIterable {
  case required, listed, chosen, movedUp, movedDown, otherParent, parentMade, parentMadeOfKinds,
    dissolved
  /// A reference becomes a list: one that is required, one that is optional, and one that an index leads back from.
  case listedReference, listedOptionalReference, listedIndexedReference
  /// A reference becomes optional.
  case optionalReference
  /// Kinds become records of their own: one while others stay, and two of a parent that goes.
  case leaving, divided

  /// True if records get a tree of their own.
  var divides: Bool { self == .leaving || self == .divided }

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
    case .listedReference, .listedOptionalReference, .listedIndexedReference, .optionalReference:
      [
        RemovedRecord("Author") { [self] version in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "name", type: .string)
          UntypedInverse(
            "books", of: version == 1 || self == .optionalReference ? "author" : "authors",
            in: "Book")
        },
        RemovedRecord("Book") { [self] version in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "rank", type: .integer)
          if version == 1 {
            Field(
              name: "author", type: .reference(to: "Author"),
              optional: self == .listedOptionalReference)
          } else if self == .optionalReference {
            Field(name: "author", type: .reference(to: "Author"), optional: true)
          } else {
            Field(
              name: "authors", type: .references(to: "Author"),
              migrationInfo: .init(renamingID: "author"))
          }
          if self == .listedIndexedReference {
            RecordDescription.Index(version == 1 ? "author" : .elements("authors"), "rank")
          }
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
    case .leaving:
      [
        RemovedRecord("Trip") { version in
          Self.thing(version)
          Field(name: "note", type: .string, optional: true, indexed: true)
        },
        RemovedRecord("Business") { version in
          if version == 1 { RecordDescription.Parent("Trip") } else { Self.thing(version) }
          Field(name: "sum", type: .integer, indexed: true)
          if version == 2 { Field(name: "rank", type: .integer, indexed: true, default: 3) }
        },
        RemovedRecord("Offsite") { _ in
          RecordDescription.Parent("Business")
          Field(name: "place", type: .string, optional: true, indexed: true)
        },
        RemovedRecord("Personal") { _ in
          RecordDescription.Parent("Trip")
          Field(name: "mood", type: .string, indexed: true)
        },
      ]
    case .divided:
      [
        RemovedRecord("Thing") { version in
          if version == 1 {
            Self.thing(version)
            RecordDescription.Abstract()
          }
        },
        RemovedRecord("Car") { version in
          if version == 1 { RecordDescription.Parent("Thing") } else { Self.thing(version) }
          Field(name: "doors", type: .integer, indexed: true)
        },
        RemovedRecord("Van") { _ in
          RecordDescription.Parent("Car")
          Field(name: "load", type: .integer)
        },
        RemovedRecord("Boat") { version in
          if version == 1 { RecordDescription.Parent("Thing") } else { Self.thing(version) }
          Field(name: "sails", type: .integer, optional: true)
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

  /// Records that change, and those that they lead to.
  func records(_ count: Int) -> [DynamicRecord] {
    let changed = (0..<Int64(count)).map(record)
    guard changed.first?.name == "Book" else { return changed }
    return (0..<Self.authorCount).map { .of("Author", $0, ["name": .string("a\($0)")]) } + changed
  }

  private static var authorCount: Int64 { 7 }

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
    case .listedReference, .listedOptionalReference, .listedIndexedReference, .optionalReference:
      let isAlone = self == .listedOptionalReference && id % 3 == 0
      return .of(
        "Book", id,
        [
          "rank": .integer(id % 5), "author": isAlone ? .null : .integer(id % Self.authorCount),
        ])
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
    case .leaving:
      var fields: [String: FieldValue] = ["name": name, "note": note]
      let sum = FieldValue.integer(id % 13)
      switch id % 4 {
      case 0: fields["Business"] = .composite(["sum": sum])
      case 1:
        fields["Business"] = .composite(["sum": sum, "Offsite": .composite(["place": note])])
      case 2: fields["Personal"] = .composite(["mood": name])
      default: break
      }
      return .of("Trip", id, fields)
    case .divided:
      var car: [String: FieldValue] = ["doors": .integer(id % 5)]
      if id % 3 == 0 { car["Van"] = .composite(["load": .integer(id)]) }
      let sails = id % 4 == 1 ? FieldValue.null : .integer(id % 7)
      return .of(
        "Thing", id,
        ["name": name]
          .merging(id % 2 == 0 ? ["Car": .composite(car)] : ["Boat": .composite(["sails": sails])])
        { $1 })
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

  /// Compares records, their order by each field, how many have its values, or none, and the records that lead to each.
  private func expectSame(_ store: PersistentStore, _ other: PersistentStore) throws {
    #expect(try store.allRecords() == other.allRecords())
    for record in store.schema.records {
      for inverse in record.inverses { try expectSame(inverse, of: record.name, store, other) }
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

  /// Compares the records that lead to each record, from the other end and from their own.
  private func expectSame(
    _ inverse: InverseSchema, of record: String, _ store: PersistentStore, _ other: PersistentStore
  ) throws {
    let all = try store.fetch(record: record)
    let field = try #require(
      store.schema.record(named: inverse.related)?.field(named: inverse.reference))
    #expect(try store.related(to: all, inverse.name) == other.related(to: all, inverse.name))
    var conditions = all.map { record in
      field.type.scalar == nil
        ? FieldCondition.contains(field: field.name, record["id"])
        : .comparison(field: field.name, .equal, record["id"])
    }
    conditions.append(.comparison(field: field.name, .notEqual, .null))
    conditions.append(.any(relation: field.name, .comparison(field: "id", .less, 3)))
    for condition in conditions {
      #expect(
        try store.count(record: inverse.related, where: condition)
          == other.count(record: inverse.related, where: condition))
    }
    let isRead = FieldCondition.any(
      relation: inverse.name, .comparison(field: "rank", .equal, 3))
    #expect(
      try store.fetch(record: record, where: isRead)
        == other.fetch(record: record, where: isRead))
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
    if change.divides {
      #expect(throws: StoreError.needsMigration(found: 1, wanted: 2)) {
        try open(path, change, .deferred, reading)
      }
    } else {
      let reader = try open(path, change, .deferred, reading)
      try expectSame(reader, eager)
      try reader.close()
    }
    // Deferred, and finished record by record, with programs that come and go.
    let latePath = try copy(path)
    var late = try open(latePath, change, .deferred)
    #expect(try late.pendingMigration?.recordCount == 23)
    try expectSame(late, eager)
    let backup = directory.path + "/backup"
    try late.backUp(to: backup)
    var slices = 0
    while try late.finishMigration(budget: WorkBudget(records: 1)) {
      try expectSame(late, eager)
      slices += 1
      if slices % 5 == 0 {
        try late.close()
        let reader = try open(latePath, change, .refuse, reading)
        try expectSame(reader, eager)
        try reader.close()
        late = try open(latePath, change, .refuse)
      }
    }
    #expect(try late.pendingMigration == nil)
    try expectSame(late, eager)
    try late.close()
    // From a backup, by a model that is read from a file as the command reads it.
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
        for (index, record) in records.enumerated()
        where index % 4 == 0 && record.name != "Author" {
          var fresh = record
          fresh["id"] = .integer(Int64(100 + index))
          try transaction.save(fresh)
          // One that is old gets the fields of another.
          fresh["id"] = .integer(Int64((index + 7) % 23))
          try transaction.save(fresh)
          try transaction.delete(record: record.name, key: record["id"])
        }
        // Records are found by the index that leads back from those that they lead to.
        for record in records where record.name == "Author" && record["id"] != 3 {
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

  // MARK: Ten ways

  private static let count = scaled(12_000, debug: 600)

  /// The ways share stores: each begins where another was interrupted.
  @Test(arguments: WaitingChange.allCases)
  func `thousands of records of a compacted store come to the same in ten ways`(
    change: WaitingChange
  ) async throws {
    let path = try made(change, Self.count)
    let eager = try migratedByFile(path, change)
    // Rehearsed, cancelled, killed, resumed by steps, rolled back, and run once more.
    let whole = try copy(path)
    try rehearse(whole, change)
    let migration = try Self.migration(whole, change)
    let running = Task.detached { try await migration.run() }
    try await Task.sleep(for: .milliseconds(2))
    running.cancel()
    if case .failure(let error) = await running.result {
      #expect(error as? StoreError == .migrationCancelled(from: 1, to: 2))
    }
    await kill(whole, change, isDeferred: false)
    try rollBack(try resume(whole, change, eager), to: path, change)
    _ = try resume(whole, change, eager)
    // Deferred, killed while it is finished, and finished in slices from there and from a backup.
    let late = try copy(path)
    try publish(late, change)
    await kill(late, change, isDeferred: true)
    let backup = directory.path + "/copied"
    try finish(late, change, eager, backingUpTo: backup)
    try finish(backup, change, eager)
    try close(eager)
  }

  /// Migrates at once, as the command does: by a model that a file has.
  private func migratedByFile(_ path: String, _ change: WaitingChange) throws -> PersistentStore {
    let path = try copy(path)
    let lock = try StoreModel(SchemaLock(parsing: "\(SchemaLock(change.model, steps: []))"))
    _ = try PersistentStore.migration(at: path, to: lock).run()
    let store = try open(path, change, .refuse)
    try store.expectSound()
    return store
  }

  private func close(_ store: PersistentStore) throws { try store.close() }

  /// A migration by steps, in slices.
  private static func migration(_ path: String, _ change: WaitingChange) throws -> Migration {
    var options = StoreOptions()
    options.migration.sliceCount = count / 8
    options.migration.stepwise = true
    options.allowsMigrationAfterRollback = true
    return try PersistentStore.migration(at: path, to: change.model, options: options)
  }

  private func rehearse(_ path: String, _ change: WaitingChange) throws {
    _ = try Self.migration(path, change).rehearse()
    #expect(try PersistentStore.inspect(at: path).version == 1)
  }

  private func resume(
    _ path: String, _ change: WaitingChange, _ eager: PersistentStore
  ) throws -> String {
    if try PersistentStore.inspect(at: path).version == 1 {
      _ = try Self.migration(path, change).run()
    }
    let store = try open(path, change, .refuse)
    #expect(try store.allRecords() == eager.allRecords())
    try store.expectSound()
    try store.close()
    return path
  }

  private func rollBack(_ path: String, to original: String, _ change: WaitingChange) throws {
    try PersistentStore.rollback(at: path, to: 1)
    let stores = try [path, original].map {
      try PersistentStore(at: $0, model: change.model.dynamic(version: 1))
    }
    #expect(try stores[0].allRecords() == stores[1].allRecords())
    try stores[0].expectSound()
    for store in stores { try store.close() }
  }

  /// Makes the store one of the new version whose rows are all old.
  private func publish(_ path: String, _ change: WaitingChange) throws {
    try open(path, change, .deferred).close()
    #expect(
      try PersistentStore.inspect(at: path).pendingMigration?.recordCount == Self.count)
  }

  /// Finishes a migration that is deferred, in slices; before the last, the store is backed up.
  private func finish(
    _ path: String, _ change: WaitingChange, _ eager: PersistentStore,
    backingUpTo backup: String? = nil
  ) throws {
    let store = try open(path, change, .deferred)
    let expected = try eager.allRecords()
    #expect(try store.allRecords() == expected)
    try store.expectSound()
    _ = try store.finishMigration(budget: WorkBudget(records: Self.count / 3))
    #expect(try store.allRecords() == expected)
    if let backup { try store.backUp(to: backup) }
    while try store.finishMigration(budget: WorkBudget(records: Self.count / 3)) {}
    try expectSame(store, eager)
    #expect(try store.pendingMigration == nil)
    try store.close()
    #expect(try PersistentStore.inspect(at: path).pendingMigration == nil)
  }

  /// Migrates in a process that a signal ends after some milliseconds, wherever it is then.
  private func kill(_ path: String, _ change: WaitingChange, isDeferred: Bool) async {
    await #expect(processExitsWith: .signal(SIGALRM)) {
      [
        path = path as String, name = change.rawValue as String, isDeferred = isDeferred as Bool,
      ] in
      guard let change = WaitingChange(rawValue: name) else { exit(1) }
      var timer = itimerval()
      timer.it_value = timeval(tv_sec: 0, tv_usec: 4_000)
      guard unsafe setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil) == 0 else {
        exit(1)
      }
      do {
        try Self.migrate(path, change, isDeferred: isDeferred)
      } catch {
        print("\(name): \(error)")
        exit(1)
      }
      // To the process: a thread of the pool has signals blocked, as `raise` would find.
      _ = Glibc.kill(getpid(), SIGALRM)
      sleep(60)
    }
  }

  private static func migrate(
    _ path: String, _ change: WaitingChange, isDeferred: Bool
  ) throws {
    guard isDeferred else {
      if try PersistentStore.inspect(at: path).version == 1 {
        _ = try migration(path, change).run()
      }
      return
    }
    let store = try PersistentStore(at: path, model: change.model, migration: .deferred)
    while try store.finishMigration(budget: WorkBudget(records: 100)) {}
    try store.close()
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
    #expect(try faults([vehicle(), kind("Car", [1]), kind("Boat", [1, 2])]) == [])
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
