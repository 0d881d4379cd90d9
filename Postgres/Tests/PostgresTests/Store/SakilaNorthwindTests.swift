import Cambium
import CambiumPostgres
import FoundationEssentials
import Testing

/// The questions of the articles on a film rental and on trade that a store on a server answers, in their numbers, each with the
/// answer of an embedded store with the same records. Both models have kinds.
@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct SakilaNorthwindTests {
  private typealias Answers = [(question: String, rows: [String])]

  private static func compare(
    _ name: String, _ model: StoreModel, count: Int, fill: (PersistentStore) throws -> Void,
    answers: @Sendable (any PortableReading) throws -> Answers
  ) async throws {
    let server = try #require(PostgresServer.shared)
    let path = Workshop.directory(name)
    let embedded = try await PersistentStore(at: path, model: model)
    defer {
      try? embedded.close()
      try? PersistentStore.delete(at: path)
    }
    try fill(embedded)
    let address = try server.makeDatabase(name)
    try PostgresServer.move(embedded, at: path, to: address)
    let store = try await PostgresStore(address, model: model)
    let expected = try answers(try embedded.snapshot())
    let found = try await store.read { snapshot in try answers(snapshot).map { "\($0)" } }
    #expect(expected.count == count)
    #expect(found.count == count)
    for (one, other) in zip(expected, found) {
      #expect(!one.rows.isEmpty, "\(one.question)")
      #expect("\(one)" == other)
    }
  }

  @Test func `twenty-four questions about a film rental have the same answers`() async throws {
    try await Self.compare(
      "sakila", Sakila.model, count: 24, fill: { try SakilaData().insert(into: $0) },
      answers: { try Self.films($0) })
  }

  @Test func `twenty-one questions about trade have the same answers`() async throws {
    try await Self.compare(
      "northwind", Northwind.model, count: 21, fill: { try NorthwindData().insert(into: $0) },
      answers: { try Self.trade($0) })
  }
}

// MARK: - A film rental

extension SakilaNorthwindTests {
  private static func films(_ state: some PortableReading) throws -> Answers {
    typealias Actor = Sakila.Actor
    typealias Film = Sakila.Film
    typealias Copy = Sakila.Copy
    typealias Customer = Sakila.Customer
    typealias Rental = Sakila.Rental
    typealias Payment = Sakila.Payment
    var answers: Answers = []
    func answer(_ question: String, _ rows: [some Any]) {
      answers.append((question, rows.map { "\($0)" }))
    }
    let light = Film.where {
      $0.rating == "PG" && ($0.category.name == "Comedy" || $0.category.name == "Drama")
    }
    answer("S1", try state.select(from: light) { ($0.title, $0.category.name) })
    let busy = Actor.sorted(by: .descending { $0.films.count() }).limit(5)
    answer("S2", try state.select(from: busy) { ($0.name, $0.films.count()) })
    answer(
      "S3",
      try state.fetch(Customer.where { $0.rentals.none { $0.copy.film.category.name == "Horror" } })
        .map(\.person.name))
    answer(
      "S4",
      try state.select(from: Rental.where { $0.returned == nil }) {
        ($0.id, $0.customer.person.name, $0.copy.film.title)
      })
    answer(
      "S5",
      try state.fetch(
        Rental.where { $0.returned - $0.rented > $0.copy.film.rentalDays * 86_400 }
      ).map(\.id))
    answer(
      "S6",
      try state.fetch(
        Query<Payment>().grouped { $0.rental.copy.shop }.computing(.sum(\.amount))))
    answer(
      "S7",
      try state.fetch(
        Payment.where { $0.rental != nil }.grouped { $0.rental.copy.film.category.name }
          .computing(.sum(\.amount)).sorted(by: .descending(.sum(\.amount)))))
    answer("S8", try state.fetch(Film.where { $0.copies.none() }).map(\.title))
    answer(
      "S9",
      try state.fetch(
        Copy.where {
          $0.shop == Reference(1) && $0.film.category == Reference(3)
            && $0.rentals.none { $0.returned == nil }
        }
      ).map(\.id))
    answer(
      "S10",
      try state.fetch(
        Rental.where {
          $0.copy.shop.address.city == "Lyon" && $0.customer.person.address.city != "Lyon"
        }
      ).map(\.id))
    answer(
      "S11",
      try state.fetch(
        Query<Rental>().grouped { ($0.copy.shop, $0.copy.film) }.sorted(by: .descending(.count))))
    answer("S12", try state.fetch(Query<Film>(), after: nil).map { $0.actors.map(\.id) })
    answer(
      "S13",
      try state.fetch(
        Query<Payment>().grouped { ($0.customer, $0.customer.person.name) }
          .computing(.average(\.amount)).having { $0.count > 12 }))
    answer(
      "S14", try state.fetch(Query<Film>().grouped(by: \.title).having { $0.count > 1 }))
    answer(
      "S15",
      try state.fetch(Film.where { $0.title.hasSuffix("ion") && $0.title.like("?o*") })
        .map(\.id))
    answer("S17", try state.fetch(Query<Rental>().grouped { $0.rented.weekday() }))
    answer(
      "S18",
      try state.fetch(
        Query<Film>().grouped(by: \.rating)
          .computing(.average(\.length), .min(\.length), .max(\.rate))))
    let highest = Payment.sorted(by: .descending(\.amount)).numbered(within: { $0.customer })
      .having { $0 == 1 }
    answer("S19", try state.fetch(highest).map(\.record))
    answer("S20", try state.fetch(Sakila.Person.sorted(by: .ascending(\.name)), after: nil))
    answer(
      "S21",
      try state.select(from: Query<Film>()) {
        ($0.title, $0.copies.count(), $0.copies.rentals.count())
      })
    answer(
      "S22",
      try state.fetch(Film.where { $0.features.contains("Trailers") && $0.rating == "G" })
        .map(\.id))
    let good = Customer.where { $0.payments.sum(\.amount) > 40 }
    answer("S23", try state.select(from: good) { ($0.person.name, $0.payments.sum(\.amount)) })
    answer(
      "S24",
      try state.fetch(Customer.where { $0.rentals.none() && $0.payments.none() }, after: nil))
    answer(
      "S25",
      try state.fetch(
        Film.where { $0.actors.contains(Reference(1)) && !$0.actors.contains(Reference(2)) }
      ).map(\.id))
    return answers
  }
}

// MARK: - Trade

extension SakilaNorthwindTests {
  private static func trade(_ state: some PortableReading) throws -> Answers {
    typealias Employee = Northwind.Employee
    typealias Customer = Northwind.Customer
    typealias Product = Northwind.Product
    typealias Order = Northwind.Order
    typealias OrderLine = Northwind.OrderLine
    var answers: Answers = []
    func answer(_ question: String, _ rows: [some Any]) {
      answers.append((question, rows.map { "\($0)" }))
    }
    let totals = Query<OrderLine>().grouped(by: \.order)
      .computing(.sum { $0.price * $0.quantity * (1 - $0.discount) })
      .sorted(by: .descending(.sum { $0.price * $0.quantity * (1 - $0.discount) }))
    answer("N1", try state.fetch(totals.limit(10)))
    answer("N2", try state.fetch(Customer.where { $0.orders.none() }).map(\.company.name))
    answer("N3", try state.select(from: Query<Employee>()) { ($0.name, $0.manager.name) })
    answer(
      "N4",
      try state.fetch(Product.where { $0.inStock + $0.ordered < $0.reorderLevel }).map(\.name))
    answer(
      "N5",
      try state.fetch(Product.where { $0.price > Product.average(\.price) }).map(\.name))
    answer(
      "N6",
      try state.fetch(
        Order.where { $0.shipped - $0.required > 0 }.grouped { ($0.employee, $0.employee.name) }))
    answer(
      "N7",
      try state.fetch(
        Query<Product>().grouped { $0.category.name }.computing(.average(\.price))
          .having { ($0.value ?? 0) > 20 }))
    answer(
      "N8",
      try state.fetch(Employee.where { $0.territories.any { $0.region.name == "North" } })
        .map(\.name))
    answer(
      "N9",
      try state.fetch(
        Query<Product>().grouped { ($0.supplier, $0.supplier.company.name) }
          .computing(.countDistinct(\.category)).having { $0.value >= 3 }))
    answer(
      "N10",
      try state.fetch(
        Customer.where { $0.company.country.isIn(["Chile", "Egypt", "Ghana"]) }
          .sorted(by: .ascending(\.company.country), .descending(\.company.name)), after: nil))
    answer(
      "N11",
      try state.fetch(
        OrderLine.where { $0.order.ordered.year() == 2024 }.grouped { $0.product.category.name }
          .computing(.sum { $0.price * $0.quantity * (1 - $0.discount) })
          .sorted(by: .descending(.sum { $0.price * $0.quantity * (1 - $0.discount) }))))
    answer(
      "N12", try state.fetch(Query<Order>().grouped { ($0.ordered.year(), $0.ordered.month()) }))
    answer("N13", try state.fetch(Order.where { $0.lines.count() > 4 }).map(\.id))
    let sold = Product.sorted(by: .descending { $0.lines.sum(\.quantity) }).limit(5)
    answer("N14", try state.select(from: sold) { ($0.name, $0.lines.sum(\.quantity)) })
    answer("N15", try state.fetch(Query<OrderLine>().limit(10).after(22, 7), after: nil))
    answer("N16", try state.fetch(Query<Order>().grouped { $0.customer.company.region }))
    let highest = Order.sorted(by: .descending(\.freight)).numbered(within: { $0.employee })
      .having { $0 == 1 }
    answer("N18", try state.fetch(highest).map(\.record))
    let one = Reference<Product>(11)
    answer(
      "N19",
      try state.fetch(
        OrderLine.where { $0.product != one && $0.order.lines.any { $0.product == one } }
          .grouped(by: \.product).sorted(by: .descending(.count)).limit(5)))
    answer(
      "N20",
      try state.fetch(
        Query<OrderLine>().grouped { ($0.product, $0.discount) }.computing(.sum(\.quantity))))
    answer(
      "N21",
      try state.fetch(
        OrderLine.where { $0.product == one }.grouped(by: \.product).computing(.sum(\.quantity))))
    let (begin, end) = (
      try Date("2024-03-01T00:00:00Z", strategy: .iso8601),
      try Date("2024-09-01T00:00:00Z", strategy: .iso8601)
    )
    answer(
      "N22",
      try state.fetch(
        Order.where {
          $0.customer.company.city == "Porto" && $0.shipper == Reference(52)
            && $0.ordered.isIn(begin..<end)
        }
      ).map(\.id))
    return answers
  }
}
