import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The power goes before every call, or a call fails, while records are imported: of an import there is all or nothing.
@Suite struct ImportCrashTests {
  private struct Owner: Record, Identifiable, Equatable {
    var id: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
    }
  }

  private struct Item: Record, Identifiable, Equatable {
    var id: Int
    var code: String
    var note: String
    var owner: Reference<Owner>

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "code", type: .string, unique: true)
      Field(name: "note", type: .string)
      Field(name: "owner", type: .reference(to: Owner.self))
    }
  }

  private struct World: Equatable {
    var owners: [Owner]
    var items: [Item]
  }

  private static func commit(_ number: Int, _ transaction: inout WriteTransaction) throws {
    // Half of them are there after the first, and owners come after their items.
    let ids = (0..<60).map { ($0 * 37 + number * 30) % 120 }
    try transaction.importRecords(Item.self, from: ids, id: \.self) { id, existing in
      var item =
        existing ?? Item(id: id, code: "\(id)", note: "", owner: Reference(id % 5 + number))
      item.note += String(repeating: "\(number)", count: 40)
      return item
    }
    let owners = (0..<5).map { "{\"id\":\($0 + number)}" }.joined(separator: "\n")
    try transaction.importRecords(Owner.self, decoding: Data(owners.utf8), merging: number == 1)
  }

  private static func sweep(spilling: Bool) -> CommitSweep<World> {
    CommitSweep(
      name: spilling ? "imports that spill" : "imports",
      model: StoreModel(records: [Owner.self, Item.self]), commitCount: 3,
      transactionBudget: spilling ? 4_000 : nil, commit: commit
    ) { store in
      World(owners: try store.fetch(Owner.self), items: try store.fetch(Item.self))
    }
  }

  @Test(arguments: [false, true])
  func `crashes before any call leave an import whole or undone, X1, X2`(spilling: Bool) throws {
    let findings = try Self.sweep(spilling: spilling).crash(stride: scaled(1, debug: 7))
    #expect(findings.violations == [])
    #expect(findings.count > scaled(100, debug: 20))
  }

  @Test(arguments: [false, true])
  func `a call that fails leaves an import whole or undone, X4`(spilling: Bool) throws {
    let findings = try Self.sweep(spilling: spilling).fail(stride: scaled(1, debug: 17))
    #expect(findings.violations == [])
    #expect(findings.count > 0)
  }
}
