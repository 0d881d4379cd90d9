import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite("Constraints and indexes of records")
struct RecordIndexTests {
  private func conflict(_ body: () throws -> Void) -> String? {
    guard case .uniqueConflict("Account", let constraint, let key) = storeError(body) else {
      return nil
    }
    return "\(constraint) \(key)"
  }

  @Test func `a unique field refuses across transactions, and within one, E2 E5`() throws {
    try withStore { store in
      let ada = Account(id: 1, name: "Ada", email: "a")
      try store.save(ada)
      let bob = Account(id: 2, name: "Bob", email: "a")
      #expect(conflict { try store.save(bob) }?.hasPrefix("email") == true)
      #expect(conflict { try store.insert(bob) }?.hasPrefix("email") == true)
      try store.write { transaction in
        try transaction.save(Account(id: 3, name: "Eve", email: "e"))
        let other = Account(id: 4, name: "Max", email: "e")
        #expect(conflict { try transaction.save(other) }?.hasPrefix("email") == true)
        // The refused one changed nothing, and what follows works.
        #expect(try transaction.fetch(Account.self, key: 4) == nil)
        try transaction.delete(Account.self, key: 3)
        try transaction.save(other)
      }
      #expect(try store.fetch(Account.self).map(\.id) == [1, 4])
      try store.save(Account(id: 1, name: "Ada", email: "b"))
      try store.save(bob)
    }
  }

  @Test func `the same record may keep its own values, E2`() throws {
    try withStore { store in
      let ada = Account(id: 1, name: "Ada", email: "a")
      try store.save(ada)
      try store.save(ada)
      try store.update(Account(id: 1, name: "Ada", email: "a", city: "Bonn"))
      #expect(try store.count(Account.self) == 1)
    }
  }

  @Test func `any number of records may have nil, E2`() throws {
    try withStore { store in
      for id in 0..<5 { try store.save(Account(id: id, name: "\(id)", email: nil)) }
      #expect(try store.entryCount(of: "email", Account.self) == 5)
      try store.save(Account(id: 5, name: "5", email: ""))
      #expect(conflict { try store.save(Account(id: 6, name: "6", email: "")) } != nil)
    }
  }

  @Test func `a compound constraint is of all its fields, E3`() throws {
    try withStore { store in
      try store.save(Account(id: 1, name: "Ada", city: "Ulm"))
      try store.save(Account(id: 2, name: "Ada", city: "Bonn"))
      try store.save(Account(id: 3, name: "Bob", city: "Ulm"))
      let double = Account(id: 4, name: "Ada", city: "Bonn")
      #expect(conflict { try store.save(double) }?.hasPrefix("nameCity") == true)
      // What lies behind one part does not look like the other.
      try store.save(Account(id: 5, name: "AdaB", city: "onn"))
    }
  }

  @Test func `replacing takes out all others in the way, and their entries, E4 F13`() throws {
    try withStore { store in
      try store.save(Account(id: 1, name: "Ada", email: "a", city: "Ulm"))
      try store.save(Account(id: 2, name: "Bob", email: "b", city: "Ulm"))
      try store.save(Account(id: 3, name: "Eve", email: "e", city: "Ulm"))
      let new = Account(id: 9, name: "Bob", email: "a", city: "Ulm")
      try store.save(new, onConflict: .replaceOther)
      #expect(try store.fetch(Account.self).map(\.id) == [3, 9])
      #expect(try store.entryCount(of: "city", Account.self) == 2)
      // One that is in the way twice goes once; one that is there itself stays.
      try store.update(
        Account(id: 9, name: "Eve", email: "e", city: "Ulm"), onConflict: .replaceOther)
      #expect(try store.fetch(Account.self).map(\.id) == [9])
    }
  }

  @Test func `two records can exchange their values in one transaction, E2`() throws {
    try withStore { store in
      let (one, two) = (
        Account(id: 1, name: "A", email: "a"), Account(id: 2, name: "B", email: "b")
      )
      try store.write { transaction in try transaction.save(contentsOf: [one, two]) }
      try store.write { transaction in
        try transaction.save(Account(id: 1, name: "A", email: nil))
        try transaction.save(Account(id: 2, name: "B", email: "a"))
        try transaction.save(Account(id: 1, name: "A", email: "b"))
      }
      #expect(try store.fetch(Account.self).map(\.email) == ["b", "a"])
    }
  }

  private static func ids(
    ofIndex name: String, in store: PersistentStore
  ) throws -> [Int] {
    try store.keys(ofIndex: name, Account.self).map { key in
      Int(key.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } ^ 1 << 63)
    }
  }

  private static func precedes(_ one: String, _ other: String) -> Bool {
    Array(one.utf8).lexicographicallyPrecedes(Array(other.utf8))
  }

  @Test func `indexes sort as they say: single, compound, descending, E6 E7`() throws {
    try withStore { store in
      let accounts = Account.some(60)
      try store.write { transaction in try transaction.insert(contentsOf: accounts.shuffled()) }
      let byCity = accounts.sorted { one, other in
        one.city == other.city ? one.id < other.id : Self.precedes(one.city, other.city)
      }
      let foundByCity = try Self.ids(ofIndex: "city", in: store)
      #expect(foundByCity == byCity.map(\.id))
      let order = ["Bonn": 0, "Köln": 1, "Ulm": 2]
      let byBalance = accounts.sorted { one, other in
        (order[one.city] ?? 3, -one.balance, one.id) < (
          order[other.city] ?? 3, -other.balance, other.id
        )
      }
      let found = try Self.ids(ofIndex: "cityBalance", in: store)
      #expect(found == byBalance.map(\.id))
    }
  }

  @Test func `a partial index holds what meets its condition, as records change, E8`() throws {
    try withStore { store in
      var account = Account(id: 1, name: "ÄRA", isActive: true)
      func count() throws -> Int { try store.entryCount(of: "active", Account.self) }
      try store.save(account)
      #expect(try count() == 1)
      account.isActive = false
      try store.save(account)
      #expect(try count() == 0)
      account.isActive = true
      try store.save(account)
      #expect(try count() == 1)
      try store.delete(account)
      #expect(try count() == 0)
    }
  }

  /// A string as long as a row may be.
  private struct Long: Record {
    var id: Int
    var text: String
    var code: String
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "text", type: .string, indexed: true)
      Field(name: "code", type: .string, unique: true)
    }
  }

  @Test func `long values are indexed and unique, though their keys are cut, E2 E6`() throws {
    try withStore(StoreModel(records: [Long.self])) { store in
      let long = String(repeating: "x", count: 5_000)
      try store.save(Long(id: 1, text: long, code: long + "1"))
      try store.save(Long(id: 2, text: long, code: long + "2"))
      #expect(storeError { try store.save(Long(id: 3, text: "", code: long + "2")) } != nil)
      try store.save(Long(id: 1, text: "short", code: long + "3"))
      try store.save(Long(id: 4, text: long, code: long + "1"))
      try store.save(Long(id: 5, text: "", code: long + "2"), onConflict: .replaceOther)
      #expect(try store.fetch(Long.self).map(\.id) == [1, 4, 5])
      for length in 990...1_030 {
        let text = String(repeating: "y", count: length)
        try store.save(Long(id: length, text: text, code: text))
        #expect(storeError { try store.insert(Long(id: 0, text: "", code: text)) } != nil)
      }
      try store.expectSound()
      try store.write { transaction in
        for length in 990...1_030 { try transaction.delete(Long.self, key: length) }
      }
      #expect(try store.count(Long.self) == 3)
    }
  }
}
