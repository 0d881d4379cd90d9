import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite("Fetching records")
struct RecordFetchingTests {
  @Test func `records are fetched by key, by keys and all, or found by key, G1`() throws {
    try withStore { store in
      let accounts = Account.some(50)
      try store.write { transaction in try transaction.insert(contentsOf: accounts.shuffled()) }
      #expect(try store.fetch(Account.self, key: 7) == accounts[7])
      #expect(try store.find(Account.self, key: 8) == accounts[8])
      #expect(try store.fetch(Account.self, key: 99) == nil)
      #expect(
        storeError { try store.find(Account.self, key: 99) }
          == .noSuchRecord(record: "Account", key: "99"))
      #expect(try store.fetch(Account.self, keys: [3, 99, 1]) == [accounts[3], accounts[1]])
      #expect(try store.fetch(Account.self) == accounts)
      #expect(try store.contains(Account.self, key: 49))
      #expect(try !store.contains(Account.self, key: 50))
      #expect(try store.count(Account.self) == 50)
    }
  }

  @Test func `compound keys are fetched by their parts, and sorted by them, E1`() throws {
    try withStore { store in
      let seats = ["A", "AB", "B"].flatMap { row in (1...4).map { Seat(row: row, number: $0) } }
      try store.write { transaction in try transaction.insert(contentsOf: seats.shuffled()) }
      #expect(try store.fetch(Seat.self, key: "AB", 3) == Seat(row: "AB", number: 3))
      #expect(try store.find(Seat.self, key: "AB", 3) == Seat(row: "AB", number: 3))
      #expect(try store.fetch(Seat.self, key: "AB", 5) == nil)
      guard case .noSuchRecord("Seat", _) = storeError({ try store.find(Seat.self, key: "AB", 5) })
      else {
        Issue.record("a seat that does not exist was found")
        return
      }
      let numbers = try store.fetch(Seat.self).map { "\($0.row)\($0.number)" }
      #expect(
        numbers == [
          "A4", "A3", "A2", "A1", "AB4", "AB3", "AB2", "AB1", "B4", "B3", "B2", "B1",
        ])
      for parts: [any FieldValueConvertible] in [["A"], [1, "A"], ["A", 1.0], ["A", 1, 1]] {
        let error = storeError { try store.snapshot().recordReader().fetch(Seat.self, key: parts) }
        guard case .invalidQuery("Seat", _, _) = error else {
          Issue.record("\(parts): \(String(describing: error))")
          continue
        }
      }
    }
  }

  @Test func `store, snapshot and transaction read the same way, each its own state, F12`() throws {
    try withStore { store in
      try store.save(Note(key: "a", text: "1"))
      let snapshot = try store.snapshot()
      try store.write { transaction in
        try transaction.save(Note(key: "a", text: "2"))
        try transaction.save(Note(key: "b", text: "2"))
        #expect(try transaction.fetch(Note.self, key: "a")?.text == "2")
        #expect(try transaction.fetch(Note.self).count == 2)
        #expect(try store.fetch(Note.self, key: "a")?.text == "1")
      }
      #expect(try store.fetch(Note.self).map(\.text) == ["2", "2"])
      #expect(try snapshot.fetch(Note.self).map(\.text) == ["1"])
      #expect(try snapshot.count(Note.self) == 1)
      let now = try store.read { snapshot in try snapshot.fetch(Note.self).count }
      #expect(now == 2)
      #expect(try store.snapshot().sequence > snapshot.sequence)
    }
  }

  @Test func `a cursor goes through records one by one, in batches, and from a key, G1`() throws {
    try withStore { store in
      let accounts = Account.some(scaled(10_000, debug: 500))
      try store.write { transaction in try transaction.insert(contentsOf: accounts) }
      let cursor = try store.cursor(Account.self)
      try store.write { transaction in try transaction.deleteAll(Account.self) }
      #expect(try cursor.next() == accounts[0])
      #expect(try cursor.next(3) == Array(accounts[1...3]))
      try cursor.seek(to: 100)
      #expect(try cursor.next() == accounts[100])
      try cursor.seek(to: -5)
      #expect(try cursor.next() == accounts[0])
      try cursor.seek(to: accounts.count - 2)
      #expect(try cursor.next(10) == accounts.suffix(2))
      #expect(try cursor.next() == nil)
      try cursor.seek(to: accounts.count)
      #expect(try cursor.next() == nil)
      try cursor.seek(to: 1)
      #expect(try cursor.next() == accounts[1])
      #expect(storeError { try store.cursor(Note.self).seek(to: 1) } != nil)
    }
  }

  @Test func `batches hold all records once, whatever their size`() throws {
    try withStore { store in
      let accounts = Account.some(100)
      try store.write { transaction in try transaction.insert(contentsOf: accounts) }
      for size in [1, 7, 50, 100, 101, .max] {
        var found: [Account] = []
        try store.forEachBatch(Account.self, of: size) { batch in
          #expect(batch.count <= size)
          found += batch
        }
        #expect(found == accounts)
      }
      var count = 0
      struct Stop: Error {}
      #expect(throws: Stop.self) {
        try store.forEach(Account.self) { _ in
          count += 1
          if count == 5 { throw Stop() }
        }
      }
      #expect(count == 5)
    }
  }

  @Test(arguments: [64 << 10, 64 << 20])
  func `a cursor of a transaction goes on while records are changed and deleted`(
    budget: Int
  ) throws {
    var options = StoreOptions()
    options.transactionBudget = budget
    let count = scaled(20_000, debug: 1_500)
    try withStore(.samples, options) { store in
      let accounts = Account.some(count)
      try store.write { transaction in
        try transaction.insert(contentsOf: accounts.prefix(count / 2))
      }
      try store.write { transaction in
        try transaction.insert(contentsOf: accounts.suffix(count - count / 2))
        let cursor = try transaction.cursor(Account.self)
        var seen = 0
        while var account = try cursor.next() {
          try agree(account == accounts[seen], "\(account) is number \(seen)")
          seen += 1
          switch account.id % 4 {
          case 0: try transaction.delete(account)
          case 1:
            account.name = "changed"
            account.email = nil
            try transaction.update(account, onConflict: .replaceOther)
            account.city = "x\(account.id)"
            try transaction.save(account)
          case 2 where seen % 40 == 3:
            let id = account.id
            _ = storeError {
              try transaction.savepoint { transaction in
                try transaction.delete(Account.self, key: id)
                try transaction.delete(Account.self, key: id + 1)
                throw StoreError.closed(path: "")
              }
            }
          default: break
          }
        }
        #expect(seen == count)
      }
      #expect(try store.fetch(Account.self).allSatisfy { $0.id % 4 != 0 })
      #expect(try store.count(Account.self) == count - (count + 3) / 4)
    }
  }

  @Test func `a cursor that is kept beyond its transaction throws`() throws {
    try withStore { store in
      try store.write { transaction in try transaction.insert(contentsOf: Account.some(10)) }
      var kept: RecordCursor<Account>?
      try store.write { transaction in
        try transaction.delete(Account.self, key: 1)
        kept = try transaction.cursor(Account.self)
        #expect(try kept?.next()?.id == 0)
        #expect(try kept?.next()?.id == 2)
      }
      let cursor = try #require(kept)
      guard case .closed = storeError({ try cursor.next() }) else {
        Issue.record("it goes on")
        return
      }
      guard case .closed = storeError({ try cursor.seek(to: 3) }) else {
        Issue.record("it seeks")
        return
      }
    }
  }

  @Test func `records are read without their types, A12 I8`() throws {
    try withStore { store in
      try store.save(Account(id: 1, name: "Ada", email: nil))
      let record = try #require(try store.fetch(record: "Account", key: 1))
      #expect(record["name"] == "Ada")
      #expect(record["email"] == nil)
      #expect(record["balance"] == .double(0))
      try store.write { transaction in
        var changed = record
        changed["email"] = "ada@example.org"
        try transaction.save(changed)
        changed["id"] = 2
        #expect(storeError { try transaction.save(changed) } != nil)
        changed["email"] = nil
        changed["name"] = "Bob"
        try transaction.save(changed)
        #expect(try transaction.delete(record: "Account", key: 2))
        changed["id"] = "two"
        #expect(storeError { try transaction.save(changed) } != nil)
        changed["colour"] = "blue"
        #expect(storeError { try transaction.save(changed) } != nil)
      }
      #expect(try store.fetch(Account.self, key: 1)?.email == "ada@example.org")
      #expect(try store.count(record: "Account") == 1)
      var names: [String] = []
      try store.forEach(record: "Account") { names.append("\($0["name"])") }
      #expect(names.count == 1)
      #expect(storeError { try store.count(record: "Nobody") } == .unknownRecord(name: "Nobody"))
    }
  }

  @Test func `a store says how its records are described, A12`() throws {
    try withStore { store in
      let schema = store.schema
      #expect(schema.version == 1)
      let account = try #require(schema.records.first { $0.name == "Account" })
      #expect(
        Set(account.fields.map(\.name)) == ["id", "name", "email", "city", "balance", "isActive"])
      let email = try #require(account.fields.first { $0.name == "email" })
      #expect(email.type == .string && email.isOptional)
      #expect(
        Set(account.indexes.map(\.name)) == ["email", "city", "cityBalance", "active", "nameCity"])
      #expect(account.indexes.first { $0.name == "nameCity" }?.isUnique == true)
      #expect(
        account.primaryKey.map(\.field) == account.fields.filter { $0.name == "id" }.map(\.number))
    }
  }
}
