import Cambium
import FoundationEssentials

extension Sakila {
  /// The questions of the article ComingFromSQLFilms, on a film rental, as it asks them.
  static let questions: [SQLQuestion] = [
    SQLQuestion("S1") { store in
      let films = Film.where {
        $0.rating == "PG" && ($0.category.name == "Comedy" || $0.category.name == "Drama")
      }
      let named = try store.select(from: films) { ($0.title, $0.category.name) }
      return named.map { row($0.0, $0.1) }
    },
    SQLQuestion("S2") { store in
      let actors = Actor.sorted(by: .descending { $0.films.count() }).limit(5)
      let counts = try store.select(from: actors) { ($0.name, $0.films.count()) }
      return counts.map { row($0.0, $0.1) }
    },
    SQLQuestion("S3", inAnyOrder: true) { store in
      let customers = try store.fetch(
        Customer.where {
          $0.rentals.none { $0.copy.film.category.name == "Horror" }
        })
      return customers.map { row($0.person.name) }
    },
    SQLQuestion("S4") { store in
      let open = try store.select(from: Rental.where { $0.returned == nil }) {
        ($0.id, $0.customer.person.name, $0.copy.film.title)
      }
      return open.map { row($0.0, $0.1, $0.2) }
    },
    SQLQuestion("S5", inAnyOrder: true) { store in
      let late = try store.fetch(
        Rental.where { $0.returned - $0.rented > $0.copy.film.rentalDays * 86_400 })
      return late.map { row($0.id) }
    },
    SQLQuestion("S6") { store in
      let shops = try store.fetch(
        Query<Payment>().grouped { $0.rental.copy.shop }.computing(.sum(\.amount)))
      return shops.map { row($0.key, $0.value) }
    },
    SQLQuestion("S7") { store in
      let categories = try store.fetch(
        Payment.where { $0.rental != nil }.grouped { $0.rental.copy.film.category.name }
          .computing(.sum(\.amount)).sorted(by: .descending(.sum(\.amount))))
      return categories.map { row($0.key, $0.value) }
    },
    SQLQuestion("S8", inAnyOrder: true) { store in
      let missing = try store.fetch(Film.where { $0.copies.none() })
      return missing.map { row($0.title) }
    },
    SQLQuestion("S9", inAnyOrder: true) { store in
      let present = try store.fetch(
        Copy.where {
          $0.shop == Reference(1) && $0.film.category == Reference(3)
            && $0.rentals.none { $0.returned == nil }
        })
      return present.map { row($0.id) }
    },
    SQLQuestion("S10", inAnyOrder: true) { store in
      let visits = try store.fetch(
        Rental.where {
          $0.copy.shop.address.city == "Lyon" && $0.customer.person.address.city != "Lyon"
        })
      return visits.map { row($0.id) }
    },
    SQLQuestion("S11", isOneQuery: false) { store in
      let counts = try store.fetch(
        Query<Rental>().grouped { ($0.copy.shop, $0.copy.film) }.sorted(by: .descending(.count)))
      let best = Dictionary(grouping: counts) { $0.key.0 }.mapValues { $0.prefix(3) }
      let shops = best.sorted { ($0.key?.id ?? 0) < ($1.key?.id ?? 0) }
      return shops.flatMap { shop in shop.value.map { row($0.key.0, $0.key.1) } }
    },
    SQLQuestion("S12", isOneQuery: false) { store in
      let casts = try store.select(\.actors, from: Query<Film>())
      let pairs = casts.flatMap { cast in
        cast.flatMap { one in cast.filter { one.id < $0.id }.map { [one.id, $0.id] } }
      }
      let counts = Dictionary(pairs.map { ($0, 1) }, uniquingKeysWith: +)
      let best = counts.sorted { one, other in
        one.value == other.value
          ? one.key.lexicographicallyPrecedes(other.key) : one.value > other.value
      }
      return best.prefix(5).map { row($0.key[0], $0.key[1], $0.value) }
    },
    SQLQuestion("S13") { store in
      let averages = try store.fetch(
        Query<Payment>().grouped { ($0.customer, $0.customer.person.name) }
          .computing(.average(\.amount)).having { $0.count > 12 })
      return averages.map { row($0.key.1, $0.value) }
    },
    SQLQuestion("S14") { store in
      let titles = try store.fetch(Query<Film>().grouped(by: \.title).having { $0.count > 1 })
      return titles.map { row($0.key, $0.count) }
    },
    SQLQuestion("S15", inAnyOrder: true) { store in
      let films = try store.fetch(Film.where { $0.title.hasSuffix("ion") && $0.title.like("?o*") })
      return films.map { row($0.id) }
    },
    SQLQuestion("S16", inAnyOrder: true) { store in
      let films = try store.fetch(Film.where { $0.summary.matches("brave rob*") })
      return films.map { row($0.id) }
    },
    SQLQuestion("S17") { store in
      let days = try store.fetch(Query<Rental>().grouped { $0.rented.weekday() })
      return days.map { row($0.key, $0.count) }
    },
    SQLQuestion("S18") { store in
      let ratings = try store.fetch(
        Query<Film>().grouped(by: \.rating)
          .computing(.average(\.length), .min(\.length), .max(\.rate)))
      return ratings.map { row($0.key, $0.count, $0.value.0, $0.value.1, $0.value.2) }
    },
    SQLQuestion("S19") { store in
      let highest = try store.fetch(
        Payment.sorted(by: .descending(\.amount)).numbered(within: { $0.customer })
          .having { $0 == 1 })
      return highest.map { row($0.record.customer, $0.record.id, $0.record.amount) }
    },
    SQLQuestion("S20") { store in
      let people = try store.fetch(Person.sorted(by: .ascending(\.name)))
      return people.map { row($0.id, $0.name) }
    },
    SQLQuestion("S21") { store in
      let films = try store.select(from: Query<Film>()) {
        ($0.title, $0.copies.count(), $0.copies.rentals.count())
      }
      return films.map { row($0.0, $0.1, $0.2) }
    },
    SQLQuestion("S22", inAnyOrder: true) { store in
      let films = try store.fetch(
        Film.where { $0.features.contains("Trailers") && $0.rating == "G" })
      return films.map { row($0.id) }
    },
    SQLQuestion("S23") { store in
      let good = Customer.where { $0.payments.sum(\.amount) > 40 }
      let sums = try store.select(from: good) {
        ($0.person.name, $0.payments.sum(\.amount))
      }
      return sums.map { row($0.0, $0.1) }
    },
    SQLQuestion("S24", inAnyOrder: true) { store in
      let idle = try store.fetch(
        Customer.where { $0.rentals.none() && $0.payments.none() })
      return idle.map { row($0.person.name) }
    },
    SQLQuestion("S25", inAnyOrder: true) { store in
      let films = try store.fetch(
        Film.where { $0.actors.contains(Reference(1)) && !$0.actors.contains(Reference(2)) })
      return films.map { row($0.id) }
    },
  ]
}
