import CambiumTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Kinds leave their hierarchy by deferred migrations: while the trees of both have all rows, each is read and changed as if
/// it had its own alone.
@Suite struct LeavingKindTests {
  private static let count = Int64(scaled(400, debug: 100))
  private let directory: TemporaryDirectory

  init() throws {
    directory = try TemporaryDirectory()
  }

  private static func thing() -> RecordDescription {
    RecordDescription([
      .init(kind: .field(Field(primaryKey: true, name: "id", type: .integer))),
      .init(kind: .field(Field(name: "name", type: .string, indexed: true))),
    ])
  }

  /// Business trips leave trips in version 2, with their kind, and personal ones in version 3.
  private static let model = StoreModel(
    version: 3,
    untyped: [
      RemovedRecord("Trip") { version in
        Self.thing()
        Field(name: "note", type: .string, optional: true, indexed: true)
        if version == 3 { Field(name: "rank", type: .integer, default: 3) }
      },
      RemovedRecord("Business") { version in
        if version == 1 { RecordDescription.Parent("Trip") } else { Self.thing() }
        Field(name: "sum", type: .integer, indexed: true)
        if version == 3 { Field(name: "rank", type: .integer, indexed: true, default: 3) }
      },
      RemovedRecord("Offsite") { _ in
        RecordDescription.Parent("Business")
        Field(name: "place", type: .string, optional: true)
      },
      RemovedRecord("Personal") { version in
        if version < 3 { RecordDescription.Parent("Trip") } else { Self.thing() }
        Field(name: "mood", type: .string, indexed: true)
      },
    ])

  private static func first(_ id: Int64) -> DynamicRecord {
    var fields: [String: FieldValue] = [
      "name": .string("n\(id % 11)"), "note": id % 3 == 0 ? .null : .string("o\(id % 7)"),
    ]
    let sum = FieldValue.integer(id % 13)
    switch id % 5 {
    case 0, 1: fields["Business"] = .composite(["sum": sum])
    case 2: fields["Business"] = .composite(["sum": sum, "Offsite": .composite([:])])
    case 3: fields["Personal"] = .composite(["mood": .string("m\(id % 3)")])
    default: break
    }
    return .of("Trip", id, fields)
  }

  /// A record of one of the new version's types.
  private static func record(
    _ store: PersistentStore, _ id: Int64, _ random: inout SplitMix64
  ) throws -> DynamicRecord {
    let names = store.schema.records.map(\.name)
    let name = try #require(names.randomElement(using: &random))
    var fields: [String: FieldValue] = ["name": .string("w\(random.next() % 9)")]
    switch name {
    case "Business":
      fields["sum"] = .integer(Int64(random.next() % 13))
      if random.next() % 2 == 0 { fields["Offsite"] = .composite(["place": .string("p")]) }
    case "Personal": fields["mood"] = .string("m\(random.next() % 3)")
    default:
      fields["note"] = random.next() % 2 == 0 ? .null : .string("o")
      let hasKind = store.schema.record(named: "Personal") == nil
      if hasKind, random.next() % 2 == 0 {
        fields["Personal"] = .composite(["mood": .string("m")])
      }
    }
    return .of(name, id, fields)
  }

  /// Two stores of version 1 with the same records.
  private func stores(_ options: StoreOptions) throws -> [String] {
    let path = directory.path + "/" + UUID().uuidString
    let store = try PersistentStore(
      at: path, model: Self.model.dynamic(version: 1), options: options)
    try store.write { transaction in
      for id in 0..<Self.count { try transaction.save(Self.first(id)) }
    }
    try store.close()
    try FileManager.default.copyItem(atPath: path, toPath: path + "+")
    return [path, path + "+"]
  }

  private func open(
    _ path: String, _ version: Int, _ mode: MigrationMode, _ options: StoreOptions
  ) throws -> PersistentStore {
    try PersistentStore(
      at: path, model: Self.model.dynamic(version: version), migration: mode, options: options)
  }

  @Test(arguments: [false, true])
  func `trees that share their rows are read and changed as if each had its own, O5 J11`(
    spilling: Bool
  ) throws {
    let seed = UInt64.random(in: .min ... .max)
    print("leaving kinds: seed \(seed)")
    var options = StoreOptions()
    options.foldThreshold = 16 << 10
    if spilling { options.transactionBudget = 4 << 10 }
    for round in 0..<UInt64(Seeds.count(6, soaking: 12, debug: 1)) {
      do {
        try run(seed &+ round, options)
      } catch {
        Issue.record("seed \(seed &+ round): \(error)")
        return
      }
    }
  }

  private func run(_ seed: UInt64, _ options: StoreOptions) throws {
    var random = SplitMix64(seed: seed)
    let paths = try stores(options)
    let finishesBetween = random.next() % 2 == 0
    for version in 2...3 {
      var eager = try open(paths[0], version, .automatic, options)
      var deferred = try open(paths[1], version, .deferred, options)
      #expect(try deferred.pendingMigration != nil)
      try compare(eager, deferred, &random)
      for round in 0..<4 {
        let before = [try eager.snapshot(), try deferred.snapshot()]
        try change([eager, deferred], &random)
        try compare(eager, deferred, &random)
        try compareChanges(since: before, eager, deferred)
        if finishesBetween || version == 3, round % 2 == 1 {
          let before = try deferred.snapshot()
          _ = try deferred.finishMigration(budget: WorkBudget(records: 90))
          try compare(eager, deferred, &random)
          try expectNoChanges(since: before, deferred)
        }
        if round == 2 {
          for store in [eager, deferred] { try store.close() }
          eager = try open(paths[0], version, .refuse, options)
          deferred = try open(paths[1], version, .refuse, options)
          try compare(eager, deferred, &random)
        }
      }
      if version == 3 || random.next() % 3 == 0 {
        try deferred.finishMigration()
        #expect(try deferred.pendingMigration == nil)
        try compare(eager, deferred, &random)
      } else {
        try deferred.compact()
        try compare(eager, deferred, &random)
      }
      for store in [eager, deferred] { try store.close() }
    }
  }

  /// Adds a record. False if there is one with its key.
  private static func insert(
    _ record: DynamicRecord, into store: PersistentStore, by writer: RecordWriter
  ) throws -> Bool {
    let entity = try store.entities.entity(named: record.name)
    let (key, row) = (KeyEncoder(), RowWriter())
    try record.encode(to: row, key: key, layout: entity.layout, defaults: entity.defaults)
    do {
      try writer.write(
        key.key, row.row, of: entity, presence: .isNew, onConflict: .refuse)
      return true
    } catch StoreError.duplicateKey { return false }
  }

  /// Changes both stores in the same way.
  private func change(_ stores: [PersistentStore], _ random: inout SplitMix64) throws {
    var records: [DynamicRecord] = []
    for _ in 0..<Int.random(in: 0...40, using: &random) {
      // Mostly the key of a row that one of the trees hides.
      let id = Int64.random(in: 0..<Self.count + 20, using: &random)
      records.append(try Self.record(stores[0], id, &random))
    }
    let names = stores[0].schema.records.map(\.name)
    let gone = (0..<Int.random(in: 0...40, using: &random)).map { _ in
      (names[Int(random.next() % UInt64(names.count))], Int64(random.next() % UInt64(Self.count)))
    }
    let emptied = random.next() % 12 == 0 ? names.randomElement(using: &random) : nil
    var done: [[Bool]] = []
    for store in stores {
      var results: [Bool] = []
      try store.write { transaction in
        for (place, record) in records.enumerated() {
          if place % 2 == 0 {
            try transaction.save(record)
          } else {
            results.append(try Self.insert(record, into: store, by: transaction.writer))
          }
        }
        for (name, id) in gone {
          results.append(try transaction.delete(record: name, key: id))
        }
        if let emptied {
          try transaction.writer.deleteAll(of: store.entities.entity(named: emptied))
        }
        for name in names { results.append(try transaction.count(record: name) % 2 == 0) }
      }
      done.append(results)
    }
    #expect(done[0] == done[1])
  }

  private func compare(
    _ eager: PersistentStore, _ deferred: PersistentStore, _ random: inout SplitMix64
  ) throws {
    let (one, other) = (try eager.snapshot(), try deferred.snapshot())
    #expect(try other.check() == [])
    for record in eager.schema.records {
      let name = record.name
      let all = try one.fetch(record: name)
      #expect(try other.fetch(record: name) == all)
      #expect(try other.count(record: name) == all.count)
      let down = [FieldOrder(field: "id", isDescending: true)]
      #expect(try other.fetch(record: name, sortedBy: down) == all.reversed())
      let low = FieldValue.integer(Int64.random(in: 0..<Self.count, using: &random))
      let isAbove = FieldCondition.comparison(field: "id", .greaterOrEqual, low)
      let isBelow = FieldCondition.comparison(field: "id", .less, low)
      for condition in [isAbove, isBelow] {
        let count = try one.count(record: name, where: condition)
        #expect(try other.count(record: name, where: condition) == count)
        let (offset, limit) = (
          Int.random(in: 0...count, using: &random), Int.random(in: 1...9, using: &random)
        )
        for order in [[], down] {
          #expect(
            try other.fetch(
              record: name, where: condition, sortedBy: order, limit: limit, offset: offset)
              == one.fetch(
                record: name, where: condition, sortedBy: order, limit: limit, offset: offset))
        }
      }
      for _ in 0..<20 {
        let id = Int64.random(in: 0..<Self.count + 20, using: &random)
        #expect(
          try other.fetch(record: name, key: id) == one.fetch(record: name, key: id))
      }
      for field in record.fields where field.type.canBeKey && field.name != "id" {
        let order = [FieldOrder(field: field.name, isDescending: random.next() % 2 == 0)]
        let condition = FieldCondition.comparison(field: field.name, .notEqual, .null)
        #expect(
          try other.fetch(record: name, where: condition, sortedBy: order)
            == one.fetch(record: name, where: condition, sortedBy: order))
      }
      try compareTrees(name, eager, deferred)
    }
  }

  /// Compares rows, byte by byte, in both directions, by their places and by their keys: in a state, and in a transaction.
  private func compareTrees(
    _ name: String, _ eager: PersistentStore, _ deferred: PersistentStore
  ) throws {
    let same = try eager.snapshot().trees
    let rows = try eager.entities.entity(named: name).rows
    let state = try deferred.snapshot().trees
    let slot = try deferred.entities.entity(named: name).rows
    try compareTree(state, slot, same, rows)
    // Nothing of it is committed.
    do {
      try deferred.backend.write(.durable) { changes in
        try compareTree(.transaction(changes), slot, same, rows)
        try compareRemoval(changes, slot, same, rows)
        throw Undone()
      }
    } catch is Undone {}
  }

  /// The next row after one that was removed is found, in both directions.
  private func compareRemoval(
    _ changes: TransactionTrees, _ slot: TreeSlot, _ same: TreeAccess, _ rows: TreeSlot
  ) throws {
    let cursor = try TreeAccess.transaction(changes).cursor(in: slot)
    guard try cursor.first() else { return }
    let key = cursor.key.array()
    #expect(try changes.remove(key.rawSpan, in: slot))
    #expect(try !changes.remove(key.rawSpan, in: slot))
    #expect(try !changes.contains(key.rawSpan, in: slot))
    #expect(try changes.count(in: slot) == same.count(in: rows) - 1)
    let other = try same.cursor(in: rows)
    let isOn = try other.seek(toOffset: 1)
    #expect(try cursor.next() == isOn)
    if isOn {
      #expect(cursor.key.array() == other.key.array())
      #expect(try !cursor.previous())
    }
  }

  private struct Undone: Error {}

  private func compareTree(
    _ found: TreeAccess, _ slot: TreeSlot, _ same: TreeAccess, _ rows: TreeSlot
  ) throws {
    let count = try same.count(in: rows)
    #expect(try found.count(in: slot) == count)
    #expect(try found.estimatedCount(in: slot) >= count)
    let (one, other) = (try same.cursor(in: rows), try found.cursor(in: slot))
    var (isOn, isSame) = (try one.first(), try other.first())
    var (offset, keys): (Int, [[UInt8]]) = (0, [])
    while isOn, isSame {
      let key = one.key.array()
      keys.append(key)
      #expect(other.key.array() == key)
      #expect(try other.value().array() == one.value().array())
      if offset % 16 == 0 {
        #expect(try found.rank(of: key.rawSpan, in: slot) == offset)
        let placed = try found.cursor(in: slot)
        #expect(try placed.seek(toOffset: offset))
        #expect(placed.key.array() == key)
        #expect(try found.contains(key.rawSpan, in: slot))
      }
      offset += 1
      (isOn, isSame) = (try one.next(), try other.next())
    }
    #expect(!isOn && !isSame)
    #expect(try !other.seek(toOffset: count))
    isSame = try other.last()
    for key in keys.reversed() {
      #expect(isSame)
      if !isSame { return }
      #expect(other.key.array() == key)
      isSame = try other.previous()
    }
    #expect(!isSame)
  }

  /// Compares what differs between states.
  private func compareChanges(
    since before: [StoreSnapshot], _ eager: PersistentStore, _ deferred: PersistentStore
  ) throws {
    for record in eager.schema.records {
      var changes: [[DynamicRecord?]] = []
      for (old, store) in zip(before, [eager, deferred]) {
        var found: [DynamicRecord?] = []
        try store.snapshot().forEachChange(record: record.name, since: old) { old, new in
          found += [old, new]
        }
        changes.append(found)
      }
      #expect(changes[0] == changes[1])
    }
  }

  private func expectNoChanges(since old: StoreSnapshot, _ store: PersistentStore) throws {
    for record in store.schema.records {
      try store.snapshot().forEachChange(record: record.name, since: old) { _, new in
        Issue.record("\(record.name) changed: \(String(describing: new))")
      }
    }
  }

  @Test func `observers and the history are told of changes of a tree with hidden rows, O5`() throws
  {
    var options = StoreOptions()
    options.history = HistoryOptions(keepsOldValues: true)
    let path = try stores(options)[1]
    let store = try open(path, 2, .deferred, options)
    let start = try store.snapshot().historyCursor
    // Key 0 is of a business trip, key 4 of a trip.
    try store.write { transaction in
      let new = DynamicRecord.of("Trip", 0, ["name": "new", "note": .null])
      let isNew = try Self.insert(new, into: store, by: transaction.writer)
      let gone = try [4, 0].map { try transaction.delete(record: "Business", key: $0) }
      #expect(isNew && gone == [false, true])
    }
    try store.finishMigration()
    let history = try store.history(since: start)
    let commit = try #require(try history.next())
    #expect(
      commit.changes.map { [$0.record, $0.old == nil ? "new" : "old"] }.sorted { $0[0] < $1[0] }
        == [["Business", "old"], ["Trip", "new"]])
    while let next = try history.next() { #expect(next.changes.isEmpty) }
    #expect(try store.fetch(record: "Trip", key: 0)?["name"] == "new")
    #expect(try store.fetch(record: "Business", key: 0) == nil)
    try store.expectSound()
    try store.close()
  }

  /// Writes records with keys that one of the trees hides, deletes others, and finishes what is pending in slices.
  ///
  /// - Parameter note: Called after each commit.
  private static func life(
    _ store: PersistentStore, _ note: (PersistentStore) throws -> Void = { _ in }
  ) throws {
    for place in 0..<4 {
      try store.write { transaction in
        for step in Int64(0)..<6 {
          let id = Int64(place) * 7 + step * 3
          let sum = FieldValue.integer(step)
          try transaction.save(.of("Trip", id, ["name": "w"]))
          try transaction.save(.of("Business", id + 1, ["name": "w", "sum": sum]))
          try transaction.delete(record: "Business", key: id + 2)
          try transaction.delete(record: "Trip", key: id + 4)
        }
      }
      try note(store)
      if place > 0 { try store.finishMigration(budget: WorkBudget(records: 9)) }
    }
    while try store.finishMigration(budget: WorkBudget(records: 20)) {}
  }

  @Test func `a power cut at any moment leaves a committed state of trees with hidden rows, O5 X1`()
    throws
  {
    let image = StoreImage()
    let old = try image.open(Self.model.dynamic(version: 1))
    try old.write { transaction in
      for id in Int64(0)..<60 { try transaction.save(Self.first(id)) }
    }
    try old.close()
    let model = Self.model.dynamic(version: 2)
    let eager = try image.copy().open(model)
    var expected = [try eager.allRecords()]
    try Self.life(eager) { expected.append(try $0.allRecords()) }
    try eager.close()
    let running = image.copy()
    var (count, violations): (Int, [String]) = (0, [])
    let stride = scaled(3, debug: 41)
    running.medium.beforeEachCall { call in
      guard call % stride == 0 else { return }
      let policies = CrashPolicy.some(2, pending: running.medium.pendingCount, seed: UInt64(call))
      for policy in policies {
        count += 1
        do {
          let store = try running.crashed(policy).open(model, migration: .deferred)
          let found = try store.allRecords()
          try agree(expected.contains(found), "another state")
          let opened = try store.snapshot().check()
          try agree(opened.isEmpty, "opened: \(opened)")
          try store.finishMigration()
          try agree(try store.allRecords() == found, "records changed")
          let finished = try store.snapshot().check()
          try agree(finished.isEmpty, "finished: \(finished)")
          try store.close()
        } catch {
          violations.append("call \(call), \(policy): \(error)")
        }
      }
    }
    let store = try running.open(model, migration: .deferred)
    try Self.life(store)
    #expect(try store.allRecords() == expected.last)
    try store.close()
    running.medium.beforeEachCall(nil)
    for violation in violations.prefix(5) { Issue.record("\(violation)") }
    #expect(count > scaled(60, debug: 3))
    print("leaving kinds: \(count.grouped) crash images, \(violations.count) violations")
  }

  @Test func `a salvage of trees with hidden rows has the records of each, O5`() throws {
    let paths = try stores(StoreOptions())
    let eager = try open(paths[0], 2, .automatic, StoreOptions())
    try open(paths[1], 2, .deferred, StoreOptions()).close()
    for path in ["/whole", "/begun"] {
      let copy = directory.path + path
      _ = try PersistentStore.salvage(at: paths[1], to: copy)
      let salvaged = try open(copy, 2, .refuse, StoreOptions())
      #expect(try salvaged.allRecords() == eager.allRecords())
      try salvaged.expectSound()
      try salvaged.finishMigration()
      #expect(try salvaged.allRecords() == eager.allRecords())
      try salvaged.expectSound()
      try salvaged.close()
      let again = try open(paths[1], 2, .refuse, StoreOptions())
      _ = try again.finishMigration(budget: WorkBudget(records: 100))
      try again.close()
    }
    try eager.close()
  }
}
