import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A record in four versions, of which the step to the third cannot be deferred.
private enum Postponed {
  struct Item1: Record, Equatable {
    var id: Int
    var color: String
    var size: Int16
    var note: String?
    var rest = "r"
    static func recordDescription(for version: Int) -> RecordDescription { item(version) }
  }

  struct Item2: Record, Equatable {
    var id: Int
    var paint: String
    var size: Int32
    var note: String?
    var count: Int32
    static func recordDescription(for version: Int) -> RecordDescription { item(version) }
  }

  struct Item4: Record, Equatable {
    var id: Int
    var paint: String
    var size: Int64
    var note: String
    var count: Double?
    var more: [String]
    static func recordDescription(for version: Int) -> RecordDescription { item(version) }
  }

  @RecordDescription.ResultBuilder
  static func item(_ version: Int) -> RecordDescription {
    RecordName("Item")
    Field(primaryKey: true, name: "id", type: .integer)
    if version == 1 {
      Field(name: "color", type: .string, indexed: true)
      Field(name: "size", type: .int16)
      Field(name: "note", type: .string, optional: true)
      Field(name: "rest", type: .string)
    } else {
      Field(
        name: "paint", type: .string, indexed: true, migrationInfo: .init(renamingID: "color"))
      Field(name: "size", type: version == 2 ? .int32 : .int64, indexed: true)
      Field(
        name: "note", type: .string, optional: version == 2,
        migrationInfo: version == 2 ? nil : .init(default: "none"))
      Field(
        name: "count", type: version < 4 ? .int32 : .double, optional: version == 4,
        migrationInfo: .init(default: 7))
      if version > 2 { RecordDescription.Unique("id", "paint", named: "both") }
      if version == 4 { Field(name: "more", type: .array(of: .string), default: ["a", "b"]) }
    }
  }

  static func first(_ id: Int) -> Item1 {
    Item1(id: id, color: "c\(id % 97)", size: Int16(id % 300 - 100), note: id % 3 == 0 ? nil : "n")
  }

  static func second(_ id: Int) -> Item2 {
    let first = first(id)
    return Item2(
      id: id, paint: first.color, size: Int32(first.size), note: first.note, count: 7)
  }

  static func fourth(_ id: Int) -> Item4 {
    let second = second(id)
    return Item4(
      id: id, paint: second.paint, size: Int64(second.size), note: second.note ?? "none", count: 7,
      more: ["a", "b"])
  }
}

@Suite struct DeferredMigrationTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }
  private static let count = scaled(5_000, debug: 700)

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func open(
    _ version: Int, _ type: any Record.Type, _ migration: MigrationMode = .deferred,
    _ options: StoreOptions = StoreOptions()
  ) throws -> PersistentStore {
    try PersistentStore(
      at: path, model: StoreModel(version: version, records: [type]), migration: migration,
      options: options)
  }

  private var reading: StoreOptions {
    var options = StoreOptions()
    options.access = .reading
    return options
  }

  private func make() throws {
    let store = try open(1, Postponed.Item1.self)
    try store.write { try $0.insert(contentsOf: (0..<Self.count).map(Postponed.first)) }
    try store.close()
  }

  @Test func `a store is of the new version at once, and its rows when that is asked, O1 O2 O3 O5`()
    throws
  {
    try make()
    let store = try open(2, Postponed.Item2.self)
    #expect(
      try store.pendingMigration
        == PendingMigration(from: 1, to: 2, records: ["Item": Self.count], indexes: ["size"]))
    let all = (0..<Self.count).map(Postponed.second)
    #expect(try store.fetch(Postponed.Item2.self) == all)
    #expect(try store.fetch(Postponed.Item2.self, key: 5) == Postponed.second(5))
    #expect(try store.count(Postponed.Item2.where { $0.count == 7 }) == Self.count)
    #expect(
      try store.fetch(Postponed.Item2.where { $0.paint == "c5" })
        == all.filter { $0.paint == "c5" })
    let bySize = Postponed.Item2.where { $0.size == 3 }
    #expect(try store.fetch(bySize) == all.filter { $0.size == 3 })
    #expect(try !"\(store.explain(bySize))".contains("index size,"))
    #expect(try store.snapshot().check() == [])
    let sizes = all.map { Int64($0.size) }
    let sum = try store.sum(\Postponed.Item2.size)
    #expect("\(sum)" == "\(sizes.reduce(0, +))")
    #expect(try !store.finishMigration())
    #expect(try store.pendingMigration == nil)
    #expect(try store.fetch(Postponed.Item2.self) == all)
    #expect(try store.fetch(bySize) == all.filter { $0.size == 3 })
    #expect(try store.snapshot().check() == [])
    try store.close()
    let again = try open(2, Postponed.Item2.self, .refuse)
    #expect(try again.pendingMigration == nil)
    #expect(try again.fetch(Postponed.Item2.self) == all)
    try again.close()
    #expect(
      storeError { try open(1, Postponed.Item1.self) } == .newerSchema(found: 2, supported: 1))
  }

  @Test func `slices end with their budget, and others write between them, O4`() throws {
    try make()
    let store = try open(2, Postponed.Item2.self)
    var all = (0..<Self.count).map(Postponed.second)
    var rounds = 0
    while try store.finishMigration(budget: .records(Self.count / 6)) {
      rounds += 1
      let place = rounds * 37 % Self.count
      all[place].count = Int32(rounds)
      all[place].size = -7
      try store.save(all[place])
      try store.delete(all[place])
      try store.insert(all[place])
      #expect(try store.fetch(Postponed.Item2.self) == all)
      if rounds == 1 {
        let pending = try #require(try store.pendingMigration)
        #expect(pending.recordCount > 0 && pending.recordCount < Self.count)
      }
    }
    #expect(rounds > 4)
    #expect(try store.fetch(Postponed.Item2.self) == all)
    #expect(
      try store.fetch(Postponed.Item2.where { $0.size == -7 }) == all.filter { $0.size == -7 })
    #expect(try store.snapshot().check() == [])
    #expect(try store.finishMigration(budget: .time(.seconds(1))) == false)
    try store.close()
  }

  @Test func `a chain is rewritten up to the last step that cannot be deferred, O1`() throws {
    try make()
    let second = try open(2, Postponed.Item2.self)
    try second.save(Postponed.Item2(id: -1, paint: "x", size: 1 << 20, note: nil, count: 9))
    try second.close()
    let store = try open(4, Postponed.Item4.self)
    #expect(
      try store.pendingMigration
        == PendingMigration(from: 3, to: 4, records: ["Item": Self.count + 1], indexes: []))
    let all =
      [
        Postponed.Item4(
          id: -1, paint: "x", size: 1 << 20, note: "none", count: 9, more: ["a", "b"])
      ] + (0..<Self.count).map(Postponed.fourth)
    #expect(try store.fetch(Postponed.Item4.self) == all)
    try store.close()
    let again = try open(4, Postponed.Item4.self)
    #expect(try again.pendingMigration != nil)
    #expect(try again.fetch(Postponed.Item4.self) == all)
    #expect(try !again.finishMigration())
    #expect(try again.snapshot().check() == [])
    try again.close()
  }

  @Test func `a migration that is not deferred finishes what was, O3`() throws {
    try make()
    try open(2, Postponed.Item2.self).close()
    let store = try open(4, Postponed.Item4.self, .automatic)
    #expect(try store.pendingMigration == nil)
    #expect(try store.fetch(Postponed.Item4.self) == (0..<Self.count).map(Postponed.fourth))
    #expect(try store.snapshot().check() == [])
    try store.close()
  }

  @Test func `a store that is only read is read through what can be deferred, O5`() throws {
    try make()
    let store = try open(2, Postponed.Item2.self, .automatic, reading)
    let all = (0..<Self.count).map(Postponed.second)
    #expect(try store.fetch(Postponed.Item2.self) == all)
    #expect(
      try store.fetch(Postponed.Item2.where { $0.size == 3 }) == all.filter { $0.size == 3 })
    #expect(try store.pendingMigration?.recordCount == Self.count)
    #expect(storeError { try store.finishMigration() } == .readOnly(path: store.path))
    #expect(
      storeError { try open(4, Postponed.Item4.self, .deferred, reading) }
        == .needsMigration(found: 1, wanted: 4))
    #expect(
      storeError { try open(2, Postponed.Item2.self, .refuse, reading) }
        == .needsMigration(found: 1, wanted: 2))
    // Another program migrates it meanwhile.
    let writer = try open(2, Postponed.Item2.self)
    try writer.save(Postponed.Item2(id: -1, paint: "x", size: 1, note: nil, count: 9))
    _ = try writer.finishMigration(budget: .records(100))
    try writer.flush()
    try store.refresh()
    #expect(try store.fetch(Postponed.Item2.self).dropFirst() == all[...])
    #expect(try store.fetch(Postponed.Item2.self, key: -1)?.count == 9)
    try store.close()
    let other = try open(2, Postponed.Item2.self, .refuse, reading)
    #expect(try other.fetch(Postponed.Item2.self).dropFirst() == all[...])
    try writer.finishMigration()
    try writer.close()
    try other.refresh()
    #expect(try other.fetch(Postponed.Item2.self).dropFirst() == all[...])
    #expect(try other.pendingMigration == nil)
    try other.close()
    let dynamic = try PersistentStore.snapshot(at: path)
    #expect(try dynamic.fetch(record: "Item", where: nil).count == Self.count + 1)
  }

  @Test func `histories and observers are told of changes of old records, and of nothing else, O5`()
    async throws
  {
    try make()
    var options = StoreOptions()
    options.history = HistoryOptions(keepsOldValues: true)
    let store = try open(2, Postponed.Item2.self, .deferred, options)
    try await store.save(Postponed.second(0))
    let start = try store.snapshot().historyCursor
    var changes = try store.changes(of: Postponed.Item2.self).makeAsyncIterator()
    var item = Postponed.second(7)
    item.count = 8
    try await store.update(item)
    let first = try #require(try await changes.next())
    #expect(first.updated.map(\.new) == [item])
    #expect(first.updated.map(\.old) == [Postponed.second(7)])
    #expect(first.inserted.isEmpty && first.deleted.isEmpty)
    try await store.finishMigration()
    try await store.delete(Postponed.second(9))
    let second = try #require(try await changes.next())
    #expect(second.deleted == [Postponed.second(9)])
    #expect(second.updated.isEmpty && second.inserted.isEmpty)
    let history = try store.history(since: start)
    let commit = try #require(try history.next())
    #expect(commit.changes.map(\.old?["count"]) == [.integer(7)])
    var last: HistoryCommit?
    while let next = try history.next() { last = next }
    #expect(last?.changes.count == 1)
    try await store.close()
  }

  @Test func `transactions that spill and folds cope with rows of two versions, O5`() throws {
    try make()
    var options = StoreOptions()
    options.transactionBudget = 8 << 10
    options.foldThreshold = 16 << 10
    let store = try open(2, Postponed.Item2.self, .deferred, options)
    var all = (0..<Self.count).map(Postponed.second)
    try store.write { transaction in
      for place in stride(from: 0, to: Self.count, by: 3) {
        all[place].note = "spilled \(place)"
        try transaction.update(all[place])
      }
      #expect(try transaction.fetch(Postponed.Item2.self) == all)
      #expect(try transaction.fetch(Postponed.Item2.self, key: 4) == all[4])
    }
    #expect(try store.fetch(Postponed.Item2.self) == all)
    try store.write { transaction in
      _ = try transaction.update(Postponed.Item2.where { $0.size < 0 }) { $0.count = 1 }
    }
    for place in all.indices where all[place].size < 0 { all[place].count = 1 }
    #expect(try store.fetch(Postponed.Item2.self) == all)
    #expect(try store.snapshot().check() == [])
    try store.finishMigration()
    #expect(try store.fetch(Postponed.Item2.self) == all)
    #expect(try store.snapshot().check() == [])
    try store.close()
  }

  @Test func `what is said to be pending may be anything, and is refused`() throws {
    var random = SplitMix64(seed: 3)
    for round in 0..<UInt64(scaled(300, debug: 40)) {
      var chain = SplitMix64(seed: round)
      let steps = RandomSteps(&chain)
      var pending = PendingSteps()
      pending.add(steps.steps)
      let entries = try pending.entries(steps.schemas)
      var read = PendingSteps()
      for (key, value) in entries { try read.read(key, value.rawSpan, steps.schemas) }
      #expect(read == pending)
      for _ in 0..<30 {
        var damaged = entries
        guard let place = damaged.indices.randomElement(using: &random) else { continue }
        if random.next() % 3 == 0 {
          damaged[place].key = Self.damaged(damaged[place].key, &random)
        } else {
          damaged[place].value = Self.damaged(damaged[place].value, &random)
        }
        do throws(StoreError) {
          var found = PendingSteps()
          for (key, value) in damaged { try found.read(key, value.rawSpan, steps.schemas) }
          _ = try found.upgrades(steps.schemas)
        } catch {
          switch error {
          case .corrupt(_, .pendingSteps, _): break
          default: Issue.record("round \(round): \(error)")
          }
        }
      }
    }
  }

  static func damaged(_ bytes: [UInt8], _ random: inout SplitMix64) -> [UInt8] {
    var bytes = bytes
    if bytes.isEmpty || random.next() % 4 == 0 {
      return random.next() % 2 == 0 ? bytes + [UInt8(random.next() & 0xff)] : bytes.dropLast()
    }
    let place = Int.random(in: bytes.indices, using: &random)
    bytes[place] ^= 1 << UInt8(random.next() % 8)
    return bytes
  }
}
