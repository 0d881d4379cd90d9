import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A store with some accounts in it.
private func withAccounts(_ count: Int = 60, _ body: (PersistentStore, [Account]) throws -> Void)
  throws
{
  try withStore { store in
    let accounts = Account.some(count)
    try store.write { transaction in try transaction.insert(contentsOf: accounts) }
    try body(store, accounts)
  }
}

@Suite struct QueryTests {
  @Test func `conditions, orders, limits and offsets are given directly or as a query, G2 G6 G7`()
    throws
  {
    try withAccounts { store, accounts in
      let expected = accounts.filter { $0.city == "Ulm" && $0.balance > 2 }
        .sorted { ($0.balance, -$0.id) > ($1.balance, -$1.id) }
      let direct = try store.fetch(
        Account.where { $0.city == "Ulm" }.sorted(by: .descending(\.balance)).where {
          $0.balance > 2
        })
      #expect(direct == expected)
      let closure = try store.fetch(
        Account.where { $0.city == "Ulm" && $0.balance > 2 }
          .sorted(by: .descending(\.balance)).limit(3).offset(2))
      #expect(closure == Array(expected.dropFirst(2).prefix(3)))
      let query = Account.where { $0.city == "Ulm" && $0.balance > 2 }.sorted(
        by: .descending(\.balance)
      ).limit(5)
      #expect(try store.fetch(query) == Array(expected.prefix(5)))
      #expect(try store.snapshot().fetch(query) == Array(expected.prefix(5)))
      #expect(try store.first(query) == expected.first)
      #expect(try store.first(Account.where { $0.id > 1_000 }) == nil)
      #expect(try store.first(Account.where { $0.id > 2 }) == accounts[3])
      #expect(try store.fetch(Account.where { $0.id < 2 }) == Array(accounts.prefix(2)))
      #expect(try store.fetch(Query<Account>().limit(2)) == Array(accounts.prefix(2)))
      let byName = try store.fetch(
        Account.sorted(by: .ascending(\.name, caseInsensitive: true), .descending(\.id)))
      #expect(byName.map(\.name) == accounts.map(\.name).sorted())
      let named: [Query<Account>.Order] = ["city", "balance"].map {
        Query.Order(FieldOrder(field: $0, isDescending: $0 == "balance"))
      }
      #expect(named == [.ascending(\.city), .descending(\.balance)])
      var unknown = Query<Account>()
      unknown.order = [Query.Order(FieldOrder(field: "colour"))]
      guard case .invalidQuery = storeError({ try store.fetch(unknown) }) else {
        Issue.record("it was sorted by what is not there")
        return
      }
    }
  }

  @Test func `pages are turned after a record or its key, whether or not it is still there, G7`()
    throws
  {
    try withAccounts { store, accounts in
      let query = Account.sorted(by: .descending(\.balance)).limit(7)
      var pages: [Account] = []
      var last: Account?
      while true {
        let page = try store.fetch(query, after: last)
        guard let end = page.last else { break }
        pages += page
        last = end
        try store.delete(end)
      }
      #expect(pages == accounts.sorted { ($0.balance, -$0.id) > ($1.balance, -$1.id) })
      var next = Query<Account>().limit(2).after(10)
      #expect(
        try store.fetch(next).map(\.id)
          == store.fetch(Account.where { $0.id > 10 }).prefix(2).map(\.id))
      next.order = [.ascending(\.balance)]
      next.after = [10_000]
      guard case .noSuchRecord = storeError({ try store.fetch(next) }) else {
        Issue.record("it begins after what is not there")
        return
      }
    }
  }

  @Test func `counts, existence, keys and ids need no records, G8 G9`() throws {
    try withAccounts { store, accounts in
      let condition = Condition<Account> { $0.city == "Bonn" && $0.balance >= 3 }
      let expected = accounts.filter { $0.city == "Bonn" && $0.balance >= 3 }
      #expect(try store.count(Account.where(condition)) == expected.count)
      #expect(try store.count(Account.where { $0.isActive == true }) == 30)
      #expect(try store.count(Account.where(condition).limit(2).offset(1)) == 2)
      #expect(try store.contains(Account.where(condition)))
      #expect(try store.contains(Account.where { $0.city == "Bonn" }))
      let isInRome = try store.contains(Account.where { $0.city == "Rome" })
      #expect(!isInRome)
      let keys = expected.map { [FieldValue.integer(Int64($0.id))] }
      let found = try store.keys(Account.where(condition))
      #expect(found == keys)
      #expect(try store.ids(Account.where(condition)) == expected.map(\.id))
    }
  }

  @Test func `properties are selected as tuples, and rows without types, G10`() throws {
    try withAccounts { store, accounts in
      let rows = try store.select(\.name, \.balance, from: Account.where { $0.id < 3 })
      #expect(rows.map(\.0) == ["N0", "N1", "N2"])
      #expect(rows.map(\.1) == [0, 1, 2])
      let emails = try store.select(\.email, from: Account.where { $0.id == 4 })
      #expect(emails.first == "4@example.org")
      let dynamic = try store.fetch(
        record: "Account", where: try FieldCondition(parsing: #"city == "Ulm" && id > 40"#),
        sortedBy: [FieldOrder(field: "id", isDescending: true)], limit: 2, fields: ["id", "name"])
      let ids = accounts.filter { $0.city == "Ulm" && $0.id > 40 }.map(\.id).suffix(2).reversed()
      #expect(dynamic.map { $0["id"] } == ids.map { .integer(Int64($0)) })
      #expect(dynamic.allSatisfy { $0.fields.count == 2 })
      #expect(try store.count(record: "Account", where: try FieldCondition(parsing: "id < 5")) == 5)
    }
  }

  @Test func `sums, averages, lowest and highest values leave null out, G11`() throws {
    try withAccounts { store, accounts in
      try store.write { transaction in try transaction.save(Account(id: 100, name: "x", email: nil))
      }
      #expect(
        try store.sum(\.id, of: Account.where { $0.id < 100 }) == accounts.map(\.id).reduce(0, +))
      #expect(try store.sum(\Account.balance) == accounts.map(\.balance).reduce(0, +))
      #expect(try store.sum(\.balance, of: Account.where { $0.id > 1_000 }) == 0)
      #expect(try store.average(\.id, of: Account.where { $0.id <= 10 }) == 5)
      #expect(try store.average(\.id, of: Account.where { $0.id > 1_000 }) == nil)
      #expect(try store.min(\Account.balance) == 0)
      #expect(try store.max(\Account.balance, of: Query().where { $0.city == "Ulm" }) == 6)
      #expect(try store.min(\Account.email) == "0@example.org")
      #expect(try store.max(\Account.email, of: Query().where { $0.id == 100 }) == nil)
      #expect(try store.max(\Account.id, of: Query().limit(5).offset(2)) == 6)
    }
  }

  @Test func `a sum that is too high is refused`() throws {
    try withStore { store in
      try store.write { transaction in
        try transaction.save(Seat(row: "a", number: .max))
        try transaction.save(Seat(row: "b", number: 1))
      }
      guard case .invalidQuery("Seat", _, _) = storeError({ try store.sum(\Seat.number) }) else {
        Issue.record("it is a number")
        return
      }
      #expect(try store.sum(\.number, of: Seat.where { $0.row == "b" }) == 1)
      // What is out of range only on the way is a number.
      try store.save(Seat(row: "c", number: -1))
      #expect(try store.sum(\Seat.number) == Int.max)
    }
  }

  @Test func `a list of very many values finds what has one of them, and one of none nothing`()
    throws
  {
    try withAccounts { store, accounts in
      let count = scaled(200_000, debug: 10_000)
      let found = try store.count(Account.where { $0.id.isIn(Array(0..<count)) })
      #expect(found == accounts.count)
      let cities = (0..<count).map { "city \($0)" } + ["Ulm"]
      #expect(try store.count(Account.where { $0.city.isIn(cities) }) == 20)
      #expect(try store.count(Account.where { !$0.city.isIn(cities) }) == 40)
      #expect(try store.count(Account.where { $0.id.isIn([Int]()) }) == 0)
      #expect(try store.count(Account.where { !$0.id.isIn([Int]()) }) == accounts.count)
    }
  }

  @Test func `groups have counts, aggregates and conditions of their own, G12`() throws {
    try withAccounts { store, accounts in
      let groups = try store.fetch(
        Account.where { $0.id >= 3 }.grouped { ($0.city, $0.isActive) }
          .computing(.sum(\.balance), .max(\.id), .average(\.balance), .min(\.email))
          .having { $0.key.0 != "Bonn" })
      let expected = Dictionary(
        grouping: accounts.filter { $0.id >= 3 && $0.city != "Bonn" },
        by: { [$0.city, "\($0.isActive)"] })
      #expect(groups.count == expected.count)
      #expect(
        groups.map { [$0.key.0, "\($0.key.1)"] } == [
          ["Köln", "false"], ["Köln", "true"], ["Ulm", "false"], ["Ulm", "true"],
        ])
      for group in groups {
        let members = try #require(expected[[group.key.0, "\(group.key.1)"]])
        #expect(group.count == members.count)
        let sum = members.map(\.balance).reduce(0, +)
        #expect(group.value.0 == sum)
        #expect(group.value.1 == members.map(\.id).max())
        #expect(group.value.2 == sum / Double(members.count))
        #expect(group.value.3 == members.compactMap(\.email).min())
      }
      #expect(try store.distinct(\.city, from: Query<Account>()) == ["Bonn", "Köln", "Ulm"])
      #expect(try store.distinct(\.city, \.isActive, from: Query<Account>()).count == 6)
    }
  }

  @Test func `records are read one by one and in batches, G13`() throws {
    try withAccounts { store, accounts in
      let query = Account.where { $0.balance > 1 }.sorted(by: .ascending(\.city))
      let expected = try store.fetch(query)
      var found: [Account] = []
      try store.forEach(query) { found.append($0) }
      #expect(found == expected)
      found = []
      try store.forEachBatch(query, of: 7) { found += $0 }
      #expect(found == expected)
      let batches = try store.snapshot()
      let cursor = try store.cursor(query)
      try store.write { transaction in try transaction.deleteAll(Account.self) }
      #expect(try batches.fetch(query) == expected)
      #expect(try cursor.next(1_000) == expected)
      #expect(try cursor.next() == nil)
    }
  }

  @Test func `records are an asynchronous sequence, G13`() async throws {
    let store = try PersistentStore(inMemory: .samples)
    try await store.write { transaction in
      try transaction.insert(contentsOf: Account.some(60))
    }
    let query = Account.where { $0.balance > 1 }.sorted(by: .ascending(\.city))
    let (expected, records) = (try await store.fetch(query), try store.snapshot().records(query))
    var found: [Account] = []
    for try await account in store.records(query) {
      found.append(account)
      try await store.delete(account)
    }
    #expect(found == expected)
    #expect(try await store.count(query) == 0)
    found = []
    for try await account in records { found.append(account) }
    #expect(found == expected)
    let count = try await Task {
      var count = 0
      for try await _ in records {
        count += 1
        if count == 3 { unsafe withUnsafeCurrentTask { task in unsafe task?.cancel() } }
      }
      return count
    }.value
    #expect(count == 3)
    try await store.close()
    var iterator = store.records(query).makeAsyncIterator()
    await #expect(throws: StoreError.self) { _ = try await iterator.next() }
    #expect(try await iterator.next() == nil)
  }

  @Test
  func `queries of a transaction see what it wrote, and records can be changed on the way, G15`()
    throws
  {
    try withAccounts { store, _ in
      try store.write { transaction in
        try transaction.save(Account(id: 500, name: "new", email: nil, balance: 99))
        #expect(try transaction.max(\Account.balance) == 99)
        #expect(try transaction.count(Account.where { $0.balance > 50 }) == 1)
        let cursor = try transaction.cursor(Account.sorted(by: .descending(\.name)))
        var seen = 0
        while let account = try cursor.next() {
          seen += 1
          try transaction.delete(Account.self, key: (account.id + 1) % 60)
        }
        #expect(seen > 20 && seen < 61)
        #expect(try store.count(Account.self) == 60)
      }
    }
  }

  @Test func `records are deleted by query, with their hooks, F4`() throws {
    try withAccounts { store, accounts in
      try store.write { transaction in
        let count = try transaction.delete(Account.where { $0.city == "Ulm" })
        #expect(count == accounts.filter { $0.city == "Ulm" }.count)
        #expect(try transaction.delete(Account.where { $0.city == "Ulm" }) == 0)
        #expect(
          try transaction.delete(Account.sorted(by: .descending(\.id)).limit(3)) == 3)
      }
      let left = accounts.filter { $0.city != "Ulm" }.dropLast(3)
      #expect(try store.fetch(Account.self) == Array(left))
    }
  }

  @Test func `records are changed by query, checked like any others, F6`() throws {
    try withAccounts { store, accounts in
      try store.write { transaction in
        let count = try transaction.update(Account.where { $0.city == "Bonn" }) {
          $0.city = "Ulm"
          $0.balance += 1
        }
        #expect(count == 20)
        #expect(
          try transaction.update(Account.where { $0.id < 2 }) { $0.isActive = false } == 2)
      }
      #expect(try store.count(Account.where { $0.city == "Ulm" }) == 40)
      #expect(try store.sum(\Account.balance) == accounts.map(\.balance).reduce(20, +))
      #expect(try store.fetch(Account.self, key: 0)?.isActive == false)
      let before = try store.fetch(Account.self)
      let conflict = storeError {
        try store.write { transaction in
          _ = try transaction.update(Account.where { $0.id < 5 }) { $0.email = "same" }
        }
      }
      guard case .uniqueConflict = conflict else {
        Issue.record("\(String(describing: conflict))")
        return
      }
      let moved = storeError {
        try store.write { transaction in
          _ = try transaction.update(Account.where { $0.id == 5 }) { $0.id = 1_000 }
        }
      }
      guard case .invalidValue("Account", _, _) = moved else {
        Issue.record("\(String(describing: moved))")
        return
      }
      #expect(try store.fetch(Account.self) == before)
    }
  }

  @Test func `queries are data, and kept under names, G16`() throws {
    try withAccounts { store, _ in
      let query = Account.where { $0.city == "Ulm" && $0.balance > 2 }.sorted(
        by: .descending(\.balance), .ascending(\.name, caseInsensitive: true)
      ).limit(4).offset(1).after(3)
      #expect(
        "\(query)"
          == #"(city == "Ulm" && balance > 2.0) sorted by balance descending, name [c] limit 4 offset 1 after 3"#
      )
      try store.write { transaction in
        try transaction.setQuery(query, named: "rich")
        try transaction.setQuery(Query<Note>(), named: "all")
      }
      let kept = try #require(try store.query(Account.self, named: "rich"))
      #expect(kept.description == query.description)
      #expect(try store.fetch(kept) == store.fetch(query))
      #expect(try store.queryNames(Account.self) == ["rich"])
      #expect(try store.query(Note.self, named: "rich") == nil)
      #expect(try store.query(Note.self, named: "all") == Query())
      try store.write { transaction in
        try transaction.setQuery(nil as Query<Account>?, named: "rich")
      }
      #expect(try store.query(Account.self, named: "rich") == nil)
    }
  }

  @Test func `what cannot be asked is refused before a row is read`() throws {
    try withAccounts { store, _ in
      let other = Account.sorted(by: .ascending(\.balance, caseInsensitive: true))
      guard case .invalidQuery("Account", "balance", _) = storeError({ try store.fetch(other) })
      else {
        Issue.record("numbers have case")
        return
      }
      let unknown = Account.sorted(by: .ascending(\.name.count))
      guard case .invalidQuery("Account", _, _) = storeError({ try store.count(unknown) }) else {
        Issue.record("what is not stored is sorted by")
        return
      }
    }
  }

  @Test func `a plan can be explained`() throws {
    try withAccounts { store, _ in
      let query = Account.where { $0.city == "Ulm" && $0.isActive == true }.sorted(
        by: .descending(\.balance)
      ).limit(3)
      let plan = try store.explain(query, running: true)
      #expect(plan.record == "Account")
      #expect(plan.actual?.resultCount == 3)
      #expect(!plan.others.isEmpty)
      #expect(plan.description.contains("not "))
      let key = try store.explain(Account.where { $0.id == 5 }, running: true)
      #expect(key.access == "rows in one range")
      #expect(key.condition == nil && key.sorting == .none && key.actual?.rowCount == 1)
    }
  }

  @Test func `indexes serve patterns, and what converts to their values`() throws {
    let store = try PersistentStore(inMemory: .queried)
    func access(_ record: String, _ text: String) throws -> String {
      let condition = try FieldCondition(parsing: text)
      let plan = try store.explain(record: record, where: condition)
      return plan.access + (plan.condition == nil ? "" : " and a condition")
    }
    try store.write { transaction in
      for id in 0..<300 {
        let name = "name\(id)"
        try transaction.save(QueriedRecord(id: id, group: id, name: name, title: name))
        try transaction.save(
          QueriedPlace(
            row: 1, name: name, day: Date(timeIntervalSinceReferenceDate: Double(id) * 1e5)))
      }
    }
    #expect(try access("QueriedRecord", "title like \"name7*\"").hasSuffix(" in one range"))
    #expect(
      try access("QueriedRecord", "title like \"name7?\"").hasSuffix(
        " in one range and a condition"))
    #expect(try access("QueriedRecord", "name like[c] \"NAME12\"") == "index anyCase in one range")
    #expect(try access("QueriedRecord", "name like[c] \"NAME12*\"") == "index anyCase in one range")
    #expect(try access("QueriedRecord", "group == 3.0").hasSuffix(" in one range"))
    #expect(
      try access("QueriedPlace", "day == \"2001-01-03T12:00:00Z\"") == "index day in one range")
    #expect(
      try access("QueriedPlace", "day > \"2001-01-03T12:00:00Z\" && day < \"2001-01-09\"")
        == "index day in one range")
  }
}
