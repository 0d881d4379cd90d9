import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A store of random records, and queries of them.
struct QueryWorld {
  var choices: QueryChoices
  let store: PersistentStore

  init(seed: UInt64, _ options: StoreOptions = StoreOptions()) throws {
    choices = QueryChoices(seed: seed)
    store = try PersistentStore(inMemory: .queried, options: options)
  }

  /// On the file system, where rows are looked up ahead.
  init(seed: UInt64, at path: String, _ options: StoreOptions = StoreOptions()) throws {
    choices = QueryChoices(seed: seed)
    store = try PersistentStore(at: path, model: .queried, options: options)
  }

  init(_ choices: QueryChoices, _ store: PersistentStore) {
    self.choices = choices
    self.store = store
  }

  /// Writes `count` records of each type, and takes some away again.
  mutating func fill(_ count: Int, _ transaction: inout WriteTransaction) throws {
    for id in 0..<count {
      let id = choices.chance(8) ? choices.number(count) : id
      try transaction.save(choices.record(id), onConflict: .replaceOther)
      try transaction.save(choices.place(), onConflict: .replaceOther)
    }
    for id in 0..<count where choices.chance(6) {
      try transaction.delete(QueriedRecord.self, key: id)
    }
  }

  mutating func query(_ record: Entity, _ oracle: QueryOracle) -> FieldQuery {
    var query = FieldQuery(
      condition: choices.chance(6) ? nil : choices.condition(record.record),
      order: choices.order(record.record))
    if choices.chance(2) { query.limit = choices.number(8) }
    if choices.chance(3) { query.offset = choices.number(6) }
    if choices.chance(3), !oracle.rows.isEmpty {
      let row = choices.one(of: oracle.rows)
      query.after = .record(key: row.key, row: row.row)
    }
    return query
  }

  /// Returns a condition that gives each field of an index the value that a record has, or another one: its form has a plan.
  mutating func equality(_ record: Entity, _ oracle: QueryOracle) -> FieldCondition {
    let (layout, index) = (record.layout, choices.one(of: record.indexes).layout)
    let row = oracle.rows.isEmpty || choices.chance(4) ? nil : choices.one(of: oracle.rows)
    var equalities = index.parts.columns.map { part in
      let (place, field) = (Int(part.column), layout.columns[Int(part.column)].field)
      return FieldCondition.comparison(
        field: field.name, .equal, row.map { $0.values[place] } ?? choices.value(field.type))
    }
    if choices.chance(2) { equalities.reverse() }
    return equalities.count == 1 && choices.chance(2) ? equalities[0] : .and(equalities)
  }

  /// Compares what is found by the plan that the form of a condition gives, before and after plans are compared.
  ///
  /// - Returns: False if its form gives none.
  private mutating func compareByForm(
    _ runner: QueryRunner, _ trees: TreeAccess, _ oracle: QueryOracle
  ) throws -> Bool {
    var query = FieldQuery(condition: equality(runner.record, oracle))
    if choices.chance(2) { query.limit = choices.number(40) }
    if choices.chance(3) { query.offset = choices.number(6) }
    let need = choices.chance(3) ? QueryNeed.keys : .records
    guard let plan = try runner.planner().planByForm(query, for: need, from: 0) else {
      return false
    }
    let comparison = LaterComparison(
      reader: RecordReader(entities: store.entities, trees: trees), query: query, need: need,
      foundCount: choices.number(4) + 1)
    let found = try FoundRecords(
      plan, query, of: runner.record, in: trees, comparing: comparison)
    var keys: [Bytes] = []
    while try found.next() { keys.append(found.key.array()) }
    try agree(
      keys == oracle.keys(query),
      "\(keys.count) records of \(query), compared after \(comparison.foundCount)")
    return true
  }

  /// Compares what every plan that there is finds with the oracle.
  mutating func compare(_ trees: TreeAccess, queries: Int) throws -> Int {
    var planCount = 0
    for name in ["QueriedRecord", "QueriedPlace"] {
      let record = try store.entities.entity(named: name)
      let oracle = try QueryOracle(record, trees)
      for _ in 0..<queries {
        let query = query(record, oracle)
        let expected = try oracle.keys(query)
        let runner = QueryRunner(record, in: RecordReader(entities: store.entities, trees: trees))
        let (_, candidates) = try runner.planner().candidates(query, for: .records)
        planCount += candidates.count
        for forced in [nil] + candidates.indices.map({ Optional($0) }) {
          do {
            try compare(expected, runner, query, forced)
          } catch let error as StoreError {
            throw Disagreement(description: "\(error), in \(query), plan \(forced ?? -1)")
          }
        }
        if try compareByForm(runner, trees, oracle) { planCount += 1 }
      }
    }
    return planCount
  }

  private func compare(
    _ expected: [Bytes], _ runner: QueryRunner, _ query: FieldQuery, _ forced: Int?
  ) throws {
    let found = try runner.find(query, forced: forced)
    var keys: [Bytes] = []
    let layout = runner.record.layout
    while try found.next() {
      keys.append(found.key.array())
      _ = try RowReader(key: found.key, row: try found.row(), layout: layout)
    }
    let what = "\(query), plan \(forced.map { "\($0)" } ?? "chosen"): \(found.plan.access)"
    let place = zip(keys, expected).enumerated().first { $1.0 != $1.1 }?.offset
    try agree(
      keys == expected,
      "\(keys.count) and not \(expected.count) records, the first other one \(place ?? -1) "
        + "\(place.map { "\(keys[$0]) not \(expected[$0])" } ?? ""), of \(what)")
    let more = try found.next()
    try agree(!more, "there is more of \(what)")
    let count = try runner.count(query)
    try agree(count == expected.count, "\(count) and not \(expected.count) counted of \(what)")
  }
}

@Suite struct ForcedPlanTests {
  @Test(arguments: 0..<4)
  func `every plan gives the answer of a full scan, G2 G6 G7 G8`(shard: Int) {
    replaying(Seeds.range(scaled(8, debug: 2), shard: 60 + shard)) { seed in
      var world = try QueryWorld(seed: seed)
      var planCount = 0
      for size in [0, 1, 3, 40, scaled(200, debug: 60)] {
        try world.store.write { transaction in
          var copy = world
          defer { world = copy }
          try copy.fill(size, &transaction)
        }
        let trees = try world.store.snapshot().trees
        planCount += try world.compare(trees, queries: scaled(60, debug: 12))
      }
      try world.store.expectSound()
      try agree(planCount > 100, "\(planCount) plans only")
    }
  }

  @Test(arguments: [1 << 10, 16 << 20])
  func `plans give the same where rows are looked up together, in trees and above them, G2`(
    foldThreshold: Int
  ) {
    replaying(Seeds.range(scaled(6, debug: 1), shard: 80)) { seed in
      let directory = try TemporaryDirectory()
      var options = StoreOptions()
      options.foldThreshold = foldThreshold
      options.durability = .relaxed
      var world = try QueryWorld(seed: seed, at: directory.path + "/s", options)
      for size in [1, 40, scaled(400, debug: 120)] {
        try world.write(size)
        _ = try world.compare(
          try world.store.snapshot().trees, queries: scaled(60, debug: 12))
      }
      try world.store.expectSound()
      try world.store.close()
    }
  }

  @Test(arguments: [64 << 10, 64 << 20])
  func `queries see what their transaction wrote, also when it spills, G15`(budget: Int) {
    replaying(Seeds.range(scaled(6, debug: 1), shard: 70)) { seed in
      var options = StoreOptions()
      options.transactionBudget = budget
      var world = try QueryWorld(seed: seed, options)
      try world.store.write { transaction in
        var copy = world
        defer { world = copy }
        try copy.fill(60, &transaction)
      }
      try world.store.write { transaction in
        var copy = world
        defer { world = copy }
        try copy.fill(scaled(300, debug: 150), &transaction)
        let trees = try transaction.recordReader().trees
        _ = try copy.compare(trees, queries: scaled(60, debug: 10))
        struct Undo: Error {}
        do {
          try transaction.savepoint { transaction in
            try copy.fill(40, &transaction)
            _ = try copy.compare(trees, queries: 10)
            throw Undo()
          }
        } catch is Undo {}
        _ = try copy.compare(trees, queries: 10)
      }
    }
  }
}

extension QueryWorld {
  mutating func write(_ count: Int) throws {
    try store.write { transaction in
      var copy = self
      defer { self = copy }
      try copy.fill(count, &transaction)
    }
  }
}

extension ForcedPlanTests {
  @Test func `queries of snapshots answer the same while others write`() async throws {
    var world = try QueryWorld(seed: 5)
    try world.write(60)
    let store = world.store
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        var world = QueryWorld(QueryChoices(seed: 6), store)
        for _ in 0..<scaled(60, debug: 8) { try world.write(20) }
      }
      for seed in 7..<10 as Range<UInt64> {
        group.addTask {
          var world = QueryWorld(QueryChoices(seed: seed), store)
          for _ in 0..<scaled(20, debug: 3) {
            _ = try world.compare(try store.snapshot().trees, queries: 4)
          }
        }
      }
      try await group.waitForAll()
    }
    try store.expectSound()
  }
}
