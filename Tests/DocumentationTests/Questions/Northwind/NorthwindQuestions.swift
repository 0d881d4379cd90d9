import Cambium
import FoundationEssentials
import Testing

extension Northwind {
  /// The questions of the article on trade, each with the answer of SQLite.
  @Suite struct Questions: SQLQuestions {
    static let article = "ComingFromSQLTrade"
    static let compared = Result { try ComparedStore(try Northwind.makeStore()) }
    let store: PersistentStore

    init() throws { store = try Self.compared.get().store }
  }
}

extension Northwind.Questions {
  typealias Employee = Northwind.Employee
  typealias Company = Northwind.Company
  typealias Customer = Northwind.Customer
  typealias Supplier = Northwind.Supplier
  typealias Shipper = Northwind.Shipper
  typealias Product = Northwind.Product
  typealias Order = Northwind.Order
  typealias OrderLine = Northwind.OrderLine
}

// MARK: - Records and their relations

extension Northwind.Questions {
  @Test func `N1, the ten orders with the highest totals`() throws {
    let totals = Query<OrderLine>().grouped(by: \.order)
      .computing(.sum { $0.price * $0.quantity * (1 - $0.discount) })
      .sorted(by: .descending(.sum { $0.price * $0.quantity * (1 - $0.discount) }))
    let highest = try store.fetch(totals.limit(10))
    try compare("N1", highest.map { row($0.key, $0.value) })
  }

  @Test func `N2, customers without orders`() throws {
    let idle = try store.fetch(Customer.where { $0.orders.none() })
    try compare("N2", inAnyOrder: true, idle.map { row($0.company.name) })
  }

  @Test func `N3, employees with their managers`() throws {
    let employees = try store.select(from: Query<Employee>()) { ($0.name, $0.manager.name) }
    try compare("N3", employees.map { row($0.0, $0.1) })
  }

  @Test func `N4, products to order again: fields against a field`() throws {
    let scarce = try store.fetch(Product.where { $0.inStock + $0.ordered < $0.reorderLevel })
    try compare("N4", inAnyOrder: true, scarce.map { row($0.name) })
  }

  @Test func `N5, products above the average price`() throws {
    let expensive = try store.fetch(Product.where { $0.price > Product.average(\.price) })
    try compare("N5", inAnyOrder: true, expensive.map { row($0.name) })
  }

  @Test func `N6, orders that were shipped late, by employee`() throws {
    let late = try store.fetch(
      Order.where { $0.shipped - $0.required > 0 }
        .grouped { ($0.employee, $0.employee.name) })
    try compare("N6", late.map { row($0.key.1, $0.count) })
  }

  @Test func `N7, categories with an average price above 20, with names`() throws {
    let categories = try store.fetch(
      Query<Product>().grouped { $0.category.name }.computing(.average(\.price))
        .having { ($0.value ?? 0) > 20 })
    try compare("N7", categories.map { row($0.key, $0.value) })
  }

  @Test func `N8, employees of a region, by their territories`() throws {
    let employees = try store.fetch(
      Employee.where { $0.territories.any { $0.region.name == "North" } })
    try compare("N8", inAnyOrder: true, employees.map { row($0.name) })
  }

  @Test func `N9, suppliers of three categories or more`() throws {
    let suppliers = try store.fetch(
      Query<Product>().grouped { ($0.supplier, $0.supplier.company.name) }
        .computing(.countDistinct(\.category)).having { $0.value >= 3 })
    try compare("N9", suppliers.map { row($0.key.1, $0.value) })
  }

  @Test func `N10, customers of three countries, in two orders`() throws {
    let customers = try store.fetch(
      Customer.where { $0.company.country.isIn(["Chile", "Egypt", "Ghana"]) }
        .sorted(by: .ascending(\.company.country), .descending(\.company.name)))
    try compare("N10", customers.map { row($0.company.country, $0.company.name) })
  }
}

// MARK: - Sales

extension Northwind.Questions {
  @Test func `N11, sales of a year by category, the highest first`() throws {
    let sales = try store.fetch(
      OrderLine.where { $0.order.ordered.year() == 2024 }.grouped { $0.product.category.name }
        .computing(.sum { $0.price * $0.quantity * (1 - $0.discount) })
        .sorted(by: .descending(.sum { $0.price * $0.quantity * (1 - $0.discount) })))
    try compare("N11", sales.map { row($0.key, $0.value) })
  }

  @Test func `N12, orders of each month`() throws {
    let months = try store.fetch(
      Query<Order>().grouped { ($0.ordered.year(), $0.ordered.month()) })
    try compare("N12", months.map { row($0.key.0, $0.key.1, $0.count) })
  }

  @Test func `N13, orders with more than four lines`() throws {
    let long = try store.fetch(Order.where { $0.lines.count() > 4 })
    try compare("N13", inAnyOrder: true, long.map { row($0.id) })
  }

  @Test func `N14, the five products of which most is sold`() throws {
    let products = Product.sorted(by: .descending { $0.lines.sum(\.quantity) }).limit(5)
    let sold = try store.select(from: products) { ($0.name, $0.lines.sum(\.quantity)) }
    try compare("N14", sold.map { row($0.0, $0.1) })
  }

  @Test func `N15, a page that begins after a primary key of two fields`() throws {
    let page = try store.fetch(Query<OrderLine>().limit(10).after(22, 7))
    try compare("N15", page.map { row($0.order, $0.product) })
  }

  @Test func `N16, orders by the region of the customer, which may be null`() throws {
    let regions = try store.fetch(Query<Order>().grouped { $0.customer.company.region })
    try compare("N16", regions.map { row($0.key, $0.count) })
  }

  @Test func `N17, customers, suppliers and shippers in one list, with their kind`() throws {
    let kinds = Family<[String]>("Company") {
      FamilyMember(Customer.self) { [$0.company.name, "customer"] }
      FamilyMember(Supplier.self) { [$0.company.name, "supplier"] }
      FamilyMember(Shipper.self) { [$0.company.name, "shipper"] }
    }
    let companies = try store.fetch(Company.sorted(by: .ascending(\.name)), as: kinds)
    try compare("N17", companies.map { row($0[0], $0[1]) })
  }

  @Test func `N18, the order of each employee with the highest freight`() throws {
    let highest = try store.fetch(
      Order.sorted(by: .descending(\.freight)).numbered(within: { $0.employee })
        .having { $0 == 1 })
    try compare("N18", highest.map { row($0.record.employee, $0.record.id, $0.record.freight) })
  }

  @Test func `N19, the five products most often bought together with one`() throws {
    let one = Reference<Product>(11)
    let together = try store.fetch(
      OrderLine.where { $0.product != one && $0.order.lines.any { $0.product == one } }
        .grouped(by: \.product).sorted(by: .descending(.count)).limit(5))
    try compare("N19", together.map { row($0.key, $0.count) })
  }

  @Test func `N20, quantities by product and discount`() throws {
    let quantities = try store.fetch(
      Query<OrderLine>().grouped { ($0.product, $0.discount) }.computing(.sum(\.quantity)))
    try compare("N20", quantities.map { row($0.key.0, $0.key.1, $0.value) })
  }

  @Test func `N21, lines and quantity of one product`() throws {
    let product = try store.fetch(
      OrderLine.where { $0.product == Reference(11) }.grouped(by: \.product)
        .computing(.sum(\.quantity)))
    try compare("N21", product.map { row($0.key, $0.count, $0.value) })
  }

  @Test func `N22, orders of a half year from a city with one shipper`() throws {
    let (begin, end) = (
      try Date("2024-03-01T00:00:00Z", strategy: .iso8601),
      try Date("2024-09-01T00:00:00Z", strategy: .iso8601)
    )
    let orders = try store.fetch(
      Order.where {
        $0.customer.company.city == "Porto" && $0.shipper == Reference(52)
          && $0.ordered.isIn(begin..<end)
      })
    try compare("N22", inAnyOrder: true, orders.map { row($0.id) })
  }
}
