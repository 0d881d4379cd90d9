import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite("Writing records")
struct RecordWritingTests {
  @Test func `a record that is saved is added, or replaces the one with its key, F1 F2 E4`() throws
  {
    try withStore { store in
      var account = Account(id: 1, name: "Ada", email: "a@example.org")
      try store.save(account)
      account.name = "Ada L."
      account.email = nil
      try store.save(account)
      #expect(try store.fetch(Account.self) == [account])
      #expect(try store.fetch(Account.self, key: 1) == account)
    }
  }

  @Test func `inserting refuses a key that is there, F1`() throws {
    try withStore { store in
      let account = Account(id: 1, name: "Ada")
      try store.insert(account)
      let error = storeError { try store.insert(Account(id: 1, name: "Bob")) }
      guard case .duplicateKey("Account", let key) = error else {
        return #expect(Bool(false), "\(String(describing: error))")
      }
      #expect(key.contains("1"))
      #expect(try store.fetch(Account.self) == [account])
      try store.insert(Note(key: "a"))
      #expect(storeError { try store.insert(Note(key: "a", text: "b")) } != nil)
      #expect(try store.fetch(Note.self, key: "a") == Note(key: "a"))
    }
  }

  @Test func `a store updates and deletes by condition and key, all or none`() throws {
    try withStore { store in
      try store.write { try $0.save(contentsOf: Account.some(6)) }
      #expect(try store.update(Account.where { $0.id < 4 }) { $0.balance = 9 } == 4)
      #expect(try store.update(Account.where { $0.balance == 9 }) { $0.city = "Jena" } == 4)
      #expect(try store.count(Account.where { $0.city == "Jena" }) == 4)
      // The second has the unique address of the first.
      #expect(throws: StoreError.self) {
        try store.update(Account.where { $0.id >= 4 }) { $0.email = "x@example.org" }
      }
      #expect(try store.count(Account.where { $0.email == "x@example.org" }) == 0)
      #expect(
        try store.delete(Account.where { $0.balance == 9 }, durability: .relaxed) == 4)
      #expect(try store.delete(Account.self, key: 4))
      #expect(try !store.delete(Account.self, key: 4))
      #expect(try store.fetch(Account.self).map(\.id) == [5])
      try store.save(Seat(row: "a", number: 2))
      #expect(try store.delete(Seat.self, key: "a", 2))
    }
  }

  @Test func `two records exchange a unique value by way of another one`() throws {
    try withStore { store in
      try store.write { try $0.save(contentsOf: Account.some(2)) }
      var (one, other) = (Account.some(2)[0], Account.some(2)[1])
      swap(&one.email, &other.email)
      #expect(throws: StoreError.self) {
        try store.write { try $0.save(contentsOf: [one, other]) }
      }
      try store.write { transaction in
        var moved = one
        moved.email = nil
        try transaction.save(moved)
        try transaction.save(contentsOf: [other, one])
      }
      #expect(try store.fetch(Account.self, key: 0)?.email == "1@example.org")
      #expect(try store.fetch(Account.self, key: 1)?.email == "0@example.org")
    }
  }

  @Test func `updating needs a record, F2`() throws {
    try withStore { store in
      guard
        case .noSuchRecord("Account", _) = storeError({
          try store.update(Account(id: 1, name: "Ada"))
        })
      else { return #expect(Bool(false), "no error") }
      try store.save(Account(id: 1, name: "Ada"))
      try store.update(Account(id: 1, name: "Bob", email: "b"))
      #expect(try store.fetch(Account.self, key: 1)?.name == "Bob")
    }
  }

  @Test func `records are deleted by value, by key, by many and all, F3`() throws {
    try withStore { store in
      let accounts = Account.some(20)
      try store.write { transaction in try transaction.save(contentsOf: accounts) }
      #expect(try store.delete(accounts[3]))
      #expect(try !store.delete(accounts[3]))
      try store.write { transaction in
        let isGone = try transaction.delete(Account.self, key: 4)
        #expect(isGone)
        #expect(try !transaction.delete(Account.self, key: 4))
        #expect(try transaction.delete(contentsOf: accounts[0..<6]) == 4)
        #expect(try transaction.count(Account.self) == 14)
      }
      #expect(try store.fetch(Account.self) == Array(accounts[6...]))
      try store.save(Note(key: "a"))
      try store.write { transaction in try transaction.deleteAll(Account.self) }
      #expect(try store.count(Account.self) == 0)
      #expect(try store.count(Note.self) == 1)
      #expect(try store.entryCount(of: "city", Account.self) == 0)
    }
  }

  @Test func `what was deleted in a transaction can be written again in it, F3 F7`() throws {
    try withStore { store in
      let accounts = Account.some(8)
      try store.write { transaction in
        try transaction.insert(contentsOf: accounts)
        try transaction.deleteAll(Account.self)
        try transaction.insert(contentsOf: accounts.reversed())
        try transaction.delete(accounts[0])
        try transaction.insert(accounts[0])
      }
      #expect(try store.fetch(Account.self) == accounts)
    }
  }

  @Test(arguments: [64 << 10, 64 << 20])
  func `batches of any sequence go in within a transaction's budget, F5`(budget: Int) throws {
    var options = StoreOptions()
    options.transactionBudget = budget
    let count = scaled(60_000, debug: 3_000)
    try withStore(.samples, options) { store in
      try store.write { transaction in
        try transaction.insert(
          contentsOf: (0..<count).lazy.map {
            Account(id: $0, name: "N\($0)", email: "\($0)@example.org", city: "C\($0 % 10)")
          })
        // Those that were spilled are there as well for whoever looks, and for constraints.
        #expect(try transaction.count(Account.self) == count)
        #expect(try transaction.fetch(Account.self, key: 17)?.name == "N17")
        let double = Account(id: count, name: "new", email: "5@example.org")
        #expect(storeError { try transaction.insert(double) } != nil)
        #expect(storeError { try transaction.insert(Account(id: 9, name: "new")) } != nil)
        try transaction.save(double, onConflict: .replaceOther)
        try transaction.delete(Account.self, key: 6)
      }
      #expect(try store.count(Account.self) == count - 1)
      #expect(try store.fetch(Account.self, key: 5) == nil)
      #expect(try store.fetch(Account.self, key: 6) == nil)
      #expect(try store.entryCount(of: "email", Account.self) == count - 1)
    }
  }

  @Test func `a batch that stops keeps what came before, until the closure throws, F5 F8`() throws {
    try withStore { store in
      let accounts = [
        Account(id: 1, name: "A"), Account(id: 2, name: "B"), Account(id: 1, name: "C"),
      ]
      try store.write { transaction in
        #expect(storeError { try transaction.insert(contentsOf: accounts) } != nil)
        let count = try transaction.count(Account.self)
        #expect(count == 2)
      }
      #expect(try store.count(Account.self) == 2)
      #expect(storeError { try store.write { try $0.insert(contentsOf: Account.some(4)) } } != nil)
      #expect(try store.count(Account.self) == 2)
    }
  }

  @Test func `metadata is kept beside the records, F23`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    do {
      let store = try PersistentStore(at: path, model: .samples)
      try store.write { transaction in
        try transaction.setMetadata(17, for: "number")
        try transaction.setMetadata(["a": [1, 2]], for: "lists")
        try transaction.setMetadata("x", for: "text")
        #expect(try transaction.metadata(Int.self, for: "number") == 17)
      }
      struct Stop: Error {}
      #expect(throws: Stop.self) {
        try store.write { transaction in
          try transaction.setMetadata(18, for: "number")
          throw Stop()
        }
      }
      try store.write { transaction in try transaction.setMetadata(String?.none, for: "text") }
      try store.close()
    }
    let store = try PersistentStore(at: path, model: .samples)
    #expect(try store.metadata(Int.self, for: "number") == 17)
    #expect(try store.metadata([String: [Int]].self, for: "lists") == ["a": [1, 2]])
    #expect(try store.metadata(String.self, for: "text") == nil)
    #expect(try store.metadataNames() == ["lists", "number"])
    #expect(throws: (any Error).self) { try store.metadata(String.self, for: "number") }
    let long = String(repeating: "n", count: 2_000)
    #expect(
      storeError { try store.write { try $0.setMetadata(1, for: long) } }
        == .limitExceeded(.keyLength, found: 2_000))
    #expect(try store.metadataNames() == ["lists", "number"])
    try store.close()
  }

  @Test func `statistics say how much there is of each type`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    let store = try PersistentStore(at: path, model: .samples)
    try store.write { transaction in
      try transaction.insert(contentsOf: Account.some(400))
      try transaction.insert(Note(key: "a"))
      #expect(try transaction.statistics().recordCount == 401)
    }
    try store.close()
    let reopened = try PersistentStore(at: path, model: .samples)
    let statistics = try reopened.statistics()
    #expect(statistics.records.map(\.name) == ["Account", "Note", "Seat"])
    #expect(statistics.records.map(\.count) == [400, 1, 0])
    #expect(statistics.records[0].rowBytes > 400 * 10)
    #expect(statistics.records[0].indexBytes > 400 * 10)
    #expect(statistics.records[2].rowBytes == 0)
    try reopened.close()
  }
}
