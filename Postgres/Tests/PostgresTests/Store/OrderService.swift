import Cambium
import FoundationEssentials

/// The code of an order service, written for any store of records.
enum OrderService {
  struct Customer: Record, Identifiable {
    var id: UUID
    var name: String
    var email: String?
    static let orders = Inverse("orders", of: \Order.customer, deleteRule: .deny)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("name")
      Field("email", unique: true)
      Validation("a name") { (customer: Customer) in !customer.name.isEmpty }
      orders
    }
  }

  struct Order: Record, Identifiable {
    var id: UUID
    var customer: Reference<Customer>
    var state: String
    var placed: Date
    var total: Decimal
    static let lines = Inverse("lines", of: \Line.order, deleteRule: .cascade)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("customer")
      Field("state", indexed: true)
      Field("placed")
      Field("total")
      lines
    }
  }

  struct Line: Record {
    var order: Reference<Order>
    var position: Int
    var product: String
    var quantity: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("order", primaryKey: true)
      Field("position", primaryKey: true)
      Field("product")
      Field("quantity")
    }
  }

  struct Counter: Record, Identifiable {
    var id: String
    var value: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("value")
    }
  }

  static let model = StoreModel(
    version: 1, records: [Customer.self, Order.self, Line.self, Counter.self])

  static func place(
    _ order: Order, _ products: [String], in store: some RecordStore
  ) async throws {
    try await store.write { transaction in
      try transaction.insert(order)
      for (position, product) in products.enumerated() {
        try transaction.insert(
          Line(order: Reference(order.id), position: position, product: product, quantity: 1))
      }
    }
  }

  static func ship(_ id: UUID, in store: some RecordStore) async throws {
    try await store.write { transaction in
      var order = try transaction.find(Order.self, key: id)
      order.state = "shipped"
      try transaction.update(order)
    }
  }

  static func count(_ name: String, in store: some RecordStore) async throws {
    try await store.write { transaction in
      var counter =
        try transaction.fetch(Counter.self, key: name) ?? Counter(id: name, value: 0)
      counter.value += 1
      try transaction.save(counter)
    }
  }

  /// The totals of the orders in each state.
  static func totals(in store: some RecordStore) async throws -> [String] {
    try await store.read { snapshot in
      try snapshot.fetch(Query<Order>().grouped(by: \.state).computing(.sum(\.total))).map {
        "\($0.key): \($0.count), \($0.value)"
      }
    }
  }
}
