import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The power goes before every call of a migration: what is found is one version or the other, whole, and opened
/// anew it is migrated in the end.
@Suite struct MigrationCrashTests {
  private static let count = 60

  private static func model(_ version: Int) -> StoreModel {
    StoreModel(
      version: version,
      records: [version == 1 ? Migrated.First.self : Migrated.Second.self])
  }

  /// Opens the store in `medium` as a program of a version does.
  private static func open(
    _ medium: SimulatedFileSystem, _ version: Int, _ mode: MigrationMode = .automatic,
    seed: UInt64
  ) throws -> (backend: EngineBackend, types: Entities) {
    let backend = try EngineBackend.simulated(on: medium, seed: seed)
    let model = model(version)
    var options = StoreOptions()
    options.migration.sliceCount = 7
    let opening = try StoreOpening(model, mode, options)
    return (backend, try opening.entities(of: backend))
  }

  /// A store of version 1, closed or not.
  private static func made(closed: Bool) throws -> SimulatedFileSystem {
    let medium = SimulatedFileSystem()
    let (backend, types) = try open(medium, 1, seed: 1)
    let records = (0..<count).map { Migrated.First($0) }
    let type = try types.type(Migrated.First.self)
    let (row, key) = (RowWriter(), KeyEncoder())
    for some in [records[..<40], records[40...]] {
      try backend.commit { trees throws(StoreError) in
        let writer = RecordWriter(trees, types)
        for record in some {
          try type.encode(record, to: row, key: key)
          try writer.write(
            key.key, row.row, of: type, presence: .isNew, onConflict: .refuse)
        }
      }
    }
    if closed { try backend.close() } else { try backend.seal() }
    return medium
  }

  private static func snapshot(
    _ opened: (backend: EngineBackend, types: Entities)
  ) throws -> StoreSnapshot {
    StoreSnapshot(opened.types, try opened.backend.snapshot())
  }

  /// What an image must be: for a program of each version.
  private static func violation(in medium: SimulatedFileSystem, _ policy: CrashPolicy) -> String? {
    do {
      let old = medium.crashed(policy)
      do {
        let found = try snapshot(try open(old, 1, .refuse, seed: 5))
        try agree(
          try found.fetch(Migrated.First.self) == (0..<count).map { Migrated.First($0) },
          "version 1 has other records")
        let faults = try found.check()
        try agree(faults.isEmpty, "version 1: \(faults)")
      } catch StoreError.newerSchema(found: 2, supported: 1) {}
      let opened = try open(medium.crashed(policy), 2, seed: 6)
      let found = try snapshot(opened)
      try agree(
        try found.fetch(Migrated.Second.self) == (0..<count).map { Migrated.Second($0) },
        "version 2 has other records")
      let faults = try found.check()
      try agree(faults.isEmpty, "version 2: \(faults)")
      let mark = try opened.backend.trees().count(
        in: opened.backend.names.slot(of: MigrationMark.treeName))
      try agree(mark == 0, "the mark of the migration is still there")
      let names = opened.backend.engine.snapshotNames
      try agree(!names.contains { $0.hasPrefix("m.") }, "\(names)")
      let pages = opened.backend.engine.working.base.file.check(sizes: .forLongKeys)
      try agree(pages.isEmpty, "\(pages)")
    } catch {
      return "\(error)"
    }
    return nil
  }

  @Test(arguments: [false, true])
  func `a crash before any call leaves one version or the other, and the next open migrates`(
    closed: Bool
  ) throws {
    let medium = try Self.made(closed: closed)
    var count = 0
    var violations: [String] = []
    let stride = scaled(1, debug: 7)
    medium.beforeEachCall { call in
      guard call % stride == 0 else { return }
      for policy in CrashPolicy.some(4, pending: medium.pendingCount, seed: UInt64(call)) {
        count += 1
        if let violation = Self.violation(in: medium, policy) {
          violations.append("call \(call), \(policy): \(violation)")
        }
      }
    }
    _ = try Self.open(medium, 2, seed: 2)
    medium.beforeEachCall(nil)
    for violation in violations.prefix(5) { Issue.record("\(violation)") }
    #expect(count > scaled(200, debug: 30))
    print("migration: \(count.grouped) crash images, \(violations.count) violations")
  }

  @Test func `a call that fails leaves one version or the other, and the next open migrates`()
    throws
  {
    let whole = try Self.made(closed: true)
    let start = whole.callCount
    _ = try Self.open(whole, 2, seed: 2)
    var count = 0
    for call in stride(from: start, to: whole.callCount, by: scaled(1, debug: 13)) {
      for fault in [Fault.error(.ioError), .error(.noSpace), .flush(.errorCacheReverts)] {
        let medium = try Self.made(closed: true)
        guard fault.applies(to: whole.calls[call].operation) else { continue }
        medium.inject(fault, at: .call(call), .once)
        count += 1
        do {
          _ = try Self.open(medium, 2, seed: 2)
        } catch let error as StoreError {
          switch error {
          case .io, .full, .poisoned, .outcomeUnknown, .corrupt: break
          default: throw error
          }
        }
        medium.heal()
        if let violation = Self.violation(in: medium, .none) {
          Issue.record("\(fault) at call \(call): \(violation)")
        }
      }
    }
    print("migration: \(count.grouped) failed calls")
  }
}

extension Engine {
  /// The trees that have entries.
  fileprivate var snapshotNames: [String] { working.base.file.footer.trees.map(\.name) }
}

/// A record that every step of a migration is needed for.
private enum Migrated {
  @RecordDescription.ResultBuilder
  static func description(_ version: Int) -> RecordDescription {
    RecordName("Item")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(
      name: version == 1 ? "title" : "name", type: .string, unique: version == 2,
      migrationInfo: version == 1 ? nil : .init(renamingID: "title"))
    if version == 1 {
      Field(name: "size", type: .int16, indexed: true)
    } else {
      Field(name: "size", type: .int64)
      Field(name: "count", type: .integer, indexed: true, migrationInfo: .init(default: 3))
    }
  }

  struct First: Record, Equatable {
    var id: Int
    var title: String
    var size: Int16
    init(_ id: Int) {
      self.id = id
      title = "title \(id)"
      size = Int16(id % 7)
    }
    static func recordDescription(for version: Int) -> RecordDescription { description(version) }
  }

  struct Second: Record, Equatable {
    var id: Int
    var name: String
    var size: Int64
    var count: Int
    init(_ id: Int) {
      let first = First(id)
      self.id = id
      name = first.title
      size = Int64(first.size)
      count = 3
    }
    static func recordDescription(for version: Int) -> RecordDescription { description(version) }
  }
}
