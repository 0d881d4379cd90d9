import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Stores that a program is not for are left as they are; or are put aside, where that is asked for.
@Suite struct RefusalTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  private struct Thing: Record, Equatable {
    var id: Int
    var name: String
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
    }
  }

  /// The same, described otherwise.
  private struct Changed: Record, Equatable {
    var id: Int
    var name: String?
    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Thing")
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string, optional: true)
    }
  }

  private func open(
    _ version: Int, _ type: any Record.Type = Thing.self, _ options: StoreOptions = StoreOptions(),
    migration: MigrationMode = .automatic
  ) throws -> PersistentStore {
    try PersistentStore(
      at: path, model: StoreModel(version: version, records: [type]), migration: migration,
      options: options)
  }

  /// A store whose last commits are in its log only, as after a crash.
  private func make(_ version: Int) throws {
    let store = try open(version)
    for id in 0..<40 { try store.save(Thing(id: id, name: "n\(id)")) }
    let copy = directory.path + "/copy"
    try FileManager.default.copyItem(atPath: path, toPath: copy)
    try store.close()
    try FileManager.default.removeItem(atPath: path)
    try FileManager.default.moveItem(atPath: copy, toPath: path)
  }

  /// Everything but the file of the lock, which has the number of the process that had it last.
  private func bytes() throws -> [String: Data] {
    try directoryBytes(path).filter { $0.key != "LOCK" }
  }

  @Test
  func `a store that is newer, described otherwise or not to be migrated keeps every byte, I9`()
    throws
  {
    try make(2)
    let before = try bytes()
    #expect(storeError { try open(1) } == .newerSchema(found: 2, supported: 1))
    #expect(try bytes() == before)
    guard case .schemaMismatch(2, _) = storeError({ try open(2, Changed.self) }) else {
      return #expect(Bool(false), "it is opened")
    }
    #expect(try bytes() == before)
    guard case .schemaMismatch(2, _) = storeError({ try open(3, Changed.self) }) else {
      return #expect(Bool(false), "it is migrated")
    }
    #expect(try bytes() == before)
    #expect(
      storeError { try open(3, migration: .refuse) } == .needsMigration(found: 2, wanted: 3))
    #expect(try bytes() == before)
    let store = try open(2)
    #expect(try store.count(Thing.self) == 40)
    #expect(store.report.replayedCommits > 0)
    #expect(try bytes() != before)
    try store.close()
  }

  @Test func `a store knows every version that it had, I2 I7 I8`() throws {
    try make(1)
    let store = try open(3)
    #expect(try store.schemas().map(\.version) == [1, 2, 3])
    #expect(try store.schemas().last?.fingerprint == store.schema.fingerprint)
    try store.close()
    let inspection = try PersistentStore.inspect(at: path)
    #expect(inspection.schemas.map(\.version) == [1, 2, 3])
    #expect(inspection.fingerprint == store.schema.fingerprint)
    #expect(inspection.label == nil)
    #expect(inspection.keptVersions.map(\.version) == [1])
  }

  private struct Broken: Record {
    var id: Int
    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Thing")
      Field(primaryKey: true, name: "id", type: .integer)
      if version < 3 { Field(name: "name", type: .string) }
      // Of what was never there.
      if version == 2 {
        Field(
          name: "size", type: .integer, optional: true,
          migrationInfo: .init(renamingID: "length"))
      }
    }
  }

  @Test func `a model with a version that cannot be is refused, whichever the store has, I11`()
    throws
  {
    try make(2)
    let before = try bytes()
    for version in [2, 3] {
      guard
        case .invalidDescription("Thing", "size", 2, _) = storeError({
          try open(version, Broken.self)
        })
      else { return #expect(Bool(false), "it is opened") }
    }
    #expect(try bytes() == before)
  }

  // MARK: Setting aside

  private var asides: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: directory.path)
        .filter { $0.hasPrefix("store.") }.sorted()
    }
  }

  @Test func `a store that is described otherwise is put aside, and nothing of it is lost, M3`()
    throws
  {
    try make(1)
    var options = StoreOptions()
    options.schemaMismatchPolicy = .setAside
    var store = try open(1, Changed.self, options)
    #expect(try store.count(Changed.self) == 0)
    let aside = try #require(store.report.setAside)
    #expect(try asides == [String(aside.split(separator: "/").last ?? "")])
    #expect(aside.hasPrefix(path + ".20"))
    #expect(try PersistentStore.snapshot(at: aside).count(record: "Thing") == 40)
    try store.save(Changed(id: 1))
    try store.close()
    // What is not described otherwise stays.
    store = try open(1, Changed.self, options)
    #expect(store.report.setAside == nil)
    #expect(try store.count(Changed.self) == 1)
    // Under its writer nothing is moved.
    guard case .locked = storeError({ try open(1, Thing.self, options) }) else {
      return #expect(Bool(false), "it is moved")
    }
    try store.close()
    for _ in 0..<2 {
      try open(1, Thing.self, options).close()
      try open(1, Changed.self, options).close()
    }
    #expect(try asides.count == 5)
  }

  @Test func `only a store of a version that was not released is put aside, M3`() throws {
    try make(1)
    var options = StoreOptions()
    let released = try SchemaLock(StoreModel(version: 1, records: [Thing.self]))
    options.schemaMismatchPolicy = .setAside(unlessIn: released)
    guard case .schemaMismatch(1, _) = storeError({ try open(1, Changed.self, options) }) else {
      return #expect(Bool(false), "it is put aside")
    }
    guard case .schemaMismatch(1, _) = storeError({ try open(2, Changed.self, options) }) else {
      return #expect(Bool(false), "it is put aside")
    }
    options.access = .reading
    options.schemaMismatchPolicy = .setAside
    guard case .schemaMismatch(1, _) = storeError({ try open(1, Changed.self, options) }) else {
      return #expect(Bool(false), "it is put aside by who reads")
    }
    options.access = .writing
    #expect(storeError { try open(1, Changed.self) } != nil)
    // Newer stores, and those that cannot be migrated, are nobody's to put aside.
    try open(2).close()
    #expect(storeError { try open(1, Thing.self, options) } == .newerSchema(found: 2, supported: 1))
    #expect(try asides.isEmpty)
    options.schemaMismatchPolicy = .setAside(unlessIn: released)
    try open(2, Changed.self, options).close()
    #expect(try asides.count == 1)
  }

  @Test func `a store that cannot be migrated is put aside if that is allowed, M3`() throws {
    var options = StoreOptions()
    options.schemaMismatchPolicy = .setAsideUnlessMigrated
    // One that can be migrated is.
    try make(1)
    var store = try open(2, Thing.self, options)
    #expect(try store.count(Thing.self) == 40)
    try store.close()
    #expect(try asides.isEmpty)
    // One that is newer is not.
    store = try open(1, Thing.self, options)
    #expect(try store.count(Thing.self) == 0)
    let aside = try #require(store.report.setAside)
    #expect(try PersistentStore.snapshot(at: aside).count(record: "Thing") == 40)
    try store.close()
    // Nor is one whose step fails.
    try make(1)
    struct Fault: Error {}
    let failing = MigrationStep(to: 2) { RunBefore { _ in throw Fault() } }
    let model = StoreModel(version: 2, records: [Thing.self])
    #expect(storeError { try PersistentStore(at: path, model: model, steps: [failing]) } != nil)
    store = try PersistentStore(at: path, model: model, steps: [failing], options: options)
    #expect(try store.count(Thing.self) == 0)
    try store.close()
    #expect(try asides.count == 2)
  }
}
