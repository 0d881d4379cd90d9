import Cambium
import CambiumPostgres
import FoundationEssentials

/// A shop whose orders and lines are divided over several servers, and whose products are on one.
enum DividedShop {
  struct Order: Record, Identifiable {
    var id: UUID
    /// Customers may be on another server than their orders, so none checks it.
    var customer: Int
    var state: String
    var total: Decimal
    static let lines = Inverse("lines", of: \Line.order, deleteRule: .cascade)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("customer", indexed: true)
      Field("state")
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
      Unique("order", "product")
    }
  }

  struct Product: Record, Identifiable {
    var id: String
    var stock: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      Field("id", primaryKey: true)
      Field("stock")
    }
  }

  static let model = StoreModel(version: 1, records: [Order.self, Line.self, Product.self])
  static let serverCount = 3

  static func id(_ number: Int) -> UUID { Workshop.identity(number) }

  static func order(_ number: Int) -> Order {
    Order(
      id: id(number), customer: number % 7, state: number % 2 == 0 ? "open" : "paid",
      total: Decimal(number) / 4)
  }

  static func line(_ order: Int, _ position: Int) -> Line {
    Line(order: Reference(id(order)), position: position, product: "p\(position)", quantity: order)
  }

  static func fill(_ store: PersistentStore, orders: Range<Int>) throws {
    try store.write { transaction in
      for number in orders {
        try transaction.save(order(number))
        for position in 0..<number % 4 { try transaction.save(line(number, position)) }
      }
      for number in 0..<5 { try transaction.save(Product(id: "p\(number)", stock: 100)) }
    }
  }
}

/// A store of the shop, and the databases that it is moved into: that of the address, and those of the servers.
struct DividedDatabase {
  let store: PersistentStore
  let path: String
  let address: String
  let servers: [String]

  init(_ name: String, on server: PostgresServer) throws {
    path = Workshop.directory(name)
    store = try PersistentStore(at: path, model: DividedShop.model, options: Self.storeOptions)
    address = try server.makeDatabase(name)
    servers = try (1...DividedShop.serverCount).map { try server.makeDatabase("\(name)_\($0)") }
  }

  static var storeOptions: StoreOptions {
    var options = StoreOptions()
    options.history = .keptForever
    return options
  }

  var options: PlanOptions {
    get throws {
      var options = PlanOptions()
      options.division = try Division(
        over: servers, of: ["Order", "Line.order"], in: store.schema)
      return options
    }
  }

  var identity: String { get throws { try PersistentStore.inspect(at: path).identity } }

  func move(through other: String? = nil, batch: Int = 4 << 20) throws -> Int {
    var move = Move(
      try store.snapshot(), of: try PersistentStore.inspect(at: path), options: try options,
      to: other ?? address)
    move.batchSize = batch
    move.patience = .seconds(600)
    return try move.run()
  }

  func verification() throws -> Verification {
    try Verification(
      of: try store.snapshot(), identity: try identity, in: address, rangeSize: 50)
  }

  /// The rows of a table on each server.
  func counts(_ table: String) throws -> [Int] {
    try servers.enumerated().map { number, server in
      let rows = try Connection(server).run("SELECT count(*) FROM public.\(table)_\(number + 1)")
      return rows.first?.first.flatMap { $0 }.flatMap { Int($0) } ?? -1
    }
  }

  /// Ends the store's life, and opens the database.
  func finish(_ options: PostgresOptions = PostgresOptions()) async throws -> PostgresStore {
    try await store.close()
    _ = try Finish(path, to: address).run()
    return try await PostgresStore(address, model: DividedShop.model, options: options)
  }

  func end() {
    try? store.close()
    try? PersistentStore.delete(at: path)
  }
}
