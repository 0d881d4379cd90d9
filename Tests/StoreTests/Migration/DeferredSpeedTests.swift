import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What deferring costs. Figures are printed; what is asserted is wide of them.
@Suite(.serialized) struct DeferredSpeedTests {
  private static let count = scaled(1_000_000, debug: 3_000)

  private enum Wide {
    @RecordDescription.ResultBuilder
    static func description(_ version: Int) -> RecordDescription {
      RecordName("Wide")
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Field(
        name: version == 1 ? "town" : "city", type: .string,
        migrationInfo: version == 1 ? nil : .init(renamingID: "town"))
      Field(name: "age", type: .integer)
      Field(name: "score", type: .double)
      Field(name: "size", type: version == 1 ? .int32 : .int64)
      Field(name: "note", type: .string, optional: true)
      if version == 1 { Field(name: "rest", type: .integer) }
      if version == 2 { Field(name: "count", type: .integer, migrationInfo: .init(default: 3)) }
    }
  }

  private struct One: Record {
    var id: Int
    var name: String
    var town: String
    var age: Int
    var score: Double
    var size: Int32
    var note: String?
    var rest = 1
    static func recordDescription(for version: Int) -> RecordDescription {
      Wide.description(version)
    }
  }

  private struct Two: Record {
    var id: Int
    var name: String
    var city: String
    var age: Int
    var score: Double
    var size: Int64
    var note: String?
    var count: Int
    static func recordDescription(for version: Int) -> RecordDescription {
      Wide.description(version)
    }
  }

  private static func open(_ path: String, _ version: Int) throws -> PersistentStore {
    try PersistentStore(
      at: path, model: StoreModel(version: version, records: [version == 1 ? One.self : Two.self]),
      migration: .deferred)
  }

  private static func make(_ path: String) throws {
    let store = try open(path, 1)
    for start in stride(from: 0, to: count, by: 100_000) {
      try store.write(durability: .relaxed) { transaction in
        try transaction.insert(
          contentsOf: (start..<min(count, start + 100_000)).map { id in
            One(
              id: id, name: "name \(id)", town: "town \(id % 1000)", age: id % 90,
              score: Double(id) / 3, size: Int32(id % 100), note: id % 4 == 0 ? nil : "a note")
          })
      }
    }
    try store.close()
  }

  private static func time(_ body: () throws -> Void) rethrows -> Double {
    try ContinuousClock().measure(body) / .seconds(1)
  }

  /// The least processor time of some rounds, in seconds: the machine may be busy with other tests.
  private static func best(_ body: () throws -> Void) rethrows -> Double {
    try nanoseconds(each: 1, body) / 1e9
  }

  private struct Reading {
    var condition = 0.0
    var scan = 0.0
    var fetch = 0.0
    var sum = 0.0

    init(_ store: PersistentStore) throws {
      let snapshot = try store.snapshot()
      condition = try DeferredSpeedTests.best {
        let found = try snapshot.count(Two.where { $0.age == 200 })
        #expect(found == 0)
      }
      scan = try DeferredSpeedTests.best {
        var total = 0
        try snapshot.forEach(Two.self) { total += $0.count }
        #expect(total == 3 * DeferredSpeedTests.count)
      }
      sum = try DeferredSpeedTests.best { _ = try snapshot.sum(\Two.age) }
      var random = SplitMix64(seed: 1)
      let keys = (0..<scaled(200_000, debug: 200)).map { _ in
        Int.random(in: 0..<DeferredSpeedTests.count, using: &random)
      }
      fetch = try DeferredSpeedTests.best {
        for key in keys { _ = try snapshot.fetch(Two.self, key: key) }
      }
    }

    func ratio(to other: Reading) -> String {
      func text(_ path: KeyPath<Reading, Double>) -> String {
        "\((self[keyPath: path] / other[keyPath: path] * 100).rounded() / 100)"
          + " (\((self[keyPath: path] * 1e9 / Double(DeferredSpeedTests.count)).rounded()) ns)"
      }
      return "scan \(text(\.scan)), condition \(text(\.condition)), sum \(text(\.sum)),"
        + " fetch \(text(\.fetch))"
    }
  }

  @Test
  func `opening takes no longer for many rows, and old rows read about as fast as new, O1 O5`()
    throws
  {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    try Self.make(path)
    var opened: PersistentStore?
    let opening = try threadTime { opened = try Self.open(path, 2) } / .seconds(1)
    let store = try #require(opened)
    let old = try Reading(store)
    var pending: PendingMigration?
    let counting = try Self.time { pending = try store.pendingMigration }
    #expect(pending?.recordCount == Self.count)
    var isLeft = true
    let finishing = try Self.time { isLeft = try store.finishMigration() }
    #expect(!isLeft)
    let new = try Reading(store)
    try store.close()
    let again = try Self.time { try Self.open(path, 2).close() }
    print(
      "deferred, \(Self.count.grouped) records: published and open in \(opening * 1e3) ms of processor time, opened"
        + " again and closed in \(again * 1e3) ms, counted in \(counting * 1e3) ms, finished in"
        + " \(finishing) s; old to new: \(old.ratio(to: new))")
    if scaled(1, debug: 0) == 1 {
      #expect(opening < 0.1)
      #expect(old.scan < 2.5 * new.scan && old.fetch < 2.5 * new.fetch)
    }
  }

  @Test func `commits go on while a migration is finished, O4`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    try Self.make(path)
    let store = try Self.open(path, 2)
    func commits(_ count: Int, while isOn: () -> Bool) throws -> (p50: Double, p99: Double) {
      var times: [Double] = []
      var id = 0
      while times.count < count, isOn() || times.count < 100 {
        id = (id + 7919) % Self.count
        times.append(
          try Self.time {
            try store.save(
              Two(id: id, name: "n", city: "c", age: 1, score: 1, size: 1, note: nil, count: 3))
          })
      }
      times.sort()
      return (times[times.count / 2] * 1e3, times[times.count * 99 / 100] * 1e3)
    }
    let alone = try commits(scaled(2_000, debug: 100)) { true }
    let isDone = Flag()
    let finishing = Task.detached {
      let time = try Self.time { _ = try store.finishMigration() }
      isDone.set()
      return time
    }
    let during = try commits(scaled(100_000, debug: 200)) { !isDone.isSet }
    let time = try await finishing.value
    let after = try commits(scaled(2_000, debug: 100)) { true }
    print(
      "deferred: commits take \(alone) ms alone, \(during) while \(Self.count.grouped) records are"
        + " made new in \(time) s, \(after) after it (median, p99)")
    #expect(try store.pendingMigration == nil)
    try await store.close()
  }

  private final class Flag: @unchecked Sendable {
    private let lock = ThreadLock()
    private var value = false
    var isSet: Bool {
      lock.lock()
      defer { lock.unlock() }
      return value
    }
    func set() {
      lock.lock()
      defer { lock.unlock() }
      value = true
    }
  }
}
