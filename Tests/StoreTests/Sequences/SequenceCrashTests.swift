import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The power goes before every call, or a call fails, while records are numbered: no number is given twice, and the next one is
/// that after the last commit that was left.
@Suite struct SequenceCrashTests {
  private struct World: Equatable {
    var tickets: [QueueTicket]
    var bills: [Bill]
    /// The numbers that the next records get.
    var next: [Int]

    private struct Stop: Error {}

    init(_ store: PersistentStore) throws {
      tickets = try store.fetch(QueueTicket.self)
      bills = try store.fetch(Bill.self)
      var next: [Int] = []
      do {
        try store.write { transaction in
          next.append(try transaction.insertAndFetch(QueueTicket("next")).id)
          let bill = try transaction.insertAndFetch(Bill(-1))
          next += [bill.number ?? 0, Int(bill.page)]
          throw Stop()
        }
      } catch is Stop {}
      self.next = next
    }
  }

  private static func commit(_ number: Int, _ transaction: inout WriteTransaction) throws {
    switch number {
    case 0:
      for index in 0..<20 { try transaction.insert(QueueTicket("a \(index)")) }
    case 1:
      for id in 0..<10 { try transaction.insert(Bill(id)) }
      try transaction.save(QueueTicket("own", id: 100))
    case 2:
      // The greatest numbers go, and are not given again.
      try transaction.delete(QueueTicket.self, key: 100)
      try transaction.delete(Bill.self, key: 9)
    case 3:
      try transaction.insert(QueueTicket("b"))
      try? transaction.savepoint { transaction in
        try transaction.insert(QueueTicket("c"))
        try transaction.insert(QueueTicket("b"))
      }
    default:
      for id in 20..<40 { try transaction.insert(Bill(id)) }
      try transaction.deleteAll(QueueTicket.self)
    }
  }

  private static func sweep(spilling: Bool) -> CommitSweep<World> {
    CommitSweep(
      name: "sequences", model: StoreModel(records: [QueueTicket.self, Bill.self]), commitCount: 5,
      transactionBudget: spilling ? 2 << 10 : nil, commit: commit, world: World.init)
  }

  @Test func `each commit leaves the next numbers`() throws {
    #expect(
      try Self.sweep(spilling: false).worlds().map(\.next) == [
        [1, 1_000, 5], [21, 1_000, 5], [101, 1_010, 105], [101, 1_010, 105], [102, 1_010, 105],
        [102, 1_030, 305],
      ])
  }

  @Test(arguments: [false, true])
  func `crashes before any call leave numbers as a commit left them, X1, X2`(
    spilling: Bool
  ) throws {
    let findings = try Self.sweep(spilling: spilling).crash(stride: scaled(1, debug: 7))
    #expect(findings.violations == [])
    #expect(findings.count > scaled(200, debug: 20))
  }

  @Test(arguments: [false, true])
  func `a call that fails leaves numbers as a commit left them, X4`(spilling: Bool) throws {
    let findings = try Self.sweep(spilling: spilling).fail(stride: scaled(1, debug: 17))
    #expect(findings.violations == [])
    #expect(findings.count > scaled(40, debug: 3))
  }
}
