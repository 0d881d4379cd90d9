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
          for tree in [record.rows] + record.indexes.map(\.slot) {
            try copy.damage(tree, transaction.writer.trees)
          }
          let trees = TreeAccess.transaction(transaction.writer.trees)
          for _ in 0..<40 { try copy.ask(record, trees, oracle) }
          throw Undo()
        }
      } catch is Undo {}
    }
  }

  /// Changes, adds and takes out some entries.
  private mutating func damage(_ tree: TreeSlot, _ trees: TransactionTrees) throws {
    var entries: [(key: Bytes, value: Bytes)] = []
    let cursor = try TreeAccess.transaction(trees).cursor(in: tree)
    var isOn = try cursor.first()
    while isOn {
      entries.append((cursor.key.array(), try cursor.value().array()))
      isOn = try cursor.next()
    }
    for (key, value) in entries where world.choices.chance(6) {
      switch world.choices.number(4) {
      case 0: _ = try trees.remove(key.rawSpan, in: tree)
      case 1:
        let changed = changed(value)
        try trees.put(key.rawSpan, changed.rawSpan, schemaVersion: 0, in: tree)
      case 2:
        let changed = changed(key)
        try trees.put(changed.rawSpan, value.rawSpan, schemaVersion: 0, in: tree)
      default:
        _ = try trees.remove(key.rawSpan, in: tree)
        let changed = changed(key)
        try trees.put(changed.rawSpan, value.rawSpan, schemaVersion: 0, in: tree)
      }
    }
  }

  private mutating func changed(_ bytes: Bytes) -> Bytes {
    var bytes = bytes
    switch world.choices.number(3) {
    case 0: bytes = Array(bytes.prefix(world.choices.number(bytes.count + 1)))
    case 1: bytes.append(UInt8(world.choices.number(256)))
    default:
      if !bytes.isEmpty {
        bytes[world.choices.number(bytes.count)] ^= UInt8(1 << world.choices.number(8))
      }
    }
    return bytes.count > 1_024 ? Array(bytes.prefix(1_024)) : bytes
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
