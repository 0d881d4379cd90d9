import Cambium
import FoundationEssentials
import Testing

extension Sakila {
  /// The questions of the article on a film rental, each with the answer of SQLite.
  @Suite struct Questions: SQLQuestions {
    static let article = "ComingFromSQLFilms"
    static let compared = Result { try ComparedStore(try Sakila.makeStore()) }
    let store: PersistentStore

    init() throws { store = try Self.compared.get().store }
  }
}

extension Sakila.Questions {
  typealias Actor = Sakila.Actor
  typealias Film = Sakila.Film
  typealias Shop = Sakila.Shop
  typealias Copy = Sakila.Copy
  typealias Person = Sakila.Person
  typealias Customer = Sakila.Customer
  typealias Rental = Sakila.Rental
  typealias Payment = Sakila.Payment
}

// MARK: - Conditions over relations

extension Sakila.Questions {
  @Test func `S1, films of a rating in two categories, with the category`() throws {
    let films = Film.where {
      $0.rating == "PG" && ($0.category.name == "Comedy" || $0.category.name == "Drama")
    }
    let named = try store.select(from: films) { ($0.title, $0.category.name) }
    try compare("S1", named.map { row($0.0, $0.1) })
  }

  @Test func `S2, the five actors with the most films`() throws {
    let actors = Actor.sorted(by: .descending { $0.films.count() }).limit(5)
    let counts = try store.select(from: actors) { ($0.name, $0.films.count()) }
    try compare("S2", counts.map { row($0.0, $0.1) })
  }

  @Test func `S3, customers who have never rented a film of a category`() throws {
    let customers = try store.fetch(
      Customer.where {
        $0.rentals.none { $0.copy.film.category.name == "Horror" }
      })
    try compare("S3", inAnyOrder: true, customers.map { row($0.person.name) })
  }

  @Test func `S4, rentals that are not returned, with customer and film`() throws {
    let open = try store.select(from: Rental.where { $0.returned == nil }) {
      ($0.id, $0.customer.person.name, $0.copy.film.title)
    }
    try compare("S4", open.map { row($0.0, $0.1, $0.2) })
  }

  @Test func `S5, rentals that were kept longer than the film allows`() throws {
    let late = try store.fetch(
      Rental.where { $0.returned - $0.rented > $0.copy.film.rentalDays * 86_400 })
    try compare("S5", inAnyOrder: true, late.map { row($0.id) })
  }
}

// MARK: - Groups over relations

extension Sakila.Questions {
  @Test func `S6, revenue of each shop, and without a rental`() throws {
    let shops = try store.fetch(
      Query<Payment>().grouped { $0.rental.copy.shop }.computing(.sum(\.amount)))
    try compare("S6", shops.map { row($0.key, $0.value) })
  }

  @Test func `S7, revenue of each category, over five tables, the highest first`() throws {
    let categories = try store.fetch(
      Payment.where { $0.rental != nil }.grouped { $0.rental.copy.film.category.name }
        .computing(.sum(\.amount)).sorted(by: .descending(.sum(\.amount))))
    try compare("S7", categories.map { row($0.key, $0.value) })
  }
}

// MARK: - Copies and shops

extension Sakila.Questions {
  @Test func `S8, films without copies`() throws {
    let missing = try store.fetch(Film.where { $0.copies.none() })
    try compare("S8", inAnyOrder: true, missing.map { row($0.title) })
  }

  @Test func `S9, copies of a shop and a category that are not out`() throws {
    let present = try store.fetch(
      Copy.where {
        $0.shop == Reference(1) && $0.film.category == Reference(3)
          && $0.rentals.none { $0.returned == nil }
      })
    try compare("S9", inAnyOrder: true, present.map { row($0.id) })
  }

  @Test func `S10, rentals in the shops of a city by customers of others`() throws {
    let visits = try store.fetch(
      Rental.where {
        $0.copy.shop.address.city == "Lyon" && $0.customer.person.address.city != "Lyon"
      })
    try compare("S10", inAnyOrder: true, visits.map { row($0.id) })
  }

  @Test func `S11, the three films that each shop rents most often`() throws {
    let counts = try store.fetch(
      Query<Rental>().grouped { ($0.copy.shop, $0.copy.film) }.sorted(by: .descending(.count)))
    let best = Dictionary(grouping: counts) { $0.key.0 }.mapValues { $0.prefix(3) }
    let shops = best.sorted { ($0.key?.id ?? 0) < ($1.key?.id ?? 0) }
    try compare("S11", shops.flatMap { shop in shop.value.map { row($0.key.0, $0.key.1) } })
  }

  @Test func `S12, the five pairs of actors with the most films together`() throws {
    let casts = try store.select(\.actors, from: Query<Film>())
    let pairs = casts.flatMap { cast in
      cast.flatMap { one in cast.filter { one.id < $0.id }.map { [one.id, $0.id] } }
    }
    let counts = Dictionary(pairs.map { ($0, 1) }, uniquingKeysWith: +)
    let best = counts.sorted { one, other in
      one.value == other.value
        ? one.key.lexicographicallyPrecedes(other.key) : one.value > other.value
    }
    try compare("S12", best.prefix(5).map { row($0.key[0], $0.key[1], $0.value) })
  }
}

// MARK: - Aggregates, strings, dates

extension Sakila.Questions {
  @Test func `S13, the average payment of customers with more than twelve, with names`() throws {
    let averages = try store.fetch(
      Query<Payment>().grouped { ($0.customer, $0.customer.person.name) }
        .computing(.average(\.amount)).having { $0.count > 12 })
    try compare("S13", averages.map { row($0.key.1, $0.value) })
  }

  @Test func `S14, titles of several films, with their number`() throws {
    let titles = try store.fetch(Query<Film>().grouped(by: \.title).having { $0.count > 1 })
    try compare("S14", titles.map { row($0.key, $0.count) })
  }

  @Test func `S15, titles with an end and a pattern`() throws {
    let films = try store.fetch(Film.where { $0.title.hasSuffix("ion") && $0.title.like("?o*") })
    try compare("S15", inAnyOrder: true, films.map { row($0.id) })
  }

  @Test func `S16, films with a word and the beginning of another`() throws {
    let films = try store.fetch(Film.where { $0.summary.matches("brave rob*") })
    try compare("S16", inAnyOrder: true, films.map { row($0.id) })
  }

  @Test func `S17, rentals by day of the week, from Sunday`() throws {
    let days = try store.fetch(Query<Rental>().grouped { $0.rented.weekday() })
    try compare("S17", days.map { row($0.key, $0.count) })
  }

  @Test func `S18, several numbers for each rating`() throws {
    let ratings = try store.fetch(
      Query<Film>().grouped(by: \.rating)
        .computing(.average(\.length), .min(\.length), .max(\.rate)))
    try compare(
      "S18", ratings.map { row($0.key, $0.count, $0.value.0, $0.value.1, $0.value.2) })
  }

  @Test func `S19, the highest payment of each customer`() throws {
    let highest = try store.fetch(
      Payment.sorted(by: .descending(\.amount)).numbered(within: { $0.customer })
        .having { $0 == 1 })
    try compare("S19", highest.map { row($0.record.customer, $0.record.id, $0.record.amount) })
  }

  @Test func `S20, customers and staff in one list`() throws {
    let people = try store.fetch(Person.sorted(by: .ascending(\.name)))
    try compare("S20", people.map { row($0.id, $0.name) })
  }
}

// MARK: - Counts, lists, records that are missing

extension Sakila.Questions {
  @Test func `S21, films with the numbers of their copies and rentals`() throws {
    let films = try store.select(from: Query<Film>()) {
      ($0.title, $0.copies.count(), $0.copies.rentals.count())
    }
    try compare("S21", films.map { row($0.0, $0.1, $0.2) })
  }

  @Test func `S22, films with a feature and a rating`() throws {
    let films = try store.fetch(
      Film.where { $0.features.contains("Trailers") && $0.rating == "G" })
    try compare("S22", inAnyOrder: true, films.map { row($0.id) })
  }

  @Test func `S23, customers who have paid more than 40, with the sum`() throws {
    let good = Customer.where { $0.payments.sum(\.amount) > 40 }
    let sums = try store.select(from: good) {
      ($0.person.name, $0.payments.sum(\.amount))
    }
    try compare("S23", sums.map { row($0.0, $0.1) })
  }

  @Test func `S24, customers with neither rentals nor payments`() throws {
    let idle = try store.fetch(
      Customer.where { $0.rentals.none() && $0.payments.none() })
    try compare("S24", inAnyOrder: true, idle.map { row($0.person.name) })
  }

  @Test func `S25, films with one actor and without another`() throws {
    let films = try store.fetch(
      Film.where { $0.actors.contains(Reference(1)) && !$0.actors.contains(Reference(2)) })
    try compare("S25", inAnyOrder: true, films.map { row($0.id) })
  }
}
