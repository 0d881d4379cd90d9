import Foundation
import TestSupport

@testable import Cambium
@testable import InternalTestSupport

// Lines of sales, their products, and the categories of those.

struct SaleCategory: Record, Identifiable, Equatable {
  var id: Int
  var name: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string)
  }
}

struct SaleProduct: Record, Identifiable, Equatable {
  var id: Int
  var name: String
  var weight: Double?
  var category: Reference<SaleCategory>?

  static let lines = Inverse("lines", of: \SaleLine.product, deleteRule: .cascade)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string)
    Field(name: "weight", type: .double, optional: true)
    Field(name: "category", type: .reference(to: SaleCategory.self), optional: true)
    lines
  }
}

struct SaleLine: Record, Identifiable, Equatable {
  var id: Int
  var product: Reference<SaleProduct>
  var price: Decimal
  var quantity: Int32
  var discount: Decimal
  var ordered: Date
  var returned: Date?

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "product", type: .reference(to: SaleProduct.self))
    Field(name: "price", type: .decimal)
    Field(name: "quantity", type: .int32)
    Field(name: "discount", type: .decimal)
    Field(name: "ordered", type: .date)
    Field(name: "returned", type: .date, optional: true)
  }
}

/// A store, and the same records in dictionaries.
struct SaleWorld {
  let store: PersistentStore
  private(set) var categories: [Int: SaleCategory] = [:]
  private(set) var products: [Int: SaleProduct] = [:]
  private(set) var lines: [SaleLine] = []

  init(lineCount: Int, seed: UInt64) throws {
    var random = SplitMix64(seed: seed)
    store = try PersistentStore(
      inMemory: StoreModel(records: [SaleCategory.self, SaleProduct.self, SaleLine.self]))
    for id in 0..<3 { categories[id] = SaleCategory(id: id, name: ["Äpfel", "bread", "Cola"][id]) }
    for id in 0..<12 {
      products[id] = SaleProduct(
        id: id, name: "\(["a", "b", "é"][id % 3])\(id)", weight: id % 4 == 0 ? nil : Double(id) / 4,
        category: id % 5 == 0 ? nil : Reference(id % 3))
    }
    for id in 0..<lineCount {
      let day = Double(Int.random(in: -3_000...3_000, using: &random))
      let ordered = Date(timeIntervalSinceReferenceDate: day * 86_400 + Double(id % 86_400))
      lines.append(
        SaleLine(
          id: id, product: Reference(Int.random(in: 0..<11, using: &random)),
          price: Decimal(Int.random(in: -500...5_000, using: &random)) / 100,
          quantity: Int32.random(in: 0...9, using: &random),
          discount: Decimal(Int.random(in: 0...4, using: &random)) / 20, ordered: ordered,
          returned: id % 3 == 0 ? nil : ordered + Double(id % 500) * 3_600))
    }
    let (categories, products, lines) = (categories, products, lines)
    try store.write { transaction in
      try transaction.insert(contentsOf: categories.values)
      try transaction.insert(contentsOf: products.values)
      try transaction.insert(contentsOf: lines)
    }
  }

  func product(of line: SaleLine) -> SaleProduct? { products[line.product.id] }

  func category(of line: SaleLine) -> SaleCategory? {
    product(of: line)?.category.flatMap { categories[$0.id] }
  }

  static func total(_ line: SaleLine) -> Decimal {
    line.price * Decimal(line.quantity) * (1 - line.discount)
  }
}
