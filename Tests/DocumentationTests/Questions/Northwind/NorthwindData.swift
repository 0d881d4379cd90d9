import Cambium
import FoundationEssentials

extension Northwind {
  /// A store with some hundred records.
  static func makeStore() throws -> PersistentStore {
    let store = try PersistentStore(inMemory: model)
    try NorthwindData().insert(into: store)
    return store
  }
}

/// The records of a trade. Prices and discounts are multiples of a quarter, so sums of them are exact in any order.
struct NorthwindData {
  var productCount = 40
  var orderCount = 120
  /// The highest number of lines of an order.
  var lineCount = 5

  func insert(into store: PersistentStore) throws {
    try store.write { transaction in
      try transaction.insert(contentsOf: regions)
      try transaction.insert(
        contentsOf: (1...12).map { id in
          Territory(id: id, name: "Territory \(id)", region: Reference(1 + id % 4))
        })
      try transaction.insert(contentsOf: (1...9).map { employee($0) })
      try transaction.insert(
        contentsOf: (1...30).map { Customer(company: company($0), contact: "Contact \($0)") })
      try transaction.insert(
        contentsOf: (41...48).map { Supplier(company: company($0), page: "page/\($0)") })
      try transaction.insert(
        contentsOf: (51...53).map { Shipper(company: company($0), phone: "555-\($0)") })
      try transaction.insert(contentsOf: categories)
      try transaction.insert(contentsOf: (1...productCount).map { product($0) })
      try transaction.insert(contentsOf: (1...orderCount).map { order($0) })
    }
    // A transaction with all lines of many orders would take as much memory.
    for first in stride(from: 1, through: orderCount, by: 1_000) {
      try store.write { transaction in
        try transaction.insert(
          contentsOf: (first...min(first + 999, orderCount)).flatMap { lines(of: $0) })
      }
    }
  }

  private typealias Region = Northwind.Region
  private typealias Territory = Northwind.Territory
  private typealias Employee = Northwind.Employee
  private typealias Company = Northwind.Company
  private typealias Customer = Northwind.Customer
  private typealias Supplier = Northwind.Supplier
  private typealias Shipper = Northwind.Shipper
  private typealias Category = Northwind.Category
  private typealias Product = Northwind.Product
  private typealias Order = Northwind.Order
  private typealias OrderLine = Northwind.OrderLine

  private var regions: [Region] {
    ["East", "North", "South", "West"]
      .enumerated().map { Region(id: $0.offset + 1, name: $0.element) }
  }

  private var categories: [Category] {
    ["Beverages", "Dairy", "Grains", "Produce", "Seafood"]
      .enumerated().map { Category(id: $0.offset + 1, name: $0.element) }
  }

  private func employee(_ id: Int) -> Employee {
    Employee(
      id: id, name: "Employee \(id)", manager: id == 1 ? nil : Reference(1 + id / 4),
      territories: (0...id % 3).map { Reference(1 + (id * 5 + $0) % 12) })
  }

  private func company(_ id: Int) -> Company {
    Company(
      id: id, name: "\(["Alfa", "Blau", "Corso", "Delta"][id % 4]) \(id)",
      city: ["Turin", "Lyon", "Porto"][id % 3],
      country: ["Brazil", "Chile", "Denmark", "Egypt", "France", "Ghana"][id % 6],
      region: id % 2 == 0 ? nil : ["RJ", "SP", "WA"][id % 3])
  }

  private func product(_ id: Int) -> Product {
    // Some suppliers have products of one category, the others of all.
    let category = 1 + (id % 8 < 4 ? id % 2 : id % 5)
    return Product(
      id: id, name: "Product \(id)", category: Reference(category),
      supplier: Reference(41 + id * 3 % 8), price: Double(id * 37 % 200) / 4,
      inStock: id * 11 % 30, ordered: id % 4 == 0 ? 10 : 0, reorderLevel: id * 7 % 25)
  }

  /// The last two customers order nothing.
  private func order(_ id: Int) -> Order {
    // From the beginning of 2024 on, in 480 days.
    let seconds = id * 480 * 86_400 / orderCount
    let ordered = Date(timeIntervalSince1970: 1_704_067_200 + Double(seconds))
    let required = ordered + Double(14 * 86_400)
    let shipped = ordered + Double((3 + id * 7 % 16) * 86_400)
    return Order(
      id: id, customer: Reference(1 + id * 11 % 28), employee: Reference(1 + id * 5 % 9),
      shipper: Reference(51 + id % 3), ordered: ordered, required: required,
      shipped: id % 10 == 0 ? nil : shipped, freight: Double(id * 53 % 170) / 4)
  }

  private func lines(of order: Int) -> [OrderLine] {
    // Each line is of another product, as long as there are enough, and not a multiple of three.
    (0...order % lineCount).map { number in
      let product = 1 + (order * 7 + number * 3) % productCount
      return OrderLine(
        order: Reference(order), product: Reference(product),
        price: Double(product * 37 % 200) / 4, quantity: 1 + (order + number) % 6,
        discount: [0, 0, 0.25, 0.5][(order + number) % 4])
    }
  }
}
