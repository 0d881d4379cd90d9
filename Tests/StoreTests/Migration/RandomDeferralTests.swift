import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A store that is read through deferred steps answers everything as one that was migrated whole, whatever the steps. Each run
/// has other ones, and a round of soaking twice as many.
@Suite struct RandomDeferralTests {
  /// A store in memory whose schema is set from without.
  fileprivate final class World {
    let backend: EngineBackend
    var schemas: [Schema]
    var types: Entities

    init(_ schema: Schema) throws {
      backend = try EngineBackend(inMemory: StoreOptions())
      schemas = [schema]
      types = try Entities(schema, model: nil, names: backend.names)
      try backend.commit { trees throws(StoreError) in
        try trees.put(
          Schema.key(of: schema.storedVersion).rawSpan, schema.encoded().rawSpan, schemaVersion: 0,
          in: backend.names.slot(of: Schema.treeName))
      }
    }

    deinit { try? backend.close() }

    var trees: Entity { get throws { try types.entity(named: RandomSteps.name) } }
    var snapshot: StoreSnapshot { get throws { StoreSnapshot(types, try backend.snapshot()) } }

    func write(_ records: [DynamicRecord]) throws {
      let (row, key) = (RowWriter(), KeyEncoder())
      let trees = try trees
      try backend.write(.durable) { changes in
        let writer = RecordWriter(changes, types)
        for record in records {
          try record.encode(to: row, key: key, layout: trees.layout)
          try writer.write(key.key, row.row, of: trees, presence: .any, onConflict: .refuse)
        }
      }
    }

    func delete(_ ids: [Int64]) throws {
      let key = KeyEncoder()
      let trees = try trees
      try backend.write(.durable) { changes in
        let writer = RecordWriter(changes, types)
        for id in ids {
          try key.encode(primaryKey: [id], of: trees)
          _ = try writer.delete(key.key, of: trees)
        }
      }
    }

    func migrate(_ steps: [SchemaChange]) throws {
      let hops = try steps.map { step in
        MigrationRoute.Hop(
          change: step,
          described: try DescribedVersion(
            version: step.to.version, records: [], after: nil), step: nil)
      }
      let route = MigrationRoute(
        from: schemas[schemas.count - 1], wanted: hops.last?.change.to.version ?? 0,
        hops: hops, faults: [])
      try Migrator(backend, MigrationTasks(route, stepwise: false), sliceCount: 50).run()
      try take(steps)
    }

    func `defer`(_ steps: [SchemaChange]) throws {
      try DeferredOpening(backend).publish(steps, after: schemas)
      try take(steps)
    }

    private func take(_ steps: [SchemaChange]) throws {
      schemas += steps.map(\.to)
      types = try Entities(schemas[schemas.count - 1], model: nil, names: backend.names)
    }

    func finish(_ budget: WorkBudget) throws -> Bool {
      let backend = backend
      var finishing = DeferredFinishing(backend, types, budget, sliceCount: 40) {
        body throws(StoreError) in try backend.commit(body)
      }
      return try finishing.run()
    }
  }

  @Test func `what is deferred reads as what is migrated, whatever the steps, O1 O2 O4 O5`() throws
  {
    let seed = UInt64.random(in: .min ... .max)
    print("deferred steps: seed \(seed)")
    for round in 0..<UInt64(Seeds.count(200, soaking: 400, debug: 8)) {
      do {
        try run(seed &+ round)
      } catch {
        Issue.record("seed \(seed &+ round): \(error)")
        return
      }
    }
  }

  private func run(_ seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    let chain = RandomSteps(&random)
    let schema = try #require(chain.first.records.first)
    let (eager, deferred) = (try World(chain.first), try World(chain.first))
    let count = Int64.random(in: 1...300, using: &random)
    let records = (0..<count).map {
      RandomValue.record($0, schema, leadingTo: Array(0..<count), &random)
    }
    for world in [eager, deferred] {
      try world.write(records)
      if seed % 2 == 0 { try world.backend.fold() }
    }
    // Some steps at once, the others behind changes.
    let cut = Int.random(in: 0...chain.steps.count, using: &random)
    for steps in [chain.steps[..<cut], chain.steps[cut...]] where !steps.isEmpty {
      for step in steps { #expect(step.isDeferrable, "\(step.deferralFaults)") }
      try eager.migrate(Array(steps))
      try deferred.defer(Array(steps))
      try compare(eager, deferred, &random)
      for _ in 0..<3 {
        try change(eager, deferred, count, &random)
        try compare(eager, deferred, &random)
        if random.next() % 2 == 0 { _ = try deferred.finish(.records(30)) }
        try compare(eager, deferred, &random)
      }
    }
    try compare(try deferred.reopened(), eager, &random)
    while try deferred.finish(.records(Int.random(in: 1...200, using: &random))) {
      try compare(eager, deferred, &random)
    }
    #expect(try deferred.snapshot.pendingMigration() == nil)
    try compare(eager, deferred, &random)
    try eager.backend.fold()
    try deferred.backend.fold()
    let slot = try deferred.trees.rows
    let lowest = try deferred.backend.trees().lowestVersion(in: slot)
    #expect(lowest == nil || lowest == chain.to.storedVersion)
  }

  private func change(
    _ eager: World, _ deferred: World, _ count: Int64, _ random: inout SplitMix64
  ) throws {
    let schema = try eager.trees.record
    var present: [Int64] = []
    try eager.snapshot.forEach(record: RandomSteps.name) { record in
      if let id = try? record["id", as: Int64.self] { present.append(id) }
    }
    let records = (0..<Int.random(in: 0...9, using: &random)).map { _ in
      RandomValue.record(
        Int64.random(in: 0...count + 9, using: &random), schema, leadingTo: present, &random)
    }
    let gone = (0..<Int.random(in: 0...5, using: &random)).map { _ in
      Int64.random(in: 0..<count, using: &random)
    }
    for world in [eager, deferred] {
      try world.write(records)
      try world.delete(gone)
    }
    if random.next() % 2 == 0 { try deferred.backend.fold() }
  }

  private func compare(
    _ eager: World, _ deferred: World, _ random: inout SplitMix64
  ) throws {
    let (one, other) = (try eager.snapshot, try deferred.snapshot)
    #expect(try other.check() == [])
    let name = RandomSteps.name
    #expect(try one.fetch(record: name, where: nil) == other.fetch(record: name, where: nil))
    let record = try eager.trees.record
    for field in record.fields where field.type.canBeKey && field.number != 1 {
      let order = [FieldOrder(field: field.name, isDescending: random.next() % 2 == 0)]
      let condition = FieldCondition.comparison(
        field: field.name, RandomCondition.comparison(&random),
        RandomValue.make(field.type, &random))
      #expect(
        try one.fetch(record: name, where: condition, sortedBy: order)
          == other.fetch(record: name, where: condition, sortedBy: order))
      #expect(
        try one.count(record: name, where: condition)
          == other.count(record: name, where: condition))
      // Null has an entry, too.
      let isNull = FieldCondition.comparison(field: field.name, .equal, .null)
      if record.canBeNull(field) {
        #expect(
          try one.count(record: name, where: isNull) == other.count(record: name, where: isNull))
      }
    }
    // Key by key, and in a transaction.
    try eager.backend.write(.durable) { changes in
      let key = KeyEncoder()
      let trees = try eager.trees
      for id in Int64(0)..<20 {
        try key.encode(primaryKey: [id], of: trees)
        var (row, same): ([UInt8], [UInt8]) = ([], [])
        let isThere = try TreeAccess.transaction(changes).copyValue(
          of: key.key, in: trees.rows, to: &row)
        #expect(
          try other.trees.copyValue(of: key.key, in: try deferred.trees.rows, to: &same) == isThere)
        #expect(row == same)
      }
    }
    try deferred.backend.write(.durable) { changes in
      let reading = TreeAccess.transaction(changes)
      let (cursor, same) = (
        try reading.cursor(in: try deferred.trees.rows),
        try one.trees.cursor(in: try eager.trees.rows)
      )
      var (isOn, isSame) = (try cursor.last(), try same.last())
      while isOn, isSame {
        #expect(cursor.key.array() == same.key.array())
        #expect(try cursor.value().array() == same.value().array())
        (isOn, isSame) = (try cursor.previous(), try same.previous())
      }
      #expect(isOn == isSame)
    }
  }
}

extension RandomDeferralTests.World {
  /// The same store, with what is pending read from it anew.
  fileprivate func reopened() throws -> RandomDeferralTests.World {
    try DeferredOpening(backend).usePending()
    return self
  }
}
