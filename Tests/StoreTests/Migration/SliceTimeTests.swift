import Synchronization
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A slice of a migration ends with its time, so that a process which is killed again and again gets on.
@Suite struct SliceTimeTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws { directory = try TemporaryDirectory() }

  private func fill(_ count: Int) throws {
    let store = try PersistentStore(at: path, model: Self.model(1))
    try store.write { transaction in
      for id in 0..<count {
        try transaction.save(DynamicRecord("Item", ["id": .integer(Int64(id)), "size": 1]))
      }
    }
    try store.close()
  }

  private static func model(_ version: Int) -> StoreModel {
    StoreModel(
      version: version,
      untyped: [
        RemovedRecord("Item") { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "size", type: .integer)
        }
      ])
  }

  /// The ways in which a closure makes records, each with its slices.
  enum Way: String, CaseIterable {
    case inPlace, anew

    /// The number of records: more than the first slice has, and fewer than are made ahead of the slice that takes them.
    var count: Int { self == .inPlace ? 12_000 : 9_000 }
  }

  private func steps(_ way: Way, _ row: @escaping @Sendable () -> Void) -> [MigrationStep] {
    [
      MigrationStep(to: 2) {
        if way == .inPlace {
          UpdateRecord("Item") {
            UpdateField(
              "size",
              by: { value in
                row()
                return try value.as(Int.self)
              })
          }
        }
        if way == .anew {
          TransformRecords("Item", into: "Item") { old, emit in
            row()
            try emit(old)
          }
        }
      }
    ]
  }

  private func migration(
    _ way: Way, _ row: @escaping @Sendable () -> Void
  ) throws -> Migration {
    var options = StoreOptions()
    options.migration.sliceTime = .zero
    return try PersistentStore.migration(
      at: path, to: Self.model(2), steps: steps(way, row), options: options)
  }

  @Test(arguments: Way.allCases)
  func `a run that is cancelled is resumed after a slice that its time has ended`(
    way: Way
  ) throws {
    try fill(way.count)
    let running = Guarded<Migration?>(nil)
    let seen = Atomic(0)
    let place = way.count * 11 / 12
    let migration = try migration(way) {
      if seen.add(1, ordering: .relaxed).newValue == place {
        running.withLock { $0 }?.cancel()
      }
    }
    running.withLock { $0 = migration }
    #expect(storeError { try migration.run() } == .migrationCancelled(from: 1, to: 2))
    running.withLock { $0 = nil }

    let again = Atomic(0)
    #expect(
      try !self.migration(way) { again.add(1, ordering: .relaxed) }.run().startedOver)
    // Without the time, all of them are one slice.
    #expect(again.load(ordering: .relaxed) < way.count / 2)
    let store = try PersistentStore(at: path, model: Self.model(2), migration: .refuse)
    #expect(try store.count(record: "Item") == way.count)
    try store.expectSound()
    try store.close()
  }

  @Test func `the pace follows the time that slices take`() {
    /// The number of records in the second slice, if the first took so long.
    func next(_ elapsed: Duration, atMost most: Int = 200_000) -> Int {
      var pace = SlicePace(atMost: most, .seconds(5))
      pace.note(elapsed)
      return pace.count
    }
    #expect(SlicePace(atMost: 200_000, .seconds(5)).count == 10_000)
    #expect(SlicePace(atMost: 7, .seconds(5)).count == 7)
    #expect(next(.zero) == 200_000)
    #expect(next(.milliseconds(500)) == 100_000)
    #expect(next(.seconds(5)) == 10_000)
    #expect(next(.seconds(50)) == 1_000)
    #expect(next(.seconds(5_000)) == 256)
    #expect(next(.zero, atMost: 7) == 7)
    #expect(next(.seconds(5_000), atMost: 7) == 7)
  }
}
