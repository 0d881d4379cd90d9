import Cambium
import CambiumPostgres
import FoundationEssentials
import Testing

/// Records whose tables are divided over several servers.
@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct DivisionTests {
  private func database(_ name: String) throws -> DividedDatabase {
    try DividedDatabase(name, on: try #require(PostgresServer.shared))
  }

  // MARK: The plan

  @Test func `the plan has the parts of every server, and what Citus would be told`() throws {
    let database = try database("divided_plan")
    defer { database.end() }
    let plan = PostgresPlan(database.store.schema, options: try database.options)
    let text = plan.text(nil)
    for line in [
      ") PARTITION BY HASH (id)", ") PARTITION BY HASH (\"order\")",
      "CREATE FOREIGN TABLE public.line_2 PARTITION OF public.line FOR VALUES WITH (MODULUS 3, REMAINDER 1)",
      "CREATE TABLE public.product (", "-- CREATE TABLE public.order_3 (",
      "-- ALTER TABLE public.line_1 ADD CONSTRAINT line_order_fkey FOREIGN KEY (\"order\") REFERENCES public.order_1 (id) ON DELETE CASCADE",
      "create_distributed_table('public.\"order\"', 'id')",
      "create_distributed_table('public.line', 'order')",
    ] {
      #expect(text.contains(line), "\(line) in \(text)")
    }
    #expect(plan.notes.isEmpty, "\(plan.notes)")
    let json = try plan.json(nil)
    #expect(json.contains("\"servers\" : ["))
  }

  @Test func `what cannot be divided is refused, with the reason`() throws {
    let database = try database("divided_refusals")
    defer { database.end() }
    let servers = database.servers
    let refusals: [(servers: [String], records: [String], reason: String)] = [
      ([], ["Order"], "server"), (servers, [], "record"),
      (servers, ["Nothing"], "no record Nothing"), (servers, ["Line.product"], "primary key"),
      ([servers[0], servers[0]], ["Order"], "same address"), (["host=/tmp"], ["Order"], "database"),
      ([servers[0] + " password=secret"], ["Order"], ".pgpass"),
    ]
    for refusal in refusals {
      let error = #expect(throws: MoveError.self) {
        try Division(over: refusal.servers, of: refusal.records, in: database.store.schema)
      }
      let text = error.map { "\($0)" } ?? ""
      #expect(text.contains(refusal.reason), "\(refusal): \(text)")
    }
    let workshop = try StoreModel(
      version: 1,
      records: [
        Workshop.Maker.self, Workshop.Tag.self, Workshop.Tool.self,
      ]
    ).schemas()[0]
    #expect(throws: MoveError.self) { try Division(over: servers, of: ["Tool"], in: workshop) }
    // A reference, and a unique name, that no server can check.
    var options = PlanOptions()
    options.division = try Division(over: servers, of: ["Maker"], in: workshop)
    let notes = PostgresPlan(workshop, options: options).notes.map(\.description)
    #expect(notes.contains { $0.hasPrefix("Tool.maker is checked by no server") }, "\(notes)")
    #expect(notes.contains { $0.contains("unique constraint") }, "\(notes)")
  }

  // MARK: Moving

  @Test func `records are moved to their servers, followed, compared and taken back`() throws {
    let database = try database("divided_move")
    defer { database.end() }
    try DividedShop.fill(database.store, orders: 0..<200)
    #expect(try database.move(batch: 3_000) == 505)
    #expect(try database.verification().isSame)
    let orders = try database.counts("order")
    #expect(orders.reduce(0, +) == 200 && orders.allSatisfy { $0 > 20 }, "\(orders)")
    #expect(try database.counts("line").reduce(0, +) == 300)
    for (number, server) in database.servers.enumerated() {
      let alone = try Connection(server).run(
        "SELECT count(*) FROM line_\(number + 1) l WHERE NOT EXISTS"
          + " (SELECT FROM order_\(number + 1) o WHERE o.id = l.\"order\")")
      #expect(alone == [["0"]], "a line is on another server than its order")
    }
    try DividedShop.fill(database.store, orders: 190..<230)
    try database.store.write { transaction in
      for number in 0..<20 {
        try transaction.delete(DividedShop.Order.self, key: DividedShop.id(number))
      }
    }
    try Follow(database.store, identity: try database.identity, to: database.address).catchUp()
    let found = try database.verification()
    #expect(found.isSame, "\(found.differences)")
    #expect(try database.counts("order").reduce(0, +) == 210)
    let extra = "INSERT INTO public.order_1 SELECT gen_random_uuid(), 1, 'open', 1"
    try Connection(database.servers[0]).run(extra)
    #expect(try database.verification().differences.map(\.kind) == [.extra])
    try database.store.close()
    _ = try BackOut(database.path, to: database.address).run()
    for server in database.servers {
      #expect(
        try Connection(server).run("SELECT FROM pg_tables WHERE schemaname = 'public'").isEmpty)
    }
  }

  @Test func `a move that is cut at any point resumes, with nothing twice and nothing lost`() throws
  {
    let server = try #require(PostgresServer.shared)
    let database = try database("divided_cut")
    defer { database.end() }
    try DividedShop.fill(database.store, orders: 0..<150)
    var random = SystemRandomNumberGenerator()
    let budgets = (0..<30).map { 300 + $0 * 900 + Int.random(in: 0..<900, using: &random) }
    let proxy = try CuttingProxy(before: server, named: "divided_cut", cuttingAfter: budgets)
    let through = server.address("divided_cut", host: proxy.directory)
    #expect(try database.move(through: through, batch: 2_000) == 378, "\(budgets)")
    #expect(proxy.rest < 30)
    let found = try database.verification()
    #expect(found.isSame, "\(budgets): \(found.differences)")
  }

  @Test func `rows that a server has committed before it was cut off are not there twice`() throws {
    let database = try database("divided_uncounted")
    defer { database.end() }
    try DividedShop.fill(database.store, orders: 0..<60)
    let count = try database.move()
    // As if the server of the address had not committed the last batch.
    try Connection(database.address).run(
      "UPDATE cambium.moved SET row_count = 20, has_keys = false WHERE record = 'Order';"
        + " UPDATE cambium.store SET stage = 'copying'")
    #expect(try database.move() == count)
    #expect(try database.counts("order").reduce(0, +) == 60)
    #expect(try database.verification().isSame)
  }

  @Test func `after a finished move was taken back, following replaces rows without their lines`()
    async throws
  {
    let database = try database("divided_again")
    defer { database.end() }
    try DividedShop.fill(database.store, orders: 0..<40)
    _ = try database.move()
    await (try await database.finish()).close()
    _ = try BackOut(database.path, to: database.address).run()
    let store = try await PersistentStore(
      at: database.path, model: DividedShop.model, options: DividedDatabase.storeOptions)
    for number in 0..<40 { try await store.save(DividedShop.order(number)) }
    try Follow(store, identity: try database.identity, to: database.address).catchUp()
    let found = try Verification(
      of: try store.snapshot(), identity: try database.identity, in: database.address)
    #expect(found.isSame, "\(found.differences)")
    try await store.close()
  }

  @Test func `after finishing that was cut off, following replaces rows without their lines`()
    throws
  {
    let database = try database("divided_unfinished")
    defer { database.end() }
    try DividedShop.fill(database.store, orders: 0..<40)
    _ = try database.move()
    let follow = Follow(
      database.store, identity: try database.identity, to: database.address)
    try database.store.save(DividedShop.order(1))
    try follow.catchUp()
    // As finishing makes them, before it says that it is finished.
    for (number, server) in database.servers.enumerated() {
      let part = number + 1
      try Connection(server).run(
        "ALTER TABLE line_\(part) ADD CONSTRAINT line_order_fkey FOREIGN KEY (\"order\") REFERENCES order_\(part) (id) ON DELETE CASCADE"
      )
    }
    for number in 0..<40 { try database.store.save(DividedShop.order(number)) }
    try follow.catchUp()
    let found = try database.verification()
    #expect(found.isSame, "\(found.differences)")
  }

  @Test func `a table of others on a server is left alone, and the move says so`() throws {
    let database = try database("divided_taken")
    defer { database.end() }
    try Connection(database.servers[1]).run("CREATE TABLE public.line_2 (id int)")
    #expect(throws: MoveError.self) { try database.move() }
    try Connection(database.servers[1]).run("DROP TABLE public.line_2")
    #expect(try database.move() == 0)
  }

  // MARK: The store

  /// Runs the shop, and returns all that can be seen of it afterwards.
  private func run(_ store: some RecordStore) async throws -> [String] {
    typealias Order = DividedShop.Order
    typealias Line = DividedShop.Line
    for number in 30..<40 {
      try await store.write { transaction in
        // The line comes first: references are checked by the commit.
        try transaction.insert(DividedShop.line(number, 0))
        try transaction.insert(DividedShop.order(number))
        try transaction.insert(DividedShop.line(number, 1))
      }
    }
    for number in 0..<5 {
      try await store.write { transaction in
        var order = try transaction.find(Order.self, key: DividedShop.id(number))
        order.state = "shipped"
        try transaction.update(order)
        try transaction.update(Line.where { $0.order == Reference(order.id) }) { line in
          line.quantity += 10
        }
      }
    }
    _ = try await store.write { transaction in
      try transaction.delete(Order.self, key: DividedShop.id(7))
    }
    try await store.write { transaction in
      let count = try transaction.delete(
        Line.where { $0.order == Reference(DividedShop.id(11)) && $0.position > 0 })
      guard count == 2 else { throw StoreError.noSuchRecord(record: "Line", key: "\(count)") }
    }
    var refused = 0
    do {
      try await store.write { transaction in try transaction.insert(DividedShop.order(30)) }
    } catch StoreError.duplicateKey {
      refused += 1
    }
    do {
      try await store.write { transaction in
        var line = DividedShop.line(31, 5)
        line.product = "p1"
        try transaction.insert(line)
      }
    } catch StoreError.uniqueConflict {
      refused += 1
    }
    do {
      try await store.write { transaction in try transaction.insert(DividedShop.line(999, 0)) }
    } catch StoreError.danglingReference(let record, _, let field, let destination) {
      refused += record == "Line" && field == "order" && destination.contains("Order") ? 1 : 0
    }
    var seen = try await store.read { snapshot in
      try snapshot.fetch(Query<Line>()).map { "\($0)" }
        + snapshot.fetch(Order.sorted(by: .descending(\.total)).limit(20)).map { "\($0)" }
        + snapshot.fetch(Query<Order>().grouped(by: \.state).computing(.sum(\.total))).map {
          "\($0.key): \($0.count), \($0.value)"
        }
    }
    seen.append("\(refused)")
    return seen
  }

  @Test func `a program does the same on several servers as embedded, line by line`() async throws {
    let database = try database("divided_store")
    defer { database.end() }
    try DividedShop.fill(database.store, orders: 0..<30)
    let embedded = try PersistentStore(inMemory: DividedShop.model)
    try DividedShop.fill(embedded, orders: 0..<30)
    _ = try database.move()
    let store = try await database.finish()
    let expected = try await run(embedded)
    #expect(try await run(store) == expected)
    #expect(expected.last == "3" && expected.count > 60)
    #expect(try database.counts("line").allSatisfy { $0 > 0 })
    await store.close()
  }

  @Test func `a transaction on several servers is refused, unless that is allowed`() async throws {
    let database = try database("divided_several")
    defer { database.end() }
    try DividedShop.fill(database.store, orders: 0..<40)
    _ = try database.move()
    let store = try await database.finish()
    let before = try await store.fetch(Query<DividedShop.Order>())
    func change(_ store: PostgresStore) async throws -> Int {
      try await store.write { transaction in
        try transaction.update(DividedShop.Order.where { $0.state == "open" }) { order in
          order.state = "lost"
        }
      }
    }
    await #expect(throws: PostgresStoreError.severalServers) { try await change(store) }
    // A product is on the server of the address.
    await #expect(throws: PostgresStoreError.severalServers) {
      try await store.write { transaction in
        try transaction.save(DividedShop.Product(id: "p1", stock: 1))
        try transaction.delete(DividedShop.Order.self, key: DividedShop.id(3))
      }
    }
    #expect(
      try await store.fetch(Query<DividedShop.Order>()).map { "\($0)" } == before.map { "\($0)" })
    try await store.write { transaction in
      try transaction.save(DividedShop.Product(id: "p1", stock: 1))
    }
    await store.close()
    var options = PostgresOptions()
    options.writesSeveralServers = true
    let other = try await PostgresStore(
      database.address, model: DividedShop.model, options: options)
    #expect(try await change(other) == 20)
    #expect(try await other.count(DividedShop.Order.where { $0.state == "lost" }) == 20)
    await other.close()
  }

  @Test
  func `a commit whose answer is lost is looked up, but on a divided record's server nothing says`()
    async throws
  {
    let server = try #require(PostgresServer.shared)
    let database = try database("divided_lost")
    defer { database.end() }
    try DividedShop.fill(database.store, orders: 0..<10)
    _ = try database.move()
    let direct = try await database.finish()
    let proxy = try CuttingProxy(
      before: server, named: "divided_lost", cuttingAfter: [], commits: 2)
    let store = try await PostgresStore(
      server.address("divided_lost", host: proxy.directory), model: DividedShop.model)
    _ = try await store.write { transaction in
      try transaction.update(DividedShop.Product.where { $0.id == "p1" }) { $0.stock -= 1 }
    }
    #expect(try await direct.fetch(DividedShop.Product.self, key: "p1")?.stock == 99)
    do {
      _ = try await store.write { transaction in
        try transaction.update(DividedShop.Order.where { $0.id == DividedShop.id(2) }) {
          $0.customer += 1
        }
      }
      Issue.record("its outcome was known")
    } catch StoreError.outcomeUnknown {}
    #expect(proxy.rest == 0)
    #expect(
      [2, 3].contains(
        try await direct.fetch(DividedShop.Order.self, key: DividedShop.id(2))?.customer))
    await store.close()
    await direct.close()
  }

  @Test func `a query that names the field goes to one server, and explain says which do not`()
    async throws
  {
    typealias Order = DividedShop.Order
    typealias Line = DividedShop.Line
    let database = try database("divided_explain")
    defer { database.end() }
    try DividedShop.fill(database.store, orders: 0..<40)
    _ = try database.move()
    let store = try await database.finish()
    let id = DividedShop.id(9)
    let counts = [
      try await store.explain(Order.where { $0.id == id }).servers.count,
      try await store.explain(Line.where { $0.order == Reference(id) && $0.position > 0 }).servers
        .count,
      try await store.explain(Order.where { $0.state == "open" }).servers.count,
      try await store.explain(Line.where { $0.position == 0 }).servers.count,
      try await store.explain(DividedShop.Product.where { $0.stock > 0 }).servers.count,
    ]
    #expect(counts == [1, 1, 3, 3, 0])
    let found = try await store.explain(Order.where { $0.id == id })
    #expect(found.description.hasPrefix("on one server: host="), "\(found)")
    await store.close()
  }

  @Test func `what divided records cannot have is a typed error`() async throws {
    let database = try database("divided_errors")
    defer { database.end() }
    _ = try database.move()
    let store = try await database.finish()
    await #expect(throws: PostgresStoreError.self) {
      _ = try await store.observeChanges(of: DividedShop.Order.self)
    }
    _ = try await store.observeChanges(of: DividedShop.Product.self)
    await store.close()
    let newer = StoreModel(
      version: 2, records: [DividedShop.Order.self, DividedShop.Line.self])
    await #expect(throws: PostgresStoreError.self) {
      _ = try await PostgresStore(database.address, model: newer)
    }
  }
}
