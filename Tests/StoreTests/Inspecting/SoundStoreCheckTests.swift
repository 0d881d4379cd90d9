import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The deep check believes a store whose parts are right, however they came about.
@Suite struct SoundStoreCheckTests {
  private struct Owner: Record, Identifiable {
    var id: Int
    var total = 0
    var exact: Decimal = 0
    static let parts = Inverse("parts", of: \Part.owner)
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "total", type: .integer, derived: .sum(of: "parts", "count"))
      Field(name: "exact", type: .decimal, derived: .sum(of: "parts", "amount"))
      parts
    }
  }

  private struct Part: Record, Identifiable {
    var id: Int
    var owner: Reference<Owner>?
    var count = 0
    var amount: Decimal = 0
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "owner", type: .reference(to: Owner.self), optional: true)
      Field(name: "count", type: .integer)
      Field(name: "amount", type: .decimal)
    }
  }

  private static let model = StoreModel(records: [Owner.self, Part.self])
  private let large = Decimal(sign: .plus, exponent: 60, significand: 1)

  @Test func `sums that are out of range on the way and in range at the end are right`() throws {
    let directory = try TemporaryDirectory()
    let store = try PersistentStore(at: directory.path + "/store", model: Self.model)
    try store.save(Owner(id: 1))
    // In the order of their keys, the first two are beyond 64 bits, and no decimal.
    for (id, count, amount) in [(1, Int.max, large), (3, -5, -large), (2, 4, 1)] {
      try store.save(Part(id: id, owner: Reference(1), count: count, amount: amount))
    }
    #expect(try store.fetch(Owner.self, key: 1)?.total == .max - 1)
    #expect(try store.fetch(Owner.self, key: 1)?.exact == 1)
    #expect(try store.snapshot().check() == [])
    try store.close()
    #expect(try PersistentStore.check(at: directory.path + "/store", .deep).isWhole)
  }
}
