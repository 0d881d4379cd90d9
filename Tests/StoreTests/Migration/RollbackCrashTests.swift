import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The power goes before every call of a rolling back: what is found is the version that was left, with all that was
/// committed to it, or the version that was gone back to, whole.
@Suite struct RollbackCrashTests {
  private static let count = 60

  private static func model(_ version: Int) -> StoreModel {
    StoreModel(
      version: version, records: [version == 1 ? Left.First.self : Left.Second.self])
  }

  /// Opens the store in `medium` as a program of a version does.
  private static func open(
    _ medium: SimulatedFileSystem, _ version: Int, seed: UInt64
  ) throws -> (backend: EngineBackend, types: Entities) {
    let backend = try EngineBackend.simulated(on: medium, seed: seed)
    let model = model(version)
    var options = StoreOptions()
    options.migration.sliceCount = 11
    let opening = try StoreOpening(model, .automatic, options)
    return (backend, try opening.entities(of: backend))
  }

  private static func insert<Subject: Record>(
    _ records: [Subject], _ opened: (backend: EngineBackend, types: Entities)
  ) throws {
    let type = try opened.types.type(Subject.self)
    let (row, key) = (RowWriter(), KeyEncoder())
    try opened.backend.commit { trees throws(StoreError) in
      let writer = RecordWriter(trees, opened.types)
      for record in records {
        try type.encode(record, to: row, key: key)
        try writer.write(
          key.key, row.row, of: type, presence: .isNew, onConflict: .refuse)
      }
    }
  }

  /// A store of version 2, migrated from version 1 with something in its log, with two commits since.
  private static func made() throws -> SimulatedFileSystem {
    let medium = SimulatedFileSystem()
    let first = try open(medium, 1, seed: 1)
    for id in 0..<count { try insert([Left.First(id)], first) }
    try first.backend.seal()
    first.backend.engine.abandon()
    let second = try open(medium, 2, seed: 2)
    try insert([Left.Second(1_000)], second)
    try insert([Left.Second(1_001)], second)
    try second.backend.close()
    return medium
  }

  private static func rollBack(_ medium: SimulatedFileSystem) throws {
    let backend = try EngineBackend.simulated(on: medium, seed: 3)
    try Rollback(backend: backend, version: 1).run(discardingCommits: true)
    try backend.close()
  }

  /// What an image must be.
  private static func violation(
    in medium: SimulatedFileSystem, _ policy: CrashPolicy, isOver: Bool = false
  ) -> String? {
    do {
      let image = medium.crashed(policy)
      do {
        let opened = try open(image, 1, seed: 5)
        let found = StoreSnapshot(opened.types, try opened.backend.snapshot())
        try agree(
          try found.fetch(Left.First.self) == (0..<count).map { Left.First($0) },
          "version 1 has other records")
        let faults = try found.check()
        try agree(faults.isEmpty, "version 1: \(faults)")
        try opened.backend.fold()
        let names = opened.backend.engine.working.base.file.footer.trees.map(\.name)
        try agree(!names.contains { $0.hasPrefix("m.") || $0 == "migration" }, "\(names)")
        try opened.backend.close()
        do {
          _ = try open(image, 2, seed: 6)
          return "it was migrated again"
        } catch StoreError.rolledBack(from: 2, to: 1) {}
      } catch StoreError.newerSchema(found: 2, supported: 1) {
        try agree(!isOver, "it was not rolled back")
        let opened = try open(medium.crashed(policy), 2, seed: 7)
        let found = StoreSnapshot(opened.types, try opened.backend.snapshot())
        try agree(
          try found.fetch(Left.Second.self)
            == (Array(0..<count) + [1_000, 1_001]).map { Left.Second($0) },
          "version 2 has other records")
        let faults = try found.check()
        try agree(faults.isEmpty, "version 2: \(faults)")
        try agree(
          found.keptVersions.map(\.version) == [1], "version 1 is kept no more")
      }
      let backend = try EngineBackend.simulated(on: medium.crashed(policy), seed: 8)
      let pages = backend.engine.working.base.file.check(sizes: .forLongKeys)
      try agree(pages.isEmpty, "\(pages)")
    } catch {
      return "\(error)"
    }
    return nil
  }

  @Test func `a crash before any call leaves one version or the other, whole`() throws {
    let medium = try Self.made()
    var count = 0
    var violations: [String] = []
    let stride = scaled(1, debug: 3)
    medium.beforeEachCall { call in
      guard call % stride == 0 else { return }
      for policy in CrashPolicy.some(4, pending: medium.pendingCount, seed: UInt64(call)) {
        count += 1
        if let violation = Self.violation(in: medium, policy) {
          violations.append("call \(call), \(policy): \(violation)")
        }
      }
    }
    try Self.rollBack(medium)
    medium.beforeEachCall(nil)
    for violation in violations.prefix(5) { Issue.record("\(violation)") }
    #expect(count > scaled(60, debug: 20))
    #expect(Self.violation(in: medium, .none, isOver: true) == nil)
    print("rolling back: \(count.grouped) crash images, \(violations.count) violations")
  }

  @Test func `a call that fails leaves one version or the other, and it can be tried again`() throws
  {
    let whole = try Self.made()
    let start = whole.callCount
    try Self.rollBack(whole)
    var count = 0
    for call in stride(from: start, to: whole.callCount, by: scaled(1, debug: 5)) {
      for fault in [Fault.error(.ioError), .error(.noSpace), .flush(.errorCacheReverts)] {
        guard fault.applies(to: whole.calls[call].operation) else { continue }
        let medium = try Self.made()
        medium.inject(fault, at: .call(call), .once)
        count += 1
        do {
          try Self.rollBack(medium)
        } catch let error as StoreError {
          switch error {
          case .io, .full, .poisoned, .outcomeUnknown, .corrupt: break
          default: throw error
          }
        }
        medium.heal()
        medium.restart()
        if let violation = Self.violation(in: medium, .none) {
          Issue.record("\(fault) at call \(call): \(violation)")
        }
        do {
          try Self.rollBack(medium)
        } catch StoreError.notKept(version: 1, kept: []) {}
        if let violation = Self.violation(in: medium, .none, isOver: true) {
          Issue.record("\(fault) at call \(call), again: \(violation)")
        }
      }
    }
    print("rolling back: \(count.grouped) failed calls")
  }
}

private enum Left {
  @RecordDescription.ResultBuilder
  static func description(_ version: Int) -> RecordDescription {
    RecordName("Item")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(
      name: version == 1 ? "title" : "name", type: .string, unique: version == 2,
      migrationInfo: version == 1 ? nil : .init(renamingID: "title"))
    if version == 2 {
      Field(name: "count", type: .integer, indexed: true, migrationInfo: .init(default: 3))
    }
  }

  struct First: Record, Equatable {
    var id: Int
    var title: String
    init(_ id: Int) {
      self.id = id
      title = "title \(id)"
    }
    static func recordDescription(for version: Int) -> RecordDescription { description(version) }
  }

  struct Second: Record, Equatable {
    var id: Int
    var name: String
    var count: Int
    init(_ id: Int) {
      self.id = id
      name = "title \(id)"
      count = 3
    }
    static func recordDescription(for version: Int) -> RecordDescription { description(version) }
  }
}
