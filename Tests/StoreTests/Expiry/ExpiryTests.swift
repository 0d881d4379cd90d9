import FoundationEssentials
import Synchronization
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Records that the store deletes some time after a date.
@Suite struct ExpiryTests {
  private struct Stop: Error {}

  private let clock = TestClock()
  private let model = StoreModel(records: [Lease.self])

  // MARK: Which records

  @Test func `A26: a record expires when its date and the delay have passed, and not before`()
    throws
  {
    try withStore(model, clock.options()) { store in
      for (id, end) in [0.0, 100, 100.5, 101, 1_000_000].enumerated() {
        try store.save(Lease(id, end: end))
      }
      try store.save(Lease(9))
      let table: [(now: Int, left: [Int])] = [
        (-5_000, [0, 1, 2, 3, 4, 9]), (3_599, [0, 1, 2, 3, 4, 9]), (3_600, [1, 2, 3, 4, 9]),
        (3_699, [1, 2, 3, 4, 9]), (3_700, [2, 3, 4, 9]), (3_701, [4, 9]), (1_003_599, [4, 9]),
        (1_003_600, [9]), (2_000_000_000, [9]),
      ]
      var count = 6
      for row in table {
        clock.set(row.now)
        let report = try store.collectExpired()
        #expect(try store.fetch(Lease.self).map(\.id) == row.left, "\(row)")
        #expect(report.deleted == count - row.left.count && report.kept == 0)
        count = row.left.count
      }
    }
  }

  @Test func `a record that is used again before it is collected stays`() throws {
    try withStore(model, clock.options()) { store in
      for id in 0..<300 { try store.save(Lease(id, end: 0)) }
      clock.set(3_600)
      for id in 100..<200 { try store.save(Lease(id, end: 1)) }
      try store.save(Lease(250))
      #expect(try store.collectExpired().deleted == 199)
      #expect(try store.fetch(Lease.self).map(\.id) == Array(100..<200) + [250])
      #expect(try store.collectExpired().deleted == 0)
    }
  }

  @Test func `observers, the history and undo see an expired record as any that is deleted`() throws
  {
    var options = clock.options()
    options.history = HistoryOptions(keepsOldValues: true)
    try withStore(model, options) { store in
      for id in 0..<5 { try store.save(Lease(id, end: Double(id))) }
      let start = try store.snapshot().historyCursor
      clock.set(3_602)
      try store.collectExpired()
      #expect(try store.fetch(Lease.self).map(\.id) == [3, 4])
      try store.undo(since: start, by: PersistentStore.expiryAuthor)
      #expect(try store.fetch(Lease.self).map(\.id) == [0, 1, 2, 3, 4])
    }
  }

  // MARK: Relations and hooks

  private static let session = description {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "end", type: .date, indexed: true)
    Expiry("end")
  }

  private static func model(_ rule: DeleteRule, optional: Bool) -> StoreModel {
    let visit = description {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(
        name: "session", type: .reference(to: "Session", checked: rule != .noAction),
        optional: optional)
    }
    let session = RecordDescription(
      session.elements + inverse("visits", of: "session", in: "Visit", rule).elements)
    return untyped(("Session", session), ("Visit", visit))
  }

  @Test(arguments: [DeleteRule.cascade, .nullify, .deny, .noAction])
  func `A26: an expired record is deleted as any other, with every delete rule`(
    rule: DeleteRule
  ) throws {
    try withStore(Self.model(rule, optional: true), clock.options()) { store in
      try store.write { transaction in
        for id in 0..<200 as Range<Int64> {
          let end = Date(timeIntervalSinceReferenceDate: Double(id))
          try transaction.save(.of("Session", id, ["end": .date(end)]))
        }
        // Every tenth session has visits.
        for id in 0..<40 as Range<Int64> {
          try transaction.save(.of("Visit", id, ["session": .integer(id % 20 * 10)]))
        }
      }
      clock.set(149)
      let report = try store.collectExpired()
      let sessions = try store.count(record: "Session", where: nil)
      let visits = try store.fetch(record: "Visit", where: nil)
      switch rule {
      case .cascade:
        #expect(report.deleted == 150 && report.kept == 0 && sessions == 50)
        #expect(visits.count == 10)
      case .nullify:
        #expect(report.deleted == 150 && report.kept == 0 && sessions == 50)
        #expect(visits.count == 40)
        #expect(visits.count { $0["session"] == .null } == 30)
      case .deny:
        #expect(report.deleted == 135 && report.kept == 15 && sessions == 65)
        #expect(visits.count == 40)
        #expect(report.refusals.count == 10)
        #expect(report.refusals[0].record == "Session" && report.refusals[0].key == "0")
        guard case StoreError.deleteDenied? = report.refusals[0].error as? StoreError else {
          Issue.record("\(report.refusals[0].error)")
          return
        }
        #expect("\(report)".contains("135 expired records were deleted; 15 stayed"))
        // They expire as soon as nothing denies it.
        try store.write { transaction in
          for id in 0..<40 as Range<Int64> { _ = try transaction.delete(record: "Visit", key: id) }
        }
        #expect(try store.collectExpired().deleted == 15)
      case .noAction:
        #expect(report.deleted == 150 && report.kept == 0 && sessions == 50)
        #expect(visits.count == 40 && visits.allSatisfy { $0["session"] != .null })
      }
    }
  }

  private struct Kept: Record, Equatable {
    var id: Int
    var end: Date

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "end", type: .date, indexed: true)
      Expiry("end")
    }

    static var hooks: RecordHooks<Kept> {
      RecordHooks(beforeDelete: { record, _ in if record.id % 7 == 3 { throw Stop() } })
    }
  }

  @Test func `a hook before deletion runs, and keeps a record that it throws for`() throws {
    try withStore(StoreModel(records: [Kept.self]), clock.options()) { store in
      for id in 0..<500 { try store.save(Kept(id: id, end: .distantPast)) }
      let report = try store.collectExpired()
      let kept = (0..<500).filter { $0 % 7 == 3 }
      #expect(report.deleted == 500 - kept.count && report.kept == kept.count)
      #expect(report.refusals.allSatisfy { $0.error is Stop })
      #expect(try store.fetch(Kept.self).map(\.id) == kept)
    }
  }

  // MARK: In the background

  @Test(.timeLimit(.minutes(60)))
  func `an open store collects by itself, while others write`() async throws {
    let directory = try TemporaryDirectory()
    let store = try await PersistentStore(
      at: directory.path + "/s", model: model, options: clock.options(every: .milliseconds(20)))
    for id in 0..<1_000 { try await store.save(Lease(id, end: Double(id)), durability: .relaxed) }
    clock.set(3_600 + 699)
    var count = 1_000
    while count > 300 {
      try await store.save(Lease(5_000), durability: .relaxed)
      _ = try await store.write { try $0.delete(Lease.self, key: 5_000) }
      count = try store.count(Lease.self)
    }
    #expect(try store.fetch(Lease.self).map(\.id) == Array(700..<1_000))
    try store.expectSound()
    try await store.close()
  }

  @Test(arguments: [Duration.seconds(Int64.min), .zero, .seconds(Int64.max), .seconds(60)])
  func `a store with any interval collects once it is opened, and closes at once`(
    interval: Duration
  ) throws {
    let directory = try TemporaryDirectory()
    let first = try PersistentStore(
      at: directory.path + "/s", model: model, options: clock.options())
    for id in 0..<10 { try first.save(Lease(id, end: 0)) }
    try first.close()
    clock.set(3_600)
    let store = try PersistentStore(
      at: directory.path + "/s", model: model, options: clock.options(every: interval))
    let deadline = ContinuousClock.now + .seconds(60)
    while try store.count(Lease.self) > 0 {
      #expect(ContinuousClock.now < deadline)
      if ContinuousClock.now >= deadline { break }
    }
    try store.close()
  }

  @Test func `a store that is released while it collects is closed, and can be opened again`()
    throws
  {
    let directory = try TemporaryDirectory()
    clock.set(3_600)
    for round in 0..<5 {
      let store = try PersistentStore(
        at: directory.path + "/s", model: model,
        options: clock.options(every: .milliseconds(10)).waiting)
      try store.write { transaction in
        for id in 0..<400 { try transaction.save(Lease(round * 400 + id, end: 0)) }
      }
    }
    let store = try PersistentStore(
      at: directory.path + "/s", model: model, options: clock.options().waiting)
    try store.collectExpired()
    #expect(try store.count(Lease.self) == 0)
    try store.close()
  }

  @Test func `readers, and stores without types, collect nothing by themselves`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/s"
    let first = try PersistentStore(at: path, model: model, options: clock.options())
    try first.save(Lease(1, end: 0))
    try first.close()
    clock.set(3_600)
    var options = clock.options(every: .milliseconds(10))
    options.access = .reading
    let reader = try PersistentStore(at: path, model: model, options: options)
    let refused = storeError { try reader.collectExpired() }
    guard case .readOnly? = refused else {
      Issue.record("\(String(describing: refused))")
      return
    }
    try reader.close()
    options.access = .writingExisting
    let untyped = try PersistentStore(untypedAt: path, options: options)
    #expect(try untyped.count(record: "Lease", where: nil) == 1)
    #expect(try untyped.collectExpired().deleted == 1)
    try untyped.close()
  }

  // MARK: Many

  @Test func `collections at random leave the records of a model`() throws {
    replaying(0..<UInt64(scaled(40, debug: 8))) { seed in
      var random = SplitMix64(seed: seed)
      let clock = TestClock()
      let store = try PersistentStore(inMemory: model, options: clock.options())
      var leases: [Int: Lease] = [:]
      var now = 0
      for _ in 0..<60 {
        switch random.next() % 4 {
        case 0:
          now += Int(random.next() % 3_000)
          clock.set(now)
        case 1:
          let report = try store.collectExpired()
          let before = leases.count
          leases = leases.filter { _, lease in
            guard let end = lease.end else { return true }
            return end.timeIntervalSinceReferenceDate + 3_600 > Double(now)
          }
          try agree(report.deleted == before - leases.count, "\(report)")
        default:
          try store.write { transaction in
            for _ in 0..<random.next() % 200 {
              let id = Int(random.next() % 500)
              let end =
                random.next() % 9 == 0 ? nil : Double(now) + Double(random.next() % 5_000) - 2_500
              leases[id] = Lease(id, end: end)
              try transaction.save(Lease(id, end: end))
            }
          }
        }
        let found = try store.fetch(Lease.self)
        try agree(found == leases.values.sorted { $0.id < $1.id }, "\(found.count) records")
      }
      try agree(try store.snapshot().check().isEmpty, "the store is damaged")
      try store.close()
    }
  }

  @Test func `a task that is cancelled ends a collection after a transaction`() throws {
    try withStore(model, clock.options()) { store in
      for id in 0..<1_000 { try store.save(Lease(id, end: 0)) }
      clock.set(3_600)
      var asked = 0
      let report = try store.collectExpired(endsWhen: {
        asked += 1
        return asked > 2
      })
      #expect(report.isPartial && report.deleted > 0 && report.deleted < 1_000)
      #expect(try store.count(Lease.self) == 1_000 - report.deleted)
      #expect(try store.collectExpired().isPartial == false)
      #expect(try store.count(Lease.self) == 0)
    }
  }
}

extension StoreOptions {
  /// The same options, for a store whose last writer may be about to end.
  fileprivate var waiting: StoreOptions {
    var options = self
    options.lock = .wait(for: .seconds(60))
    return options
  }
}
