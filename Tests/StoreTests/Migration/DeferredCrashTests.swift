import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The power goes before every call of a deferred migration, of writes on top of it and of its end, and again while
/// the next open goes on.
@Suite struct DeferredCrashTests {
  private static let count = 60

  private static func model(_ version: Int) -> StoreModel {
    StoreModel(
      version: version, records: [version == 1 ? Postponed.First.self : Postponed.Second.self])
  }

  private final class Opened {
    let backend: EngineBackend
    let types: Entities

    /// Opens the store in `medium` as a program of a version does.
    init(
      _ medium: SimulatedFileSystem, _ version: Int, _ mode: MigrationMode = .deferred,
      seed: UInt64
    ) throws {
      backend = try EngineBackend.simulated(on: medium, seed: seed)
      let model = model(version)
      var options = StoreOptions()
      options.migration.sliceCount = 7
      types = try StoreOpening(model, mode, options).entities(of: backend)
    }

    var snapshot: StoreSnapshot { get throws { StoreSnapshot(types, try backend.snapshot()) } }

    func save<Subject: Record>(_ records: some Sequence<Subject>) throws {
      let type = try types.type(Subject.self)
      let (row, key) = (RowWriter(), KeyEncoder())
      try backend.commit { trees throws(StoreError) in
        let writer = RecordWriter(trees, types)
        for record in records {
          try type.encode(record, to: row, key: key)
          try writer.write(key.key, row.row, of: type, presence: .any, onConflict: .refuse)
        }
      }
    }

    func finish(_ budget: WorkBudget = .unlimited) throws -> Bool {
      let backend = backend
      var finishing = DeferredFinishing(backend, types, budget, sliceCount: 7) {
        body throws(StoreError) in try backend.commit(body)
      }
      return try finishing.run()
    }
  }

  /// A store of version 1, closed or not.
  private static func made(closed: Bool) throws -> SimulatedFileSystem {
    let medium = SimulatedFileSystem()
    let opened = try Opened(medium, 1, seed: 1)
    let records = (0..<count).map { Postponed.First($0) }
    try opened.save(records[..<40])
    try opened.save(records[40...])
    if closed { try opened.backend.close() } else { try opened.backend.seal() }
    return medium
  }

  /// Publishes, writes, and finishes with writes in between.
  private static func life(_ medium: SimulatedFileSystem, seed: UInt64) throws {
    let opened = try Opened(medium, 2, seed: seed)
    try opened.save([Postponed.Second(3).changed])
    _ = try opened.finish(.records(14))
    try opened.save([Postponed.Second(50).changed])
    try opened.backend.fold()
    while try opened.finish(.records(20)) {}
  }

  /// What an image must be: records as they were, but for the two that were perhaps changed.
  private static func violation(
    in medium: SimulatedFileSystem, _ policy: CrashPolicy, twice: Bool
  ) -> String? {
    do {
      let old = medium.crashed(policy)
      do {
        let opened = try Opened(old, 1, .refuse, seed: 5)
        try agree(
          try opened.snapshot.fetch(Postponed.First.self)
            == (0..<count).map { Postponed.First($0) }, "version 1 has other records")
      } catch StoreError.newerSchema(found: 2, supported: 1) {}
      let image = medium.crashed(policy)
      let second = twice ? image.crashedWithin { try life($0, seed: 8) } : [image]
      for image in second {
        let opened = try Opened(image, 2, seed: 6)
        try check(opened, "opened")
        _ = try opened.finish(.records(20))
        try check(opened, "after some slices")
        try agree(try !opened.finish(), "something is left")
        try check(opened, "finished")
        try agree(try opened.snapshot.pendingMigration() == nil, "something is pending")
        let pages = opened.backend.engine.working.base.file.check(sizes: .forLongKeys)
        try agree(pages.isEmpty, "\(pages)")
        try opened.backend.close()
        try check(try Opened(image, 2, .refuse, seed: 7), "opened again")
      }
    } catch {
      return "\(error)"
    }
    return nil
  }

  private static func check(_ opened: Opened, _ moment: String) throws {
    let found = try opened.snapshot
    let records = try found.fetch(Postponed.Second.self)
    try agree(records.count == count, "\(moment): \(records.count) records")
    for (id, record) in records.enumerated() {
      let plain = Postponed.Second(id)
      let isRight = record == plain || [3, 50].contains(id) && record == plain.changed
      try agree(isRight, "\(moment): \(record)")
    }
    let faults = try found.check()
    try agree(faults.isEmpty, "\(moment): \(faults)")
  }

  @Test(arguments: [false, true])
  func `a crash at any moment of a deferred migration, and another, lose nothing, O1 O3 O4 X1`(
    closed: Bool
  ) throws {
    let medium = try Self.made(closed: closed)
    var count = 0
    var violations: [String] = []
    let stride = scaled(3, debug: 41)
    medium.beforeEachCall { call in
      guard call % stride == 0 else { return }
      for policy in CrashPolicy.some(3, pending: medium.pendingCount, seed: UInt64(call)) {
        count += 1
        let twice = count % 5 == 0
        if let violation = Self.violation(in: medium, policy, twice: twice) {
          violations.append("call \(call), \(policy): \(violation)")
        }
      }
    }
    try Self.life(medium, seed: 2)
    medium.beforeEachCall(nil)
    for violation in violations.prefix(5) { Issue.record("\(violation)") }
    #expect(count > scaled(60, debug: 5))
    print("deferred migration: \(count.grouped) crash images, \(violations.count) violations")
  }

  @Test func `a call that fails while a migration is deferred or finished loses nothing, O1 O3 X2`()
    throws
  {
    let whole = try Self.made(closed: true)
    let start = whole.callCount
    try Self.life(whole, seed: 2)
    var count = 0
    for call in stride(from: start, to: whole.callCount, by: scaled(1, debug: 31)) {
      for fault in [Fault.error(.ioError), .error(.noSpace), .flush(.errorCacheReverts)] {
        let medium = try Self.made(closed: true)
        guard fault.applies(to: whole.calls[call].operation) else { continue }
        medium.inject(fault, at: .call(call), .once)
        count += 1
        do {
          try Self.life(medium, seed: 2)
        } catch let error as StoreError {
          switch error {
          case .io, .full, .poisoned, .outcomeUnknown, .corrupt: break
          default: throw error
          }
        }
        medium.heal()
        if let violation = Self.violation(in: medium, .none, twice: false) {
          Issue.record("\(fault) at call \(call): \(violation)")
        }
      }
    }
    print("deferred migration: \(count.grouped) failed calls")
  }
}

extension SimulatedFileSystem {
  /// What is found after crashes within `body`, and at its end.
  fileprivate func crashedWithin(_ body: (SimulatedFileSystem) throws -> Void)
    -> [SimulatedFileSystem]
  {
    var images: [SimulatedFileSystem] = []
    var next = 1
    beforeEachCall { call in
      guard call >= next, images.count < 6 else { return }
      next = call + 37
      let policies = CrashPolicy.some(1, pending: self.pendingCount, seed: UInt64(call))
      images += policies.map { self.crashed($0) }
    }
    try? body(self)
    beforeEachCall(nil)
    return images + [crashed(.none)]
  }
}

private enum Postponed {
  @RecordDescription.ResultBuilder
  static func description(_ version: Int) -> RecordDescription {
    RecordName("Item")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(
      name: version == 1 ? "title" : "name", type: .string, indexed: true,
      migrationInfo: version == 1 ? nil : .init(renamingID: "title"))
    if version == 1 {
      Field(name: "size", type: .int16, indexed: true)
      Field(name: "rest", type: .string)
    } else {
      Field(name: "size", type: .int64, optional: true, indexed: true)
      Field(name: "count", type: .integer, indexed: true, migrationInfo: .init(default: 3))
    }
  }

  struct First: Record, Equatable {
    var id: Int
    var title: String
    var size: Int16
    var rest = "rest"
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
    var size: Int64?
    var count: Int
    init(_ id: Int) {
      let first = First(id)
      self.id = id
      name = first.title
      size = Int64(first.size)
      count = 3
    }
    static func recordDescription(for version: Int) -> RecordDescription { description(version) }

    var changed: Second {
      var record = self
      record.size = nil
      record.count = 4
      record.name = "n"
      return record
    }
  }
}
