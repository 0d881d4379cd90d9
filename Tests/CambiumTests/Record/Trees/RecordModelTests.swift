import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Random transactions on records, with conflicts, savepoints, spilling, folds and long keys, against a
/// dictionary.
private struct RecordHistory {
  private struct Undo: Error {}

  private var random: SplitMix64
  private let medium = SimulatedFileSystem()
  private let options: EngineOptions
  private var engine: SimulatedEngine
  private var records: WrittenRecords
  private var model = RecordModel()
  private(set) var count = 0

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    var options = EngineOptions.small()
    options.nodeSizes = .forLongKeys
    if seed % 2 == 0 { options.transactionBudget = 6 << 10 }
    self.options = options
    engine = try SimulatedEngine.open(medium, options: options)
    records = try WrittenRecords(engine.names)
  }

  mutating func run(operations: Int) throws {
    while count < operations {
      try transaction()
      switch random.next() % 12 {
      case 0..<3: _ = try engine.step(budget: 2)
      case 3: engine.freezeIfPossible()
      case 4: try reopen()
      default: break
      }
      try compare(.state(SnapshotTrees(try engine.snapshot())), "committed")
    }
  }

  private mutating func reopen() throws {
    try engine.close()
    engine = try SimulatedEngine.open(medium, options: options, seed: random.next())
    records = try WrittenRecords(engine.names)
  }

  private mutating func transaction() throws {
    let before = model
    let isUndone = random.next() % 8 == 0
    do {
      // A copy, since the closure cannot change what it is called on.
      var copy = self
      defer { (random, model, count) = (copy.random, copy.model, copy.count) }
      try engine.write(.relaxed) { transaction in
        let writer = RecordWriter(TransactionTrees(transaction), copy.records.entities)
        if copy.chance(2) { writer.keepChanges() }
        try copy.change(writer, depth: 0)
        if copy.chance(3) { try copy.compare(.transaction(writer.trees), "at the end") }
        try copy.compare(writer.changes, since: before)
        if isUndone { throw Undo() }
      }
    } catch is Undo {
      model = before
    }
  }

  private mutating func change(_ writer: RecordWriter, depth: Int) throws {
    for _ in 0..<Int.random(in: 1...(depth == 0 ? 24 : 6), using: &random) {
      if depth < 3, chance(10) {
        try savepoint(writer, depth: depth + 1)
      } else {
        count += 1
        try records.perform(operation(), writer, &model)
      }
    }
  }

  private mutating func savepoint(_ writer: RecordWriter, depth: Int) throws {
    let before = model
    var copy = self
    do {
      defer { (random, model, count) = (copy.random, copy.model, copy.count) }
      try writer.savepoint {
        try copy.change(writer, depth: depth)
        if copy.chance(2) { throw Undo() }
      }
    } catch is Undo {
      model = before
      if chance(2) { try compare(.transaction(writer.trees), "undone") }
    }
  }

  private func compare(_ access: TreeAccess, _ moment: String) throws {
    do {
      try records.compare(access, model)
    } catch {
      throw Disagreement(description: "\(moment), after \(count): \(error)")
    }
  }

  /// What was kept is what there was, of all that is different now.
  private func compare(_ changes: ChangedRecords?, since before: RecordModel) throws {
    guard let noted = changes?.before else { return }
    let rows = noted[records.trees.record.number] ?? [:]
    for (key, row) in rows {
      let id = String(decoding: key, as: UTF8.self)
      let old = try before.records[id].map { try records.row(of: $0) }
      try agree(row == old, "\(id) was not \(row ?? [])")
    }
    for id in Set(before.records.keys).union(model.records.keys)
    where before.records[id] != model.records[id] {
      try agree(rows[Array(id.utf8)] != nil, "nobody noted that \(id) has changed")
    }
  }
}

// MARK: - Choices

extension RecordHistory {
  private mutating func chance(_ count: UInt64) -> Bool { random.next() % count == 0 }

  private mutating func operation() -> RecordOperation {
    switch random.next() % 64 {
    case 0: return .deleteAll
    case 1..<14: return .delete(id())
    default:
      let presences: [RecordWriter.Presence] = [.any, .any, .isNew, .isThere]
      let policies: [ConflictPolicy] = [
        .refuse, .refuse, .refuse, .replaceOther, .updateOther, .keepOther,
      ]
      return .write(
        record(), presences[Int(random.next() % 4)], policies[Int(random.next() % 6)])
    }
  }

  private mutating func id() -> String {
    let number = random.next() % 40
    // Some as long as keys can be.
    return "\(number)"
      + String(repeating: "k", count: number % 8 == 7 ? 1_000 + Int(number % 3) : 0)
  }

  private mutating func record() -> WrittenRecord {
    let names = ["", "a", "A", "ä", "Ä", "aa", String(repeating: "A", count: 1_100)]
    return WrittenRecord(
      id: id(), group: Int(random.next() % 3) - 1, code: text(random.next() % 60),
      mail: chance(2) ? nil : text(random.next() % 30), flag: chance(2),
      name: names[Int(random.next() % UInt64(chance(4) ? 7 : 6))],
      score: chance(3) ? nil : Double(random.next() % 5) - 2, tags: chance(4) ? nil : tags(),
      marks: (0..<Int(random.next() % 3)).map { _ in Int(random.next() % 80) })
  }

  /// Some of them the same, some that begin the same and are too long for a key.
  private mutating func tags() -> [String] {
    (0..<Int(random.next() % 5)).map { _ in
      chance(12) ? String(repeating: "t", count: 1_010) + "\(random.next() % 3)" : names(6)
    }
  }

  private mutating func names(_ count: UInt64) -> String { "n\(random.next() % count)" }

  /// Now and then one that is too long for a key.
  private func text(_ number: UInt64) -> String {
    String(repeating: "t", count: number % 16 == 3 ? 1_005 + Int(number) % 20 : 0) + "\(number)"
  }
}

@Suite struct RecordModelTests {
  @Test(arguments: 0..<4)
  func `whatever is done to records, store and indexes hold what the model does`(shard: Int) {
    replaying(Seeds.range(scaled(8, debug: 2), shard: 30 + shard)) { seed in
      var history = try RecordHistory(seed: seed)
      try history.run(operations: scaled(6_000, debug: 250))
    }
  }
}
