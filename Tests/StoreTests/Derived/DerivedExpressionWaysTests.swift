import FoundationEssentials
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Fields derived of expressions, after each way in which a program changes records.
@Suite struct DerivedExpressionWaysTests {
  private struct Bill: Record, Identifiable, Equatable {
    var id: Int
    var total = Decimal(0)
    var dearest: Decimal?

    static let lines = Inverse("lines", of: \BillLine.bill)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(
        name: "total", type: .decimal, indexed: true,
        derived: .sum(of: "lines", value: "price * quantity"))
      Field(
        name: "dearest", type: .decimal, optional: true, indexed: true,
        derived: .maximum(of: "lines", value: "price * quantity"))
      lines
    }
  }

  private struct BillLine: Record, Identifiable, Equatable {
    var id: Int
    var bill: Reference<Bill>?
    var code: Int
    var price: Decimal
    var quantity: Int
    var amount = Decimal(0)

    init(_ id: Int, of bill: Int?, code: Int? = nil, quarters: Int, quantity: Int) {
      self.id = id
      self.bill = bill.map { Reference($0) }
      self.code = code ?? id
      price = Decimal(quarters) / 4
      self.quantity = quantity
    }

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "bill", type: .reference(to: Bill.self), optional: true)
      Field(name: "code", type: .integer, unique: true)
      Field(name: "price", type: .decimal)
      Field(name: "quantity", type: .integer)
      Field(name: "amount", type: .decimal, indexed: true, derived: .value("price * quantity"))
    }
  }

  private struct Undo: Error {}

  private static let ways: [(name: String, change: @Sendable (PersistentStore) throws -> Void)] = [
    ("a save", { try $0.save(BillLine(1, of: 1, quarters: 9, quantity: 5)) }),
    ("an insertion", { try $0.insert(BillLine(20, of: 2, quarters: 1, quantity: 7)) }),
    (
      "an update by a condition",
      { try $0.update(BillLine.where { $0.quantity > 1 }) { $0.price += Decimal(1) / 4 } }
    ),
    (
      "a move to another bill",
      { try $0.update(BillLine.where { $0.id < 3 }) { $0.bill = Reference(3) } }
    ),
    (
      "a save without a type",
      { store in
        try store.write { transaction in
          try transaction.save(
            .of(
              "BillLine", 4, ["bill": 1, "code": 4, "price": .decimal(3), "quantity": 3]))
        }
      }
    ),
    (
      "a line before its bill",
      { store in
        try store.write { transaction in
          try transaction.save(BillLine(30, of: 9, quarters: 4, quantity: 4))
          try transaction.insert(Bill(id: 9, total: 77, dearest: 77))
        }
      }
    ),
    (
      "a conflict that replaces the other",
      {
        try $0.save(
          BillLine(40, of: 2, code: 5, quarters: 2, quantity: 2), onConflict: .replaceOther)
      }
    ),
    (
      "a conflict that updates the other",
      {
        try $0.insert(
          BillLine(41, of: 2, code: 6, quarters: 3, quantity: 3), onConflict: .updateOther)
      }
    ),
    (
      "an import",
      { store in
        try store.importRecords(BillLine.self, from: [2, 7, 50], id: \.self) { id, line in
          var line = line ?? BillLine(id, of: 1, quarters: 0, quantity: 0)
          line.quantity += 2
          line.price += 1
          return line
        }
      }
    ),
    ("a deletion by a condition", { try $0.delete(BillLine.where { $0.quantity == 3 }) }),
    (
      "a savepoint that is undone",
      { store in
        try store.write { transaction in
          try? transaction.savepoint { transaction in
            try transaction.save(BillLine(60, of: 1, quarters: 400, quantity: 400))
            throw Undo()
          }
        }
      }
    ),
    (
      "the deletion of a bill, whose lines have none then", { try $0.delete(Bill.self, key: 3) }
    ),
    ("the deletion of all lines", { store in try store.write { try $0.deleteAll(BillLine.self) } }),
  ]

  private static func check(_ store: PersistentStore, after way: String) throws {
    let lines = try store.fetch(BillLine.self)
    for line in lines {
      #expect(line.amount == line.price * Decimal(line.quantity), "line \(line.id) after \(way)")
      let found = try store.fetch(BillLine.where { $0.amount == line.amount })
      #expect(found.contains(line), "line \(line.id) after \(way)")
    }
    for bill in try store.fetch(Bill.self) {
      let amounts = lines.filter { $0.bill == Reference(bill.id) }.map(\.amount)
      #expect(bill.total == amounts.reduce(0, +), "bill \(bill.id) after \(way)")
      #expect(bill.dearest == amounts.max(), "bill \(bill.id) after \(way)")
      #expect(
        try store.fetch(Bill.where { $0.total == bill.total }).contains(bill),
        "bill \(bill.id) after \(way)")
    }
    try store.expectSound()
  }

  @Test func `after each way in which records change, expressions have the values of the records`()
    throws
  {
    var options = StoreOptions()
    options.history = HistoryOptions(keepsOldValues: true)
    try withStore(StoreModel(records: [Bill.self, BillLine.self]), options) { store in
      try store.write { transaction in
        for id in 1...3 { try transaction.insert(Bill(id: id)) }
        for id in 0..<12 {
          try transaction.insert(
            BillLine(id, of: id % 4 == 3 ? nil : id % 4 + 1, quarters: id + 1, quantity: id % 5))
        }
      }
      try Self.check(store, after: "insertions")
      let start = try store.snapshot().historyCursor
      let (bills, lines) = (try store.fetch(Bill.self), try store.fetch(BillLine.self))
      #expect(bills.contains { $0.total > 1 } && lines.contains { $0.amount > 1 })
      for way in Self.ways {
        try way.change(store)
        try Self.check(store, after: way.name)
      }
      #expect(try store.fetch(Bill.self).map(\.total) == [0, 0, 0])
      try store.undo(since: start)
      try Self.check(store, after: "an undo")
      #expect(try store.fetch(Bill.self) == bills)
      #expect(try store.fetch(BillLine.self) == lines)
    }
  }
}
