import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The power goes before every call, or a call fails, while hooks change other records: a store is as one of the commits
/// left it, so no branch is without the one it grows on.
@Suite struct HookCrashTests {
  /// A branch of a tree, which takes with it all that grows on it.
  private struct Branch: Record, Equatable {
    var id: Int
    var parent: Int?
    var label: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "parent", type: .integer, optional: true, indexed: true)
      Field(name: "label", type: .string, unique: true)
    }

    static var hooks: RecordHooks<Branch> {
      RecordHooks(
        beforeInsert: { branch, transaction in
          guard let parent = branch.parent else { return }
          guard var below = try transaction.fetch(Branch.self, key: parent) else {
            throw Refusal()
          }
          below.label += "+"
          try transaction.update(below)
        },
        beforeDelete: { branch, transaction in
          try transaction.delete(Branch.self, where: \.parent == branch.id)
          if branch.label.hasPrefix("oak") { throw Refusal() }
        })
    }
  }

  private struct Refusal: Error {}

  private static func open(_ medium: SimulatedFileSystem, seed: UInt64) throws -> PersistentStore {
    let backend = try EngineBackend.simulated(on: medium, seed: seed)
    let model = StoreModel(records: [Branch.self])
    let opening = try StoreOpening(model, steps: [], .automatic, StoreOptions())
    return PersistentStore(try opening.open(backend), StoreOptions())
  }

  private static let commitCount = 7

  /// What a program does with the store, a commit after the other.
  private static func commit(_ number: Int, _ transaction: inout WriteTransaction) throws {
    switch number {
    case 0..<4:
      let root = number * 10
      let name = number == 2 ? "oak" : "tree"
      try transaction.insert(Branch(id: root, parent: nil, label: "\(name) \(root)"))
      for id in root + 1..<root + 7 {
        try transaction.insert(
          Branch(id: id, parent: root + (id - root - 1) / 2, label: "\(id)"))
      }
    case 4:
      try transaction.delete(Branch.self, key: 0)
    case 5:
      // What is refused goes back wholly, with what its hooks did; the rest is committed.
      try transaction.delete(Branch.self, key: 31)
      do { try transaction.delete(Branch.self, key: 20) } catch is Refusal {}
      do { try transaction.insert(Branch(id: 99, parent: 0, label: "none")) } catch is Refusal {}
    default:
      let label = try transaction.fetch(Branch.self, key: 10)?.label ?? ""
      try transaction.insert(Branch(id: 50, parent: 21, label: label), onConflict: .replaceOther)
    }
  }

  private static func live(_ store: PersistentStore) throws {
    for number in 0..<commitCount { try store.write { try commit(number, &$0) } }
    try store.close()
  }

  /// The records after each commit, and before the first.
  private static func states() throws -> [[Branch]] {
    let store = try PersistentStore(inMemory: StoreModel(records: [Branch.self]))
    var states = [try store.fetch(Branch.self)]
    for number in 0..<commitCount {
      try store.write { try commit(number, &$0) }
      states.append(try store.fetch(Branch.self))
    }
    return states
  }

  private static func violation(
    in medium: SimulatedFileSystem, of states: [[Branch]]
  ) -> String? {
    do {
      let store = try open(medium, seed: 3)
      let found = try store.fetch(Branch.self)
      let ids = Set(found.map(\.id))
      try agree(states.contains(found), "no commit left \(found.map(\.label))")
      try agree(found.allSatisfy { $0.parent.map(ids.contains) ?? true }, "a branch is in the air")
      let faults = try store.snapshot().check()
      try agree(faults.isEmpty, "\(faults)")
      try store.close()
    } catch {
      return "\(error)"
    }
    return nil
  }

  @Test func `what hooks do is there with what they belong to, or neither is`() throws {
    let states = try Self.states().map(\.count)
    #expect(states == [0, 7, 14, 21, 28, 21, 18, 12])
  }

  @Test func `a crash before any call leaves what hooks did whole or undone, X1`() throws {
    let states = try Self.states()
    let medium = SimulatedFileSystem()
    let store = try Self.open(medium, seed: 1)
    var count = 0
    var violations: [String] = []
    let stride = scaled(1, debug: 3)
    medium.beforeEachCall { call in
      guard call % stride == 0 else { return }
      for policy in CrashPolicy.some(4, pending: medium.pendingCount, seed: UInt64(call)) {
        count += 1
        if let violation = Self.violation(in: medium.crashed(policy), of: states) {
          violations.append("call \(call), \(policy): \(violation)")
        }
      }
    }
    try Self.live(store)
    medium.beforeEachCall(nil)
    for violation in violations.prefix(5) { Issue.record("\(violation)") }
    #expect(count > scaled(60, debug: 20))
    print("hooks: \(count.grouped) crash images, \(violations.count) violations")
  }

  @Test func `a call that fails leaves what hooks did whole or undone, X4`() throws {
    let states = try Self.states()
    let whole = SimulatedFileSystem()
    let store = try Self.open(whole, seed: 1)
    let start = whole.callCount
    try Self.live(store)
    var count = 0
    for call in stride(from: start, to: whole.callCount, by: scaled(1, debug: 5)) {
      for fault in [Fault.error(.ioError), .error(.noSpace), .flush(.errorCacheReverts)] {
        guard fault.applies(to: whole.calls[call].operation) else { continue }
        let medium = SimulatedFileSystem()
        let store = try Self.open(medium, seed: 1)
        medium.inject(fault, at: .call(call), .once)
        count += 1
        do {
          try Self.live(store)
        } catch let error as StoreError {
          switch error {
          case .io, .full, .poisoned, .outcomeUnknown: break
          default: throw error
          }
        }
        medium.heal()
        medium.restart()
        if let violation = Self.violation(in: medium, of: states) {
          Issue.record("\(fault) at call \(call): \(violation)")
        }
      }
    }
    #expect(count > scaled(60, debug: 10))
    print("hooks: \(count.grouped) failed calls")
  }
}
