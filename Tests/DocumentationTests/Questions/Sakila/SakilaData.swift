import Cambium
import FoundationEssentials

extension Sakila {
  /// A store with some hundred records.
  static func makeStore() throws -> PersistentStore {
    let store = try PersistentStore(inMemory: model)
    try SakilaData().insert(into: store)
    return store
  }
}

/// The records of a film rental. Amounts are multiples of a quarter, so sums of them are exact in any order.
struct SakilaData {
  /// How many times as many records there are.
  var scale = 1

  func insert(into store: PersistentStore) throws {
    try store.write { transaction in
      try transaction.insert(contentsOf: categories)
      try transaction.insert(
        contentsOf: (1...20 * scale).map { Actor(id: $0, name: "Actor \($0)") })
      try transaction.insert(contentsOf: (1...60 * scale).map { film($0) })
      try transaction.insert(contentsOf: (1...3).map { Shop(id: $0, address: address($0)) })
      try transaction.insert(
        contentsOf: (1...120 * scale).map { id in
          Copy(id: id, film: Reference(1 + id * 17 % (55 * scale)), shop: Reference(1 + id % 3))
        })
      try transaction.insert(contentsOf: (1...30 * scale).map { customer($0) })
      try transaction.insert(contentsOf: (30 * scale + 1...30 * scale + 3).map { staff($0) })
      try transaction.insert(contentsOf: (1...260 * scale).map { rental($0) })
      try transaction.insert(contentsOf: paidRentals.map { payment(for: $0) })
      try transaction.insert(contentsOf: (1...10 * scale).map { deposit(of: $0) })
    }
  }

  private typealias Category = Sakila.Category
  private typealias Actor = Sakila.Actor
  private typealias Film = Sakila.Film
  private typealias Address = Sakila.Address
  private typealias Shop = Sakila.Shop
  private typealias Copy = Sakila.Copy
  private typealias Person = Sakila.Person
  private typealias Customer = Sakila.Customer
  private typealias Staff = Sakila.Staff
  private typealias Rental = Sakila.Rental
  private typealias Payment = Sakila.Payment

  private var categories: [Category] {
    ["Comedy", "Drama", "Horror", "Music", "War"]
      .enumerated().map { Category(id: $0.offset + 1, name: $0.element) }
  }

  private func address(_ number: Int) -> Address {
    Address(street: "Road \(number)", city: ["Turin", "Lyon", "Porto"][number % 3])
  }

  /// Some have no copies, the last five among them.
  private func film(_ id: Int) -> Film {
    let first = ["Lost", "Golden", "Loud", "Bold"][id % 4]
    let second = ["Mission", "Lion", "River", "Station", "Sun"][id * 2 % 5]
    let hero = ["brave", "quiet", "clever"][id % 3]
    let job = ["robot", "cook", "dentist", "robber", "pilot"][id * 3 % 5]
    let all = ["Trailers", "Commentaries", "Deleted Scenes"]
    let features = all.indices.filter { id >> $0 & 1 == 1 }.map { all[$0] }
    let actors = (0..<2 + id % 4).map { number in
      Reference<Actor>(1 + (id * 7 + number * 3) % (20 * scale))
    }
    return Film(
      id: id, title: id <= 15 ? "\(first) \(second) \(id)" : "\(first) \(second)",
      summary: "A \(hero) \(job) in \(["Berlin", "space", "a bakery"][id / 3 % 3])",
      rating: ["G", "PG", "R"][id % 3], length: 60 + id * 37 % 100, rentalDays: 3 + id % 4,
      rate: [0.75, 2.25, 4.5][id / 2 % 3],
      features: features, category: Reference(1 + id * 3 % 5), actors: actors)
  }

  /// Some have never rented a film, the last two among them.
  private func customer(_ id: Int) -> Customer {
    Customer(
      person: Person(
        id: id, name: "\(["Ana", "Ben", "Cleo", "Dan"][id % 4]) \(id)", address: address(id * 2)),
      email: id % 5 == 0 ? nil : "\(id)@example.com")
  }

  private func staff(_ id: Int) -> Staff {
    Staff(person: Person(id: id, name: "Mia \(id)", address: address(id)), login: "staff\(id)")
  }

  private func customer(of rental: Int) -> Reference<Customer> {
    Reference(1 + (rental % 2 == 0 ? rental * rental : rental * 5) % (28 * scale))
  }

  private func rental(_ id: Int) -> Rental {
    // From the beginning of 2024 on, one after seven hours, or as many more.
    let rented = Date(timeIntervalSince1970: 1_704_067_200 + Double(id * 25_200 / scale))
    let hours = 24 * (1 + id * 11 % 8) + id % 5
    return Rental(
      id: id, copy: Reference(1 + id * 31 % (110 * scale)), customer: customer(of: id),
      rented: rented,
      returned: id % 9 == 0 ? nil : rented + Double(hours * 3_600))
  }

  /// The payment for a rental.
  private func payment(for rental: Int) -> Payment {
    let amounts = [0.75, 2.25, 4.5, 6]
    return Payment(
      id: rental, customer: customer(of: rental), rental: Reference(rental),
      amount: amounts[rental * 3 / 2 % 4])
  }

  /// A payment of a customer for no rental.
  private func deposit(of customer: Int) -> Payment {
    Payment(id: 1_000 * scale + customer, customer: Reference(customer), rental: nil, amount: 1.5)
  }

  /// The rentals that are paid.
  private var paidRentals: [Int] { (1...260 * scale).filter { $0 % 13 != 0 } }
}
