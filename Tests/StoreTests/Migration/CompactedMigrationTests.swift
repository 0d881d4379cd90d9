import Synchronization
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Migrations of a store fresh from a compaction, in which nearly every published byte is live: the trees that a
/// migration begins with are copies, which share all their pages with those of the old version.
@Suite struct CompactedMigrationTests {
  private struct Car: Record, Equatable {
    var id: Int
    var name: String
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string, modifier: "\(version)")
    }
  }

  /// The way in which the step of a migration makes its records.
  enum Way: String, CaseIterable, CustomTestStringConvertible {
    case updatedField, runBefore, runAfter, updatedBetweenHooks
    var testDescription: String { rawValue }

    var hasHook: Bool { self != .updatedField }
    var hasUpdate: Bool { self == .updatedField || self == .updatedBetweenHooks }
  }

  private static let count = 12_000
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }
  private let cars = (0..<count).map { Car(id: $0, name: "name \($0)") }

  init() throws {
    directory = try TemporaryDirectory()
    let store = try open(1)
    try store.save(contentsOf: cars)
    _ = try store.compact()
    try store.close()
    let inspection = try PersistentStore.inspect(at: path)
    let published = inspection.segments.reduce(0) { $0 + $1.size }
    #expect(inspection.livePageBytes * 100 > published * 95)
  }

  private func open(
    _ version: Int, _ access: StoreOptions.Access = .writing
  ) throws -> PersistentStore {
    var options = StoreOptions()
    options.access = access
    return try PersistentStore(
      at: path, model: StoreModel(version: version, records: [Car.self]), options: options)
  }

  private func migration(
    _ way: Way, _ look: @escaping @Sendable () throws -> Void = {}
  ) throws -> Migration {
    var options = StoreOptions()
    options.migration.sliceCount = Self.count / 8
    let step = MigrationStep(to: 2) {
      if way.hasHook && way != .runAfter { RunBefore { _ in try look() } }
      if way.hasUpdate {
        UpdateRecord("Car") {
          UpdateField(
            "name",
            from: { old in
              if try old["id", as: Int.self] == Self.count / 2 { try look() }
              return try old["name", as: String.self].uppercased()
            })
        }
      }
      if way == .runAfter || way == .updatedBetweenHooks { RunAfter { _ in try look() } }
    }
    return try PersistentStore.migration(
      at: path, to: StoreModel(version: 2, records: [Car.self]), steps: [step], options: options)
  }

  private func expectWhole(_ sourceLocation: SourceLocation = #_sourceLocation) throws {
    let report = try PersistentStore.check(at: path, .deep)
    #expect(report.isWhole, "\(report)", sourceLocation: sourceLocation)
  }

  /// Reads everything that the old version has, without writing.
  private func expectOld(_ sourceLocation: SourceLocation = #_sourceLocation) throws {
    let reader = try open(1, .reading)
    #expect(try reader.fetch(Car.self) == cars, sourceLocation: sourceLocation)
    try reader.close()
  }

  /// Ends the migration where it first looks at the records: a hook by throwing, as no slice comes after it, and
  /// another step by cancelling.
  private func interrupt(_ way: Way) throws {
    let running = Guarded<Migration?>(nil)
    let migration = try migration(way) {
      if way.hasHook { throw StoreError.full(path: "here") }
      running.withLock { $0 }?.cancel()
    }
    running.withLock { $0 = migration }
    let error = storeError { try migration.run() }
    #expect(way.hasHook ? error != nil : error == .migrationCancelled(from: 1, to: 2))
    running.withLock { $0 = nil }
  }

  @Test(arguments: Way.allCases)
  func `an interrupted migration leaves a whole store of the old version, and resumes`(
    way: Way
  ) throws {
    try interrupt(way)
    try expectOld()
    try expectWhole()
    let copy = directory.path + "/copy"
    // The old program opens and closes it, which leaves the migration to be resumed.
    let old = try open(1)
    try old.backUp(to: copy)
    #expect(try PersistentStore.check(at: copy, .deep).isWhole)
    try old.save(cars[0])
    try old.close()
    try expectWhole()

    _ = try migration(way).run()
    let new = try open(2)
    #expect(try new.count(Car.self) == Self.count)
    try new.expectSound()
    try new.close()
    try expectWhole()
    try PersistentStore.rollback(at: path, to: 1, discardingCommits: true)
    try expectOld()
    try expectWhole()
  }

  @Test(arguments: Way.allCases)
  func `readers open the store while it is migrated`(way: Way) throws {
    let (path, cars) = (path, cars)
    let looks = Atomic(0)
    _ = try migration(way) {
      looks.add(1, ordering: .relaxed)
      var options = StoreOptions()
      options.access = .reading
      let reader = try PersistentStore(
        at: path, model: StoreModel(version: 1, records: [Car.self]), options: options)
      #expect(try reader.fetch(Car.self) == cars)
      try reader.close()
      #expect(try PersistentStore.inspect(at: path).version == 1)
      #expect(try PersistentStore.check(at: path, .deep).isWhole)
    }.run()
    #expect(looks.load(ordering: .relaxed) > 0)
  }

  @Test(arguments: Way.allCases)
  func `the state that a migration keeps is whole, and can be returned to`(way: Way) throws {
    _ = try migration(way).run()
    try expectWhole()
    try PersistentStore.rollback(at: path, to: 1)
    try expectOld()
    try expectWhole()
    let trees = try PersistentStore.inspect(at: path)
    #expect(trees.pendingMigration == nil)
  }
}
