import Dispatch
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Runs tasks on a queue of its own: they go on while other tests hold all threads of the pool.
private final class QueueExecutor: TaskExecutor {
  private let queue = DispatchQueue(label: "progress")

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    queue.async { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

/// The progress of a migration while it runs.
@Suite struct MigrationProgressTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  @Test(.timeLimit(.minutes(60)))
  func `the parts, the records, the rate and the time left are told while it runs, Q2 Q3 Q4 Q5`()
    async throws
  {
    let count = 6_000
    try Priced.make(at: path, count: count)
    let isTold = Guarded(false)
    let step = MigrationStep(to: 2) {
      UpdateRecord("Item") {
        UpdateField(
          "price",
          from: { old in
            let id = try old["id", as: Int.self]
            // After each slice something is told, but at most ten times a second; later it goes on when somebody heard.
            if id == 0 { Self.wait { true } }
            if id == 3_000 { Self.wait { isTold.withLock { $0 } } }
            return Int(try old["price", as: String.self]) ?? 0
          })
      }
    }
    var options = StoreOptions()
    options.migration.sliceCount = 1_000
    let migration = try await PersistentStore.migration(
      at: path, to: Priced.second, steps: [step], options: options)
    let stream = migration.progress
    let report = Guarded<MigrationReport?>(nil)
    let thread = try BackgroundThread(name: "migration") {
      let ran = try? migration.run()
      report.withLock { $0 = ran }
    }
    let all = await Task(executorPreference: QueueExecutor()) {
      var all: [MigrationProgress] = []
      for await progress in stream {
        all.append(progress)
        if progress.recordsDone > 0 { isTold.withLock { $0 = true } }
      }
      return all
    }.value
    thread.join()
    #expect(report.withLock { $0?.records } == all.last?.recordsDone)
    for (one, next) in zip(all, all.dropFirst()) {
      #expect(one.fraction <= next.fraction && one.task <= next.task && one.elapsed <= next.elapsed)
      #expect((0...1).contains(one.fraction) && one.recordsDone <= one.records)
    }
    let middle = try #require(all.first { 0 < $0.recordsDone && $0.recordsDone < $0.records })
    #expect(middle.version == 2 && middle.task < middle.tasks && !middle.work.isEmpty)
    #expect(middle.records >= count && middle.rate ?? 0 > 0)
    #expect(try #require(middle.remaining) > .zero)
    #expect("\(middle)".contains("of about \(middle.records) records"))
    let last = try #require(all.last)
    #expect(last.fraction == 1 && last.task == last.tasks && last.remaining == .zero)
  }

  /// Waits on the thread for 0.15 seconds, and then for a condition, for up to a minute.
  private static func wait(until isOver: () -> Bool) {
    let start = ContinuousClock.now
    while ContinuousClock.now - start < .milliseconds(150) {}
    while !isOver(), ContinuousClock.now - start < .seconds(60) {}
  }

  @Test func `a step that is inferred counts the records that it reads, Q4`() throws {
    let (first, second) = (try DescribedStore.version(1), try DescribedStore.version(2))
    let store = try PersistentStore(at: path, model: first)
    try store.write { transaction in
      for id in 0..<3_000 {
        try transaction.save(DynamicRecord("R", ["id": .integer(Int64(id)), "a": 7]))
      }
    }
    try store.close()
    let migration = try PersistentStore.migration(at: path, to: second)
    #expect(migration.plan.isInferred)
    let report = try migration.run()
    // Its rows are written anew, and its index is made of them.
    #expect(report.records >= 3_000 && report.records <= 9_000, "\(report.records)")
  }

  @Test func `two records become one, whichever comes first, K13`() throws {
    let model = StoreModel([
      ModelVersion(
        1,
        describing: [
          "Person": Self.record { Field(name: "name", type: .string) },
          "Salary": Self.record { Field(name: "amount", type: .integer) },
        ]),
      ModelVersion(
        2,
        describing: [
          "Employee": Self.record {
            Field(name: "name", type: .string, optional: true)
            Field(name: "amount", type: .integer, optional: true)
          }
        ]),
    ])
    func part(_ source: String, _ field: String) -> TransformRecords {
      TransformRecords(source, into: "Employee") { old, emit in
        let value = try old[field, as: FieldValue.self]
        try emit.upsert(
          DynamicRecord("Employee", ["id": old["id"], field: value])
        ) { existing, new in
          var merged = existing
          merged[field] = new[field]
          return merged
        }
      }
    }
    let parts = [part("Person", "name"), part("Salary", "amount")]
    for order in [[0, 1], [1, 0]] {
      let path = directory.path + "/\(order)"
      let old = try PersistentStore(at: path, model: model.untyped(version: 1))
      try old.write { transaction in
        try transaction.save(DynamicRecord("Person", ["id": 1, "name": "Ada"]))
        try transaction.save(DynamicRecord("Person", ["id": 2, "name": "Eve"]))
        try transaction.save(DynamicRecord("Salary", ["id": 2, "amount": 20]))
        try transaction.save(DynamicRecord("Salary", ["id": 3, "amount": 30]))
      }
      try old.close()
      let step = MigrationStep(to: 2) {
        parts[order[0]]
        parts[order[1]]
      }
      let store = try PersistentStore(at: path, model: model, steps: [step])
      #expect(
        try store.allRecords() == [
          DynamicRecord("Employee", ["id": 1, "name": "Ada", "amount": .null]),
          DynamicRecord("Employee", ["id": 2, "name": "Eve", "amount": 20]),
          DynamicRecord("Employee", ["id": 3, "name": .null, "amount": 30]),
        ])
      try store.close()
    }
  }

  private static func record(
    @RecordDescription.ResultBuilder _ fields: () -> RecordDescription
  ) -> RecordDescription {
    let fields = fields()
    return describe {
      Field(primaryKey: true, name: "id", type: .integer)
      fields
    }
  }

  private static func describe(
    @RecordDescription.ResultBuilder _ body: () -> RecordDescription
  ) -> RecordDescription { body() }
}

extension DescribedStore {
  /// A model of a record that has an index from its second version on.
  fileprivate static func version(_ version: Int) throws -> StoreModel {
    StoreModel([
      ModelVersion(1, describing: ["R": fields(isIndexed: false)]),
      ModelVersion(2, describing: ["R": fields(isIndexed: true)]),
    ]).untyped(version: version)
  }

  private static func fields(isIndexed: Bool) -> RecordDescription {
    @RecordDescription.ResultBuilder func body() -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "a", type: .integer, optional: isIndexed, indexed: isIndexed)
    }
    return body()
  }
}
