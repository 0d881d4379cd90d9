import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Queries across relations, of rows and index entries that are not what was written.
private struct DamagedLibrary {
  var choices: LibraryChoices
  let store: PersistentStore
  private(set) var faultCount = 0
  private(set) var answerCount = 0

  init(seed: UInt64) throws {
    choices = LibraryChoices(seed: seed)
    store = try PersistentStore(inMemory: .library)
  }

  /// Asks in the transaction that does the damage, and in a snapshot of it, where plans take more for sure.
  mutating func run() throws {
    try store.write { transaction in
      var copy = self
      defer { self = copy }
      try copy.choices.fill(20, &transaction)
    }
    try store.write { transaction in
      var copy = self
      defer { self = copy }
      var damage = TreeDamage(random: copy.choices.random)
      for record in copy.store.entities.schema.records {
        let entity = try copy.store.entities.entity(named: record.name)
        for tree in [entity.rows] + entity.indexes.map(\.slot) where damage.random.next() % 2 == 0 {
          try damage.change(tree, transaction.writer.trees)
        }
      }
      copy.choices.random = damage.random
      try copy.ask(try transaction.recordReader(), queries: 10)
    }
    try ask(try store.snapshot().recordReader(), queries: 40)
  }

  private mutating func ask(_ reader: RecordReader, queries: Int) throws {
    let schema = reader.entities.schema
    for _ in 0..<queries {
      let record = choices.one(of: schema.records)
      let query = FieldQuery(condition: choices.relation(record, schema))
      let runner = QueryRunner(try reader.entities.entity(named: record.name), in: reader)
      for way in [nil, .first, .lookedUp] as [RelatedPlan.Way?] {
        do {
          try answer(query, runner, way)
          answerCount += 1
        } catch StoreError.corrupt, StoreError.newerFormat, StoreError.limitExceeded {
          // A damaged reference may be longer than a key.
          faultCount += 1
        }
      }
    }
  }

  private func answer(
    _ query: FieldQuery, _ runner: QueryRunner, _ way: RelatedPlan.Way?
  ) throws {
    var planner = runner.planner()
    planner.relatedWay = way
    let (_, candidates) = try planner.candidates(query, for: .records)
    for forced in candidates.indices {
      let found = try runner.find(query, forced: forced, way)
      while try found.next() { _ = try found.row().byteCount }
    }
    _ = try runner.count(query)
    _ = try runner.explain(query, running: true)
  }
}

@Suite struct RelatedDamageTests {
  @Test func `queries across relations of damaged records answer or say what is damaged`() {
    var faultCount = 0
    var answerCount = 0
    replaying(Seeds.range(scaled(60, debug: 4), shard: 178)) { seed in
      var library = try DamagedLibrary(seed: seed)
      try library.run()
      faultCount += library.faultCount
      answerCount += library.answerCount
    }
    #expect(faultCount > 20 && answerCount > 20)
  }
}
