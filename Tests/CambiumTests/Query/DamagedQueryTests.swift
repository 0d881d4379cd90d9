import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Queries of records and index entries that are not what was written.
private struct DamagedQueries {
  var world: QueryWorld
  private(set) var faultCount = 0
  private(set) var answerCount = 0

  init(seed: UInt64) throws {
    world = try QueryWorld(seed: seed)
  }

  mutating func run() throws {
    let store = world.store
    for name in ["QueriedRecord", "QueriedPlace"] {
      let record = try store.entities.entity(named: name)
      try store.write { transaction in
        var copy = self
        defer { self = copy }
        try copy.world.fill(30, &transaction)
      }
      let oracle = try QueryOracle(record, try store.snapshot().trees)
      struct Undo: Error {}
      do {
        try store.write { transaction in
          var copy = self
          defer { self = copy }
          var damage = TreeDamage(random: copy.world.choices.random)
          for tree in [record.rows] + record.indexes.map(\.slot) {
            try damage.change(tree, transaction.writer.trees)
          }
          copy.world.choices.random = damage.random
          let trees = TreeAccess.transaction(transaction.writer.trees)
          for _ in 0..<40 { try copy.ask(record, trees, oracle) }
          throw Undo()
        }
      } catch is Undo {}
    }
  }

  private mutating func ask(
    _ record: Entity, _ trees: TreeAccess, _ oracle: QueryOracle
  ) throws {
    let query = world.query(record, oracle)
    let runner = QueryRunner(record, in: RecordReader(entities: world.store.entities, trees: trees))
    let (_, candidates) = try runner.planner().candidates(query, for: .records)
    for forced in candidates.indices {
      do {
        let found = try runner.find(query, forced: forced)
        while try found.next() { _ = try found.row().byteCount }
        _ = try runner.count(query)
        answerCount += 1
      } catch StoreError.corrupt, StoreError.newerFormat {
        faultCount += 1
      }
    }
  }
}

@Suite struct DamagedQueryTests {
  @Test func `queries of damaged records answer or say what is damaged`() {
    var faultCount = 0
    var answerCount = 0
    replaying(Seeds.range(scaled(60, debug: 4), shard: 80)) { seed in
      var queries = try DamagedQueries(seed: seed)
      try queries.run()
      faultCount += queries.faultCount
      answerCount += queries.answerCount
    }
    #expect(faultCount > 20 && answerCount > 20)
  }
}
