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
          try transaction.delete(Branch.where { $0.parent == branch.id })
          if branch.label.hasPrefix("oak") { throw Refusal() }
        })
    }
  }

  private struct Refusal: Error {}

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

  private static var sweep: CommitSweep<[Branch]> {
    CommitSweep(
      name: "hooks", model: StoreModel(records: [Branch.self]), commitCount: 7, commit: commit
    ) { store in
      let branches = try store.fetch(Branch.self)
      let ids = Set(branches.map(\.id))
      let areAttached = branches.allSatisfy { $0.parent.map(ids.contains) ?? true }
      try agree(areAttached, "a branch is in the air")
      return branches
    }
  }

  @Test func `what hooks do is there with what they belong to, or neither is`() throws {
    #expect(try Self.sweep.worlds().map(\.count) == [0, 7, 14, 21, 28, 21, 18, 12])
  }

  @Test func `crashes before any call leave what hooks did whole or undone, X1, X2`() throws {
    let findings = try Self.sweep.crash(stride: scaled(1, debug: 3))
    #expect(findings.violations == [])
    #expect(findings.count > scaled(150, debug: 40))
  }

  @Test func `a call that fails leaves what hooks did whole or undone, X4`() throws {
    let findings = try Self.sweep.fail(stride: scaled(1, debug: 5))
    #expect(findings.violations == [])
    #expect(findings.count > scaled(60, debug: 10))
  }
}
