import Cambium
import CambiumPostgres
import FoundationEssentials
import Testing

/// Savepoints, and changes of many records, with the same results in a store on a server and in an embedded one.
@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct ManyRecordsTests {
  private typealias Customer = OrderService.Customer
  private typealias Order = OrderService.Order
  private typealias Line = OrderService.Line
  private typealias Counter = OrderService.Counter
  private typealias Sample = TruthTable.Sample
  private typealias Owner = TruthTable.Owner

  private struct Stop: Error {}

  private static func customer(_ number: Int) -> Customer {
    Customer(
      id: Workshop.identity(number), name: "Customer \(number)", email: "\(number)@example.org")
  }

  private static func order(_ number: Int, of customer: Int) -> Order {
    Order(
      id: Workshop.identity(100 + number), customer: Reference(Workshop.identity(customer)),
      state: "open", placed: Date(timeIntervalSinceReferenceDate: 0), total: 1)
  }

  /// Runs `body`, and returns its error, if it throws one.
  private static func attempt(_ body: () throws -> Void) -> String {
    do {
      try body()
      return "done"
    } catch {
      return "\(error)"
    }
  }

  private static func dump(_ transaction: borrowing some PortableReading & ~Copyable) throws
    -> [String]
  {
    try transaction.fetch(Customer.self).map { "\($0)" }
      + transaction.fetch(Order.self).map { "\($0)" }
      + transaction.fetch(Line.self).map { "\($0)" }
      + transaction.fetch(Counter.self).map { "\($0)" }
  }

  private func open(_ name: String, _ model: StoreModel) async throws -> (
    PersistentStore, PostgresStore
  ) {
    let server = try #require(PostgresServer.shared)
    return (
      try PersistentStore(inMemory: model),
      try await PostgresStore(try server.makeDatabase(name), model: model)
    )
  }

  // MARK: Savepoints

  private static func useSavepoints(
    _ transaction: inout some PortableWriting & ~Copyable
  ) throws -> [String] {
    var seen: [String] = []
    try transaction.insert(customer(1))
    try transaction.insert(order(1, of: 1))
    let kept = try transaction.savepoint { inner in
      try inner.insert(customer(2))
      return try inner.count(Customer.self)
    }
    seen.append("\(kept)")
    seen.append(
      attempt {
        try transaction.savepoint { inner in
          try inner.insert(customer(3))
          try inner.delete(order(1, of: 1))
          seen.append("\(try inner.count(Order.self))")
          throw Stop()
        }
      })
    // An inner one is undone alone, and an outer one with all within it.
    seen.append(
      attempt {
        try transaction.savepoint { outer in
          try outer.insert(customer(4))
          seen.append(
            attempt {
              try outer.savepoint { inner in
                try inner.insert(customer(5))
                throw Stop()
              }
            })
          try outer.savepoint { inner in try inner.insert(customer(6)) }
          seen.append("\(try outer.count(Customer.self))")
        }
      })
    seen.append(
      attempt {
        try transaction.savepoint { outer in
          try outer.savepoint { inner in try inner.insert(customer(7)) }
          throw Stop()
        }
      })
    seen.append(
      attempt {
        try transaction.savepoint { inner in
          try inner.insert(Counter(id: "a", value: 1))
          try inner.insert(customer(1))
        }
      })
    return seen + (try dump(transaction))
  }

  @Test func `savepoints undo what is in them, nested ones too, as in an embedded store`()
    async throws
  {
    let (embedded, server) = try await open("savepoints", OrderService.model)
    let expected = try await embedded.write { (transaction: inout PortableTransaction) in
      try Self.useSavepoints(&transaction)
    }
    let found = try await server.write { transaction in try Self.useSavepoints(&transaction) }
    #expect(found == expected)
    #expect(expected.count == 13)
    let after = try await server.read { try Self.dump($0) }
    #expect(after == (try Self.dump(try embedded.snapshot())))
  }

  private static func dangle(_ transaction: inout some PortableWriting & ~Copyable) throws {
    try transaction.insert(customer(1))
    try? transaction.savepoint { inner in
      try inner.delete(customer(1))
      throw Stop()
    }
    try transaction.insert(order(1, of: 2))
  }

  @Test func `a deletion that was undone denies nothing: its error is that of the reference`()
    async throws
  {
    let (embedded, server) = try await open("savepoint_references", OrderService.model)
    for isEmbedded in [true, false] {
      do {
        if isEmbedded {
          try await embedded.write { (transaction: inout PortableTransaction) in
            try Self.dangle(&transaction)
          }
        } else {
          try await server.write { transaction in try Self.dangle(&transaction) }
        }
        Issue.record("it was committed")
      } catch StoreError.danglingReference(let record, _, let field, _) {
        #expect([record, field] == ["Order", "customer"])
      }
    }
  }

  @Test
  func `an error of the server in a savepoint leaves the transaction usable, a hidden one too`()
    async throws
  {
    let server = try await open("savepoint_errors", OrderService.model).1
    // One is divided by zero, which only the server notices.
    let impossible = Counter.sorted(by: .descending { 1 / $0.value })
    let errors = try await server.write { transaction in
      var errors = 0
      try transaction.insert(Counter(id: "a", value: 0))
      for hides in [false, true] {
        do {
          try transaction.savepoint { inner in
            try inner.insert(Counter(id: "b", value: 1))
            if hides {
              _ = try? inner.fetch(impossible)
            } else {
              _ = try inner.fetch(impossible)
            }
          }
        } catch PostgresStoreError.server {
          errors += 1
        }
      }
      try transaction.insert(Counter(id: "c", value: 2))
      return errors
    }
    #expect(errors == 2)
    #expect(try await server.fetch(Query<Counter>()).map(\.id) == ["a", "c"])
    await #expect(throws: PostgresStoreError.self) {
      try await server.write { transaction in
        _ = try? transaction.fetch(impossible)
        try transaction.savepoint { inner in try inner.insert(Counter(id: "d", value: 1)) }
      }
    }
    #expect(try await server.count(Query<Counter>()) == 2)
  }

  @Test func `a conflict in a savepoint runs the whole transaction again, even if it is hidden`()
    async throws
  {
    let server = try await open("savepoint_conflicts", OrderService.model).1
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          for _ in 0..<10 {
            while true {
              do {
                try await server.write { transaction in
                  try? transaction.savepoint { inner in
                    let value = try inner.fetch(Counter.self, key: "all")?.value ?? 0
                    try inner.save(Counter(id: "all", value: value + 1))
                  }
                }
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
    #expect(try await server.fetch(Counter.self, key: "all")?.value == 40)
  }

  // MARK: Updates by a query

  private static func updateSamples(
    _ transaction: inout some PortableWriting & ~Copyable
  ) throws -> [String] {
    var seen: [String] = []
    func update(
      _ query: Query<Sample>, _ change: (inout Sample) throws -> Void
    ) throws {
      seen.append("\(try transaction.update(query, onConflict: .refuse, set: change))")
      seen += try transaction.fetch(Sample.self).map { "\($0)" }
    }
    let all = Query<Sample>()
    let others = TruthTable.samples
    // The values of each type, in records that have others.
    try update(all) { sample in
      let other = others[(sample.id + 5) % others.count]
      sample.flag = other.flag
      sample.int8 = other.int8
      sample.int64 = other.int64
      sample.uint8 = other.uint8
      sample.uint32 = other.uint32
      sample.uint64 = other.uint64
      sample.float = other.float
      sample.double = other.double
      sample.decimal = other.decimal
      sample.date = other.date
      sample.uuid = other.uuid
      sample.text = other.text
      sample.link = other.link
      sample.data = other.data
    }
    try update(Sample.where { $0.id < 9 }) { sample in
      let other = others[(sample.id + 5) % others.count]
      sample.numbers = other.numbers
      sample.doubles = other.doubles
      sample.words = other.words
      sample.place = other.place
      sample.owner = other.owner
      sample.owners = other.owners
    }
    try update(Sample.sorted(by: .descending(\.text)).limit(5).offset(2)) { $0.int16 = 77 }
    try update(Sample.where { $0.owners.any { $0.rank == 3 } }) { $0.owners.removeAll() }
    try update(Sample.where { $0.id < 0 }) { $0.int16 = 1 }
    try update(all.after(.integer(20))) { $0.int16 = 2 }
    seen.append(
      attempt {
        try update(all) { sample in
          if sample.id == 11 { throw Stop() }
          sample.int16 = 3
        }
      })
    seen.append(
      attempt {
        try update(all) { sample in
          sample.int16 = 4
          if sample.id == 7 { sample.id = 100 }
        }
      })
    return seen + (try transaction.fetch(Sample.self).map { "\($0)" })
  }

  @Test func `an update by a query changes the same records, fields of every type, and no others`()
    async throws
  {
    let (embedded, server) = try await open("updates", TruthTable.model)
    try await TruthTable.fill(embedded)
    try await TruthTable.fill(server)
    let expected = try await embedded.write { (transaction: inout PortableTransaction) in
      try Self.updateSamples(&transaction)
    }
    let found = try await server.write { transaction in try Self.updateSamples(&transaction) }
    #expect(found.count == expected.count)
    for (one, other) in zip(found, expected) { #expect(one == other) }
    let all = try await server.fetch(Query<Sample>())
    #expect(all.map { "\($0)" } == (try embedded.fetch(Sample.self)).map { "\($0)" })
  }

  private static func updateCustomers(
    _ transaction: inout some PortableWriting & ~Copyable
  ) throws -> [String] {
    var seen: [String] = []
    try transaction.insert(contentsOf: (1...9).map { customer($0) }, onConflict: .refuse)
    let all = Query<Customer>()
    func email(_ customer: Customer, _ offset: Int) -> String? {
      customer.email.flatMap { $0.split(separator: "@").first }.flatMap { Int($0) }
        .map { "\($0 + offset)@example.org" }
    }
    // Each takes what the one before it had: what the next one has yet, or has no more.
    for offset in [1, -1, 100, 0] {
      seen.append(
        attempt {
          let count = try transaction.update(all, onConflict: .refuse) { customer in
            customer.email = email(customer, offset)
          }
          seen.append("\(count)")
        })
      seen += try transaction.fetch(Customer.self).map { "\($0)" }
    }
    seen.append(
      attempt {
        try transaction.update(all, onConflict: .refuse) { customer in
          customer.name = customer.id == Workshop.identity(5) ? "" : "new"
        }
      })
    seen.append(
      attempt {
        try transaction.save(
          contentsOf: [customer(20), customer(21), Customer(id: Workshop.identity(2), name: "")],
          onConflict: .refuse)
      })
    seen.append("\(try transaction.delete(contentsOf: [customer(20), customer(30)]))")
    return seen + (try transaction.fetch(Customer.self).map { "\($0)" })
  }

  @Test
  func `an update that is refused changes the records before it, and unique values one by one`()
    async throws
  {
    let (embedded, server) = try await open("update_refusals", OrderService.model)
    let expected = try await embedded.write { (transaction: inout PortableTransaction) in
      try Self.updateCustomers(&transaction)
    }
    let found = try await server.write { transaction in try Self.updateCustomers(&transaction) }
    #expect(found == expected)
    #expect(expected.contains { $0.hasPrefix("uniqueConflict") || $0.contains("email") })
    await #expect(throws: PostgresStoreError.self) {
      try await server.write { transaction in
        try transaction.update(Query<Customer>(), onConflict: .keepOther) { $0.name = "other" }
      }
    }
  }

  @Test func `two thousand records are updated by a query, and deleted`() async throws {
    let server = try await open("update_many", OrderService.model).1
    try await server.write { transaction in
      try transaction.insert(
        contentsOf: (0..<2_000).map { Counter(id: "\($0)", value: $0) })
    }
    let count = try await server.update(Counter.where { $0.value >= 3 }) { $0.value = -$0.value }
    #expect(count == 1_997)
    let sum = try await server.read { try $0.sum(\Counter.value) }
    #expect(sum == 3 - (3..<2_000).reduce(0, +))
    #expect(try await server.delete(Counter.where { $0.value < -100 }) == 1_899)
    try await server.write { try $0.deleteAll(Counter.self) }
    #expect(try await server.count(Query<Counter>()) == 0)
  }

  @Test func `a record with an element that cannot be stored leaves the one before it as it was`()
    async throws
  {
    let server = try await open("impossible_lists", TruthTable.model).1
    try await TruthTable.fill(server)
    let before = try await server.fetch(Sample.self, key: 5)
    try await server.write { transaction in
      var sample = try transaction.find(Sample.self, key: 5)
      sample.int16 = 99
      sample.owners = [Reference("a\0")]
      #expect(throws: PostgresStoreError.self) { try transaction.update(sample) }
    }
    #expect("\(try await server.fetch(Sample.self, key: 5) as Any)" == "\(before as Any)")
  }
}
