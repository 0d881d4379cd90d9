import Cambium
import CambiumPostgres
import FoundationEssentials
import Testing

@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct PostgresStoreTests {
  private typealias Customer = OrderService.Customer
  private typealias Order = OrderService.Order
  private typealias Line = OrderService.Line
  private typealias Counter = OrderService.Counter

  private func open(_ name: String) async throws -> PostgresStore {
    let server = try #require(PostgresServer.shared)
    return try await PostgresStore(try server.makeDatabase(name), model: OrderService.model)
  }

  private static func customer(_ number: Int, email: String? = nil) -> Customer {
    Customer(id: Workshop.identity(number), name: "Customer \(number)", email: email)
  }

  private static func order(_ number: Int, of customer: Int) -> Order {
    Order(
      id: Workshop.identity(100 + number), customer: Reference(Workshop.identity(customer)),
      state: number % 2 == 0 ? "open" : "paid",
      placed: Date(timeIntervalSinceReferenceDate: Double(number)), total: Decimal(number) / 4)
  }

  /// Runs the order service, and returns all that can be seen of it afterwards.
  private func run(_ store: some RecordStore) async throws -> [String] {
    for number in 0..<3 { try await store.insert(Self.customer(number)) }
    for number in 0..<6 {
      try await OrderService.place(
        Self.order(number, of: number % 3), ["lamp", "nail"], in: store)
    }
    try await OrderService.ship(Workshop.identity(102), in: store)
    try await OrderService.count("orders", in: store)
    try await OrderService.count("orders", in: store)
    try await store.write { transaction in
      try transaction.delete(Order.self, key: Workshop.identity(105))
      try transaction.delete(Line.where { $0.product == "nail" && $0.position == 1 })
    }
    var seen = try await OrderService.totals(in: store)
    seen += try await store.read { snapshot in
      try snapshot.fetch(Line.self).map { "\($0)" }
        + snapshot.fetch(Order.sorted(by: .descending(\.total))).map { "\($0)" }
        + snapshot.fetch(Counter.self).map { "\($0)" }
    }
    return seen
  }

  @Test func `the order service does the same on a server as embedded, line by line`()
    async throws
  {
    let expected = try await run(PersistentStore(inMemory: OrderService.model))
    let store = try await open("service")
    #expect(try await run(store) == expected)
    #expect(expected.count > 10)
  }

  @Test
  func
    `a database that a store made is opened again, and by another version only if it may be migrated`()
    async throws
  {
    let server = try #require(PostgresServer.shared)
    let address = try server.makeDatabase("again")
    let first = try await PostgresStore(address, model: OrderService.model)
    try await first.save(Self.customer(1))
    await first.close()
    await #expect(throws: StoreError.self) { try await first.count(Query<Customer>()) }
    let second = try await PostgresStore(address, model: OrderService.model)
    #expect(try await second.count(Query<Customer>()) == 1)
    await #expect(throws: PostgresStoreError.self) {
      try await PostgresStore(address, model: TruthTable.model)
    }
    let newer = StoreModel(version: 2, records: [Customer.self, Order.self, Line.self])
    await #expect(throws: StoreError.needsMigration(found: 1, wanted: 2)) {
      try await PostgresStore(address, model: newer, migration: .refuse)
    }
    var options = PostgresOptions()
    options.createsTables = false
    let empty = try server.makeDatabase("nothing")
    await #expect(throws: PostgresStoreError.self) {
      try await PostgresStore(empty, model: OrderService.model, options: options)
    }
  }

  @Test func `sorted queries read the first records along an index, in both directions`()
    async throws
  {
    let server = try #require(PostgresServer.shared)
    let address = try server.makeDatabase("sorted")
    let store = try await PostgresStore(address, model: OrderService.model)
    try await store.insert(Self.customer(1))
    try Connection(address).run(
      """
      INSERT INTO "order" (id, customer, state, placed, total)
        SELECT gen_random_uuid(), c.id, 'state ' || n, now(), n FROM customer c, generate_series(1, 20000) n;
      ANALYZE "order"
      """)
    for (query, index) in [
      (Query<Order>(), "order_pkey"), (Order.sorted(by: .ascending(\.state)), "order_state_idx"),
      (Order.sorted(by: .descending(\.state)), "order_state_idx"),
    ] {
      let plan = try await store.explain(query.limit(10)).plan
      #expect(plan.contains("\(index) on") || plan.contains("using \(index)"), "\(plan)")
    }
    #expect(
      try await store.explain(Order.sorted(by: .ascending(\.total)).limit(10)).plan.contains(
        "Seq Scan"))
  }

  @Test func `the errors of a record are those of an embedded store, and the transaction goes on`()
    async throws
  {
    let embedded = try PersistentStore(inMemory: OrderService.model)
    let server = try await open("refusals")
    func errors(_ store: some RecordStore) async throws -> [String] {
      try await store.write { transaction in
        var errors: [String] = []
        func attempt(_ body: () throws -> Void) {
          do {
            try body()
            errors.append("none")
          } catch {
            errors.append("\(error)")
          }
        }
        try transaction.insert(Self.customer(1, email: "a"))
        attempt { try transaction.insert(Self.customer(1)) }
        attempt { try transaction.update(Self.customer(2)) }
        attempt { try transaction.save(Self.customer(3, email: "a")) }
        attempt { try transaction.insert(Self.customer(3, email: "a")) }
        attempt { try transaction.save(Customer(id: Workshop.identity(4), name: "")) }
        attempt { _ = try transaction.find(Customer.self, key: Workshop.identity(9)) }
        attempt { try transaction.save(Self.customer(5, email: nil)) }
        attempt { try transaction.save(Self.customer(1, email: "a")) }
        errors.append("\(try transaction.delete(Self.customer(7)))")
        errors.append("\(try transaction.count(Customer.self))")
        return errors
      }
    }
    let expected = try await errors(embedded)
    #expect(try await errors(server) == expected)
    #expect(try await server.count(Query<Customer>()) == embedded.count(Customer.self))
  }

  @Test func `references and delete rules refuse the commit, as in an embedded store`()
    async throws
  {
    let embedded = try PersistentStore(inMemory: OrderService.model)
    let server = try await open("rules")
    func errors(_ store: some RecordStore) async throws -> [String] {
      try await store.insert(Self.customer(1))
      try await store.insert(Self.order(1, of: 1))
      var errors: [String] = []
      do {
        try await store.insert(Self.order(2, of: 2))
      } catch StoreError.danglingReference(let record, let key, let field, _) {
        errors.append("\(record) \(key.lowercased()) \(field)")
      }
      do {
        try await store.delete(Self.customer(1))
      } catch StoreError.deleteDenied(let record, let key, let by, let count) {
        errors.append("\(record) \(key.lowercased()) \(by) \(count)")
      }
      // In any order, since references are checked at the end.
      try await store.write { transaction in
        try transaction.insert(Self.order(3, of: 3))
        try transaction.insert(Self.customer(3))
        try transaction.delete(Self.customer(1))
        try transaction.delete(Self.order(1, of: 1))
      }
      errors.append("\(try await store.read { try $0.count(Order.self) })")
      return errors
    }
    let expected = try await errors(embedded)
    #expect(try await errors(server) == expected)
    #expect(expected.count == 3)
  }

  @Test func `transactions that conflict are run again, and none of their changes is lost`()
    async throws
  {
    let store = try await open("conflicts")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<25 {
            while true {
              do {
                try await OrderService.count("all", in: store)
                break
              } catch PostgresStoreError.conflict {
                continue
              }
            }
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await store.fetch(Counter.self, key: "all")?.value == 100)
  }

  @Test
  func `a body that throws changes nothing, and one that hides an error of the server neither`()
    async throws
  {
    struct Stop: Error {}
    let store = try await open("rollback")
    await #expect(throws: Stop.self) {
      try await store.write { transaction in
        try transaction.insert(Counter(id: "a", value: 1))
        throw Stop()
      }
    }
    await #expect(throws: PostgresStoreError.self) {
      try await store.write { transaction in
        try transaction.insert(Counter(id: "b", value: 1))
        try transaction.save(Counter(id: "c", value: 1), onConflict: .keepOther)
      }
    }
    await #expect(throws: PostgresStoreError.self) {
      try await store.save(Counter(id: "nul\0", value: 1))
    }
    #expect(try await store.count(Query<Counter>()) == 0)
  }

  @Test func `a transaction that is kept is closed after its end`() async throws {
    let store = try await open("kept")
    let kept = try await store.write { transaction in Kept(transaction) }
    #expect(throws: StoreError.self) { try kept.transaction.count(Counter.self) }
  }

  @Test func `a model with hooks or values outside of rows is refused, with all reasons`()
    async throws
  {
    let server = try #require(PostgresServer.shared)
    let address = try server.makeDatabase("unsupported")
    do {
      _ = try await PostgresStore(address, model: Workshop.model)
      Issue.record("it was opened")
    } catch PostgresStoreError.unsupportedModel(let reasons) {
      #expect(reasons == ["Tool.picture is kept outside of its row"])
    }
    #expect(try Connection(address).run("SELECT to_regclass('cambium.store')") == [[nil]])
  }

  @Test func `a store that was moved goes on in the database`() async throws {
    let server = try #require(PostgresServer.shared)
    let address = try server.makeDatabase("moved_store")
    let path = Workshop.directory("moved_store")
    let embedded = try await PersistentStore(at: path, model: TruthTable.model)
    defer {
      try? embedded.close()
      try? PersistentStore.delete(at: path)
    }
    try await TruthTable.fill(embedded)
    try PostgresServer.move(embedded, at: path, to: address)
    let store = try await PostgresStore(address, model: TruthTable.model)
    let all = try await store.fetch(Query<TruthTable.Sample>())
    #expect(all.map { "\($0)" } == (try embedded.fetch(TruthTable.Sample.self)).map { "\($0)" })
  }
}

/// A transaction out of its closure.
private struct Kept: @unchecked Sendable {
  let transaction: PostgresTransaction

  init(_ transaction: PostgresTransaction) { self.transaction = transaction }
}
