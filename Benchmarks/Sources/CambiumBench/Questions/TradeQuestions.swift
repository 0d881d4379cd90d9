import Cambium
import FoundationEssentials

extension Northwind {
  /// The questions of the article ComingFromSQLTrade, on trade, as it asks them.
  static let questions: [SQLQuestion] = [
    SQLQuestion("N1") { store in
      let totals = Query<OrderLine>().grouped(by: \.order)
        .computing(.sum { $0.price * $0.quantity * (1 - $0.discount) })
        .sorted(by: .descending(.sum { $0.price * $0.quantity * (1 - $0.discount) }))
      let highest = try store.fetch(totals.limit(10))
      return highest.map { row($0.key, $0.value) }
    },
    SQLQuestion("N2", inAnyOrder: true) { store in
      let idle = try store.fetch(Customer.where { $0.orders.none() })
      return idle.map { row($0.company.name) }
    },
    SQLQuestion("N3") { store in
      let employees = try store.select(from: Query<Employee>()) { ($0.name, $0.manager.name) }
      return employees.map { row($0.0, $0.1) }
    },
    SQLQuestion("N4", inAnyOrder: true) { store in
      let scarce = try store.fetch(Product.where { $0.inStock + $0.ordered < $0.reorderLevel })
      return scarce.map { row($0.name) }
    },
    SQLQuestion("N5", inAnyOrder: true) { store in
      let expensive = try store.fetch(Product.where { $0.price > Product.average(\.price) })
      return expensive.map { row($0.name) }
    },
    SQLQuestion("N6") { store in
      let late = try store.fetch(
        Order.where { $0.shipped - $0.required > 0 }
          .grouped { ($0.employee, $0.employee.name) })
      return late.map { row($0.key.1, $0.count) }
    },
    SQLQuestion("N7") { store in
      let categories = try store.fetch(
        Query<Product>().grouped { $0.category.name }.computing(.average(\.price))
          .having { ($0.value ?? 0) > 20 })
      return categories.map { row($0.key, $0.value) }
    },
    SQLQuestion("N8", inAnyOrder: true) { store in
      let employees = try store.fetch(
        Employee.where { $0.territories.any { $0.region.name == "North" } })
      return employees.map { row($0.name) }
    },
    SQLQuestion("N9") { store in
      let suppliers = try store.fetch(
        Query<Product>().grouped { ($0.supplier, $0.supplier.company.name) }
          .computing(.countDistinct(\.category)).having { $0.value >= 3 })
      return suppliers.map { row($0.key.1, $0.value) }
    },
    SQLQuestion("N10") { store in
      let customers = try store.fetch(
        Customer.where { $0.company.country.isIn(["Chile", "Egypt", "Ghana"]) }
          .sorted(by: .ascending(\.company.country), .descending(\.company.name)))
      return customers.map { row($0.company.country, $0.company.name) }
    },
    SQLQuestion("N11") { store in
      let sales = try store.fetch(
        OrderLine.where { $0.order.ordered.year() == 2024 }.grouped { $0.product.category.name }
          .computing(.sum { $0.price * $0.quantity * (1 - $0.discount) })
          .sorted(by: .descending(.sum { $0.price * $0.quantity * (1 - $0.discount) })))
      return sales.map { row($0.key, $0.value) }
    },
    SQLQuestion("N12") { store in
      let months = try store.fetch(
        Query<Order>().grouped { ($0.ordered.year(), $0.ordered.month()) })
      return months.map { row($0.key.0, $0.key.1, $0.count) }
    },
    SQLQuestion("N13", inAnyOrder: true) { store in
      let long = try store.fetch(Order.where { $0.lines.count() > 4 })
      return long.map { row($0.id) }
    },
    SQLQuestion("N14") { store in
      let products = Product.sorted(by: .descending { $0.lines.sum(\.quantity) }).limit(5)
      let sold = try store.select(from: products) { ($0.name, $0.lines.sum(\.quantity)) }
      return sold.map { row($0.0, $0.1) }
    },
    SQLQuestion("N15") { store in
      let page = try store.fetch(Query<OrderLine>().limit(10).after(22, 7))
      return page.map { row($0.order, $0.product) }
    },
    SQLQuestion("N16") { store in
      let regions = try store.fetch(Query<Order>().grouped { $0.customer.company.region })
      return regions.map { row($0.key, $0.count) }
    },
    SQLQuestion("N17") { store in
      let kinds = Family<[String]>("Company") {
        FamilyMember(Customer.self) { [$0.company.name, "customer"] }
        FamilyMember(Supplier.self) { [$0.company.name, "supplier"] }
        FamilyMember(Shipper.self) { [$0.company.name, "shipper"] }
      }
      let companies = try store.fetch(Company.sorted(by: .ascending(\.name)), as: kinds)
      return companies.map { row($0[0], $0[1]) }
    },
    SQLQuestion("N18") { store in
      let highest = try store.fetch(
        Order.sorted(by: .descending(\.freight)).numbered(within: { $0.employee })
          .having { $0 == 1 })
      return highest.map { row($0.record.employee, $0.record.id, $0.record.freight) }
    },
    SQLQuestion("N19") { store in
      let one = Reference<Product>(11)
      let together = try store.fetch(
        OrderLine.where { $0.product != one && $0.order.lines.any { $0.product == one } }
          .grouped(by: \.product).sorted(by: .descending(.count)).limit(5))
      return together.map { row($0.key, $0.count) }
    },
    SQLQuestion("N20") { store in
      let quantities = try store.fetch(
        Query<OrderLine>().grouped { ($0.product, $0.discount) }.computing(.sum(\.quantity)))
      return quantities.map { row($0.key.0, $0.key.1, $0.value) }
    },
    SQLQuestion("N21") { store in
      let product = try store.fetch(
        OrderLine.where { $0.product == Reference(11) }.grouped(by: \.product)
          .computing(.sum(\.quantity)))
      return product.map { row($0.key, $0.count, $0.value) }
    },
    SQLQuestion("N22", inAnyOrder: true) { store in
      let (begin, end) = (
        try Date("2024-03-01T00:00:00Z", strategy: .iso8601),
        try Date("2024-09-01T00:00:00Z", strategy: .iso8601)
      )
      let orders = try store.fetch(
        Order.where {
          $0.customer.company.city == "Porto" && $0.shipper == Reference(52)
            && $0.ordered.isIn(begin..<end)
        })
      return orders.map { row($0.id) }
    },
  ]
}
