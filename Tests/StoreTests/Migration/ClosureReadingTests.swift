import Cambium
import TestSupport
import Testing

@testable import InternalTestSupport

/// An account as it was, with a composite that may be null.
private struct OldAccount: Record {
  var id: Int
  var amount: Double
  var nick: String?
  var addr: Address?

  struct Address: Codable, Sendable {
    var city: String
    var street: String?
  }

  static func recordDescription(for version: Int) -> RecordDescription {
    Accounts.description(version)
  }
}

private struct NewAccount: Record, Equatable {
  var id: Int
  var amount: Double
  var result: String?
  static func recordDescription(for version: Int) -> RecordDescription {
    Accounts.description(version)
  }
}

private enum Accounts {
  @RecordDescription.ResultBuilder
  static func description(_ version: Int) -> RecordDescription {
    RecordName("Account")
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "amount", type: .double)
    if version < 2 {
      Field(name: "nick", type: .string, optional: true)
      Field(
        name: "addr",
        type: .composite {
          Field(name: "city", type: .string)
          Field(name: "street", type: .string, optional: true)
        }, optional: true)
    } else {
      Field(name: "result", type: .string, optional: true)
    }
  }
}

/// Closures of steps read fields of old records, by name and type.
@Suite struct ClosureReadingTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }
  private static let new = StoreModel(version: 2, records: [NewAccount.self])

  init() throws {
    directory = try TemporaryDirectory()
    let store = try PersistentStore(at: path, model: StoreModel(records: [OldAccount.self]))
    try store.write {
      try $0.insert(OldAccount(id: 7, amount: 2.5, addr: .init(city: "Rome")))
      try $0.insert(OldAccount(id: 8, amount: 3, nick: "x"))
    }
    try store.close()
  }

  private func migrated(
    _ read: @escaping @Sendable (OldRecord) throws -> String?
  ) throws -> [String?] {
    let step = MigrationStep(to: 2) {
      UpdateRecord("Account") { UpdateField("result", from: { old in try read(old) }) }
    }
    let store = try PersistentStore(at: path, model: Self.new, steps: [step])
    defer { try? store.close() }
    return try store.fetch(NewAccount.self).map(\.result)
  }

  @Test func `values, parts of composites and what may be null are read`() throws {
    let read = try migrated { old in
      let city = try old["addr.city", as: String?.self] ?? "-"
      let street = try old["addr.street", as: String?.self] ?? "-"
      let nick = try old["nick", as: String?.self] ?? "-"
      let amount = try old["amount", as: Double.self]
      return "\(try old["id", as: Int.self]) \(amount) \(nick) \(city) \(street)"
    }
    #expect(read == ["7 2.5 - Rome -", "8 3.0 x - -"])
  }

  private static let mistakes: [(String, @Sendable (OldRecord) throws -> String?, String)] = [
    (
      "no such field", { "\(try $0["ammount", as: Double.self])" },
      "Account.ammount: there is no such"
    ),
    ("nor if optional", { try $0["nik", as: String?.self] ?? "" }, "Account.nik: there is no such"),
    (
      "nor a value", { "\(try $0["nik"])" },
      "Account.nik: there is no such field, but addr, addr.city"
    ),
    (
      "no such part", { try $0["addr.ctiy", as: String?.self] ?? "" },
      "Account.addr.ctiy: there is no"
    ),
    (
      "another type", { "\(try $0["amount", as: Int.self])" },
      "Account.amount: its value is the double"
    ),
    ("another, optional", { "\(try $0["amount", as: Int?.self] ?? 0)" }, "which is not Int"),
    ("null", { try $0["addr.street", as: String.self] }, "it is null here; read it as String?"),
    ("by the value", { "\(try $0["amount"].as(Int.self) ?? 0)" }, "its value is the double 2.5"),
  ]

  @Test(arguments: 0..<8)
  func `a mistaken name or type fails the migration, and names record, key and field`(
    _ index: Int
  ) throws {
    let (name, read, words) = Self.mistakes[index]
    let error = storeError { try migrated(read) }
    guard case .stepFailed(2, let source, let reason) = error else {
      return #expect(Bool(false), "\(name): \(String(describing: error))")
    }
    #expect(source == "Account.result of the record 7", "\(name)")
    #expect(reason.contains(words), "\(name): \(reason)")
    let old = try PersistentStore(at: path, model: StoreModel(records: [OldAccount.self]))
    #expect(try old.fetch(OldAccount.self).map(\.amount) == [2.5, 3])
    try old.close()
  }

  @Test func `a value by itself is read as its type, and not as another`() throws {
    let step = MigrationStep(to: 2) {
      UpdateRecord("Account") {
        UpdateField("amount", by: { old in Double(try old.as(Int.self) ?? 0) })
      }
    }
    let error = storeError { try PersistentStore(at: path, model: Self.new, steps: [step]) }
    guard case .stepFailed(2, let source, let reason) = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(source == "Account.amount of the record 7")
    #expect(reason == "its value is the double 2.5, which is not Int")
  }

  @Test func `a closure that makes records reads them by the same rules`() throws {
    let step = MigrationStep(to: 2) {
      TransformRecords("Account") { old, emit in
        try emit(
          DynamicRecord("Account", ["id": old["id"], "amount": old["ammount"]]))
      }
    }
    let error = storeError { try PersistentStore(at: path, model: Self.new, steps: [step]) }
    guard case .stepFailed(2, "Account 7", let reason) = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(reason.contains("Account.ammount: there is no such field"))
  }

  @Test func `a record made by hand has the fields that it was given`() throws {
    let record = DynamicRecord(
      "Account",
      ["id": 1, "nick": nil, "addr": .composite(["city": "Rome"]), "none": .null])
    #expect(try record["id", as: Int.self] == 1)
    #expect(try record["nick", as: String?.self] == nil)
    #expect(try record["addr.city", as: String.self] == "Rome")
    #expect(try record["none.city", as: String?.self] == nil)
    #expect(record["amount"] == .null)
    for read: (DynamicRecord) throws -> Any? in [
      { try $0["amount", as: Double?.self] }, { try $0["nick", as: String.self] },
      { try $0["id", as: String.self] }, { try $0["addr.street", as: String?.self] },
    ] {
      #expect(throws: FieldMismatch.self) { try read(record) }
    }
  }
}
