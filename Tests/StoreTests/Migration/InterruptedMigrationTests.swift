import CambiumTesting
import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Migrations of thousands of records, on real files, that are cancelled, fail or are read meanwhile: the store opens
/// afterwards, by every program.
@Suite struct InterruptedMigrationTests {
  private static let count = 12_000
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }
  private var options = StoreOptions()

  init() throws {
    directory = try TemporaryDirectory()
    options.migration.sliceCount = Self.count / 8
  }

  private static let model = StoreModel(
    version: 2,
    untyped: [
      RemovedRecord("Car") { version in
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "name", type: .string)
        if version == 2 { Field(name: "up", type: .string) }
      }
    ])

  private func make() throws {
    let store = try PersistentStore(at: path, model: Self.model.dynamic(version: 1))
    try store.write { transaction in
      for id in 0..<Self.count {
        try transaction.save(.of("Car", Int64(id), ["name": .string("name \(id)")]))
      }
    }
    try store.compact()
    try store.close()
  }

  /// A step that calls a closure with the number of each record.
  private static func step(_ look: @escaping @Sendable (Int) throws -> Void) -> MigrationStep {
    MigrationStep(to: 2) {
      UpdateRecord("Car") {
        UpdateField(
          "up",
          from: { old in
            try look(try old["id", as: Int.self])
            return try old["name", as: String.self].uppercased()
          })
      }
    }
  }

  /// Opens the store with the program of the old version, without a model, and with that of the new version.
  private func expectSound(before: Bool = true) throws {
    if before {
      let inspection = try PersistentStore.inspect(at: path)
      #expect(inspection.version == 1)
      #expect(try PersistentStore.check(at: path, .deep).isWhole)
      let old = try PersistentStore(at: path, model: Self.model.dynamic(version: 1))
      #expect(try old.count(record: "Car") == Self.count)
      try old.close()
    }
    let new = try PersistentStore(
      at: path, model: Self.model, steps: [Self.step { _ in }], options: options)
    #expect(try new.count(record: "Car") == Self.count)
    #expect(try new.fetch(record: "Car", key: 7)?["up"] == "NAME 7")
    try new.close()
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
    try PersistentStore.rollback(at: path, to: 1)
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
  }

  @Test(arguments: [false, true])
  func `a run or a rehearsal that is cancelled in the middle leaves a store that opens, P5 X16`(
    isRehearsal: Bool
  ) throws {
    try make()
    let running = Guarded<Migration?>(nil)
    let step = Self.step { id in
      if id == Self.count / 2 { running.withLock { $0 }?.cancel() }
    }
    let migration = try PersistentStore.migration(
      at: path, to: Self.model, steps: [step], options: options)
    running.withLock { $0 = migration }
    #expect(
      storeError { try isRehearsal ? migration.rehearse() : migration.run() }
        == .migrationCancelled(from: 1, to: 2))
    running.withLock { $0 = nil }
    try expectSound()
  }

  @Test func `a process that is killed within a step's closure leaves a store that opens, P5 X16`()
    async throws
  {
    try make()
    await #expect(processExitsWith: .failure) { [path = path as String] in
      var options = StoreOptions()
      options.migration.sliceCount = Self.count / 8
      let step = Self.step { id in if id == Self.count * 3 / 4 { abort() } }
      _ = try PersistentStore(at: path, model: Self.model, steps: [step], options: options)
    }
    try expectSound()
  }

  @Test func `a migration begins from the start if its mark cannot be read`() throws {
    try make()
    let store = try PersistentStore(at: path, model: Self.model.dynamic(version: 1))
    let tree = try store.backend.names.slot(of: MigrationMark.treeName)
    try store.backend.commit { trees throws(StoreError) in
      try trees.put(([1] as Bytes).rawSpan, RawSpan(), in: tree)
    }
    try store.close()
    try expectSound(before: false)
  }

  @Test func `readers that are open, and new ones, read on while it runs, Q6 X16`() throws {
    try make()
    let path = path
    let reader = Guarded(try PersistentStore(untypedAt: path, options: .reading))
    let seen = Guarded<[String: Int]>([:])
    let step = Self.step { id in
      guard id % 500 == 0 else { return }
      func note(_ text: String) { seen.withLock { $0[text, default: 0] += 1 } }
      do {
        try reader.withLock { reader in
          try reader.refresh()
          note("\(try reader.count(record: "Car"))")
        }
        let new = try PersistentStore(untypedAt: path, options: .reading)
        note("\(try new.count(record: "Car"))")
        try new.close()
      } catch { note("\(error)") }
    }
    try PersistentStore(at: path, model: Self.model, steps: [step], options: options).close()
    #expect(seen.withLock { Array($0.keys) } == ["\(Self.count)"])
    #expect(reader.withLock { reader in storeError { try reader.refresh() } } != nil)
    try expectSound(before: false)
  }

  @Test(arguments: [false, true])
  func `after a hook the kept state is whole, and can be gone back to, L6 X16`(isBefore: Bool)
    throws
  {
    try make()
    let model = StoreModel(
      version: 2,
      untyped: [
        RemovedRecord("Car") { _ in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "name", type: .string)
        }
      ])
    let step = MigrationStep(to: 2) {
      if isBefore {
        RunBefore { transaction in _ = try transaction.count(record: "Car") }
      } else {
        RunAfter { transaction in _ = try transaction.count(record: "Car") }
      }
    }
    try PersistentStore(at: path, model: model, steps: [step]).close()
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
    try PersistentStore.rollback(at: path, to: 1)
    #expect(try PersistentStore.check(at: path, .deep).isWhole)
    let old = try PersistentStore(at: path, model: Self.model.dynamic(version: 1))
    #expect(try old.count(record: "Car") == Self.count)
    try old.close()
  }
}

extension StoreOptions {
  fileprivate static var reading: StoreOptions {
    var options = StoreOptions()
    options.access = .reading
    return options
  }
}
