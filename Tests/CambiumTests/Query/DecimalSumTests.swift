import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium

private struct Price: Record {
  var id: Int
  var amount: Decimal
  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "amount", type: .decimal)
  }
}

/// Sums of decimals at the edges of what decimals are.
@Suite struct DecimalSumTests {
  private func sums(_ amounts: [Decimal]) throws -> (sum: Decimal?, average: Decimal?) {
    let store = try PersistentStore(inMemory: StoreModel(records: [Price.self]))
    try store.write { transaction in
      for (id, amount) in amounts.enumerated() {
        try transaction.save(Price(id: id, amount: amount))
      }
    }
    return (
      try store.sum(\.amount, of: Query<Price>()), try store.average(\.amount, of: Query<Price>())
    )
  }

  private func power(_ exponent: Int, _ significand: Decimal = 1) -> Decimal {
    Decimal(sign: .plus, exponent: exponent, significand: significand)
  }

  @Test func `are exact where they fit, and nothing where they are too high, G11`() throws {
    let highest = Decimal.greatestFiniteMagnitude
    #expect(try sums([power(-2, 10), power(-2, 20)]).sum == power(-1, 3))
    #expect(try sums([1, 2, 4]).average?.description.hasPrefix("2.33333333333333") == true)
    #expect(try sums([highest, -highest]).sum == 0)
    #expect(throws: StoreError.self) { try sums([highest, highest]) }
    #expect(try sums([power(127), power(-128)]).sum == power(127))
    #expect(try sums([power(-128), power(-128)]).sum == power(-128, 2))
    #expect(try sums([power(-128), 0, 0]).average != nil)
    #expect(try sums([1, .nan]).sum?.isNaN == true)
    #expect(try sums([1, .nan, 1]).average?.isNaN == true)
    #expect(try sums([]).sum == 0)
    #expect(try sums([]).average == nil)
  }
}
