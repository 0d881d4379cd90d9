import Cambium
import FoundationEssentials

extension Sakila {
  /// A store with some hundred records. Amounts are multiples of a quarter, so sums of them are exact in any order.
  static func makeStore() throws -> PersistentStore {
    let store = try PersistentStore(inMemory: model)
    try store.write { transaction in
      try transaction.insert(contentsOf: categories)
      try transaction.insert(contentsOf: (1...20).map { Actor(id: $0, name: "Actor \($0)") })
      try transaction.insert(contentsOf: (1...60).map { film($0) })
      try transaction.insert(contentsOf: (1...3).map { Shop(id: $0, address: address($0)) })
      try transaction.insert(
        contentsOf: (1...120).map { id in
          Copy(id: id, film: Reference(1 + id * 17 % 55), shop: Reference(1 + id % 3))
        })
      try transaction.insert(contentsOf: (1...30).map { customer($0) })
      try transaction.insert(contentsOf: (31...33).map { staff($0) })
      try transaction.insert(contentsOf: (1...260).map { rental($0) })
      try transaction.insert(contentsOf: paidRentals.map { payment(for: $0) })
      try transaction.insert(contentsOf: (1...10).map { deposit(of: $0) })
    }
    return store
  }

  private static let categories = ["Comedy", "Drama", "Horror", "Music", "War"]
    .enumerated().map { Category(id: $0.offset + 1, name: $0.element) }

  private static func address(_ number: Int) -> Address {
    Address(street: "Road \(number)", city: ["Turin", "Lyon", "Porto"][number % 3])
  }

  /// The last five have no copies.
  private static func film(_ id: Int) -> Film {
    let first = ["Lost", "Golden", "Loud", "Bold"][id % 4]
    let second = ["Mission", "Lion", "River", "Station", "Sun"][id * 2 % 5]
    let hero = ["brave", "quiet", "clever"][id % 3]
    let job = ["robot", "cook", "dentist", "robber", "pilot"][id * 3 % 5]
    let all = ["Trailers", "Commentaries", "Deleted Scenes"]
    let features = all.indices.filter { id >> $0 & 1 == 1 }.map { all[$0] }
    let actors = (0..<2 + id % 4).map { number in
      Reference<Actor>(1 + (id * 7 + number * 3) % 20)
    }
    return Film(
      id: id, title: id <= 15 ? "\(first) \(second) \(id)" : "\(first) \(second)",
      summary: "A \(hero) \(job) in \(["Berlin", "space", "a bakery"][id / 3 % 3])",
      rating: ["G", "PG", "R"][id % 3], length: 60 + id * 37 % 100, rentalDays: 3 + id % 4,
      rate: [0.75, 2.25, 4.5][id / 2 % 3],
      features: features, category: Reference(1 + id * 3 % 5), actors: actors)
  }

  /// Some have never rented a film, the last two among them.
  private static func customer(_ id: Int) -> Customer {
    Customer(
      person: Person(
        id: id, name: "\(["Ana", "Ben", "Cleo", "Dan"][id % 4]) \(id)", address: address(id * 2)),
      email: id % 5 == 0 ? nil : "\(id)@example.com")
  }

  private static func staff(_ id: Int) -> Staff {
    Staff(person: Person(id: id, name: "Mia \(id)", address: address(id)), login: "staff\(id)")
  }

  private static func customer(of rental: Int) -> Reference<Customer> {
    Reference(1 + (rental % 2 == 0 ? rental * rental : rental * 5) % 28)
  }

  private static func rental(_ id: Int) -> Rental {
    // From the beginning of 2024 on, one after seven hours.
    let rented = Date(timeIntervalSince1970: 1_704_067_200 + Double(id * 25_200))
    let hours = 24 * (1 + id * 11 % 8) + id % 5
    return Rental(
      id: id, copy: Reference(1 + id * 31 % 110), customer: customer(of: id), rented: rented,
      returned: id % 9 == 0 ? nil : rented + Double(hours * 3_600))
  }

  /// The payment for a rental.
  private static func payment(for rental: Int) -> Payment {
    let amounts = [0.75, 2.25, 4.5, 6]
    return Payment(
      id: rental, customer: customer(of: rental), rental: Reference(rental),
      amount: amounts[rental * 3 / 2 % 4])
  }

  /// A payment of a customer for no rental.
  private static func deposit(of customer: Int) -> Payment {
    Payment(id: 1_000 + customer, customer: Reference(customer), rental: nil, amount: 1.5)
  }

  /// The rentals that are paid.
  private static var paidRentals: [Int] { (1...260).filter { $0 % 13 != 0 } }
}
