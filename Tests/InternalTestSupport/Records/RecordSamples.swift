import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium

/// A record with every kind of index.
struct Account: Record, Identifiable, Equatable {
  var id: Int
  var name: String
  var email: String?
  var city = "Ulm"
  var balance = 0.0
  var isActive = true

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string)
    Field(name: "email", type: .string, optional: true, unique: true)
    Field(name: "city", type: .string, indexed: true)
    Field(name: "balance", type: .double)
    Field(name: "isActive", type: .boolean)
    Index("city", .descending("balance"), named: "cityBalance")
    Index(
      .caseInsensitive("name"), named: "active",
      where: .comparison(field: "isActive", .equal, true))
    Unique("name", "city", named: "nameCity")
  }

  /// The first `count`, with addresses.
  static func some(_ count: Int) -> [Account] {
    (0..<count).map {
      Account(
        id: $0, name: "N\($0)", email: "\($0)@example.org", city: ["Ulm", "Bonn", "Köln"][$0 % 3],
        balance: Double($0 % 7), isActive: $0 % 2 == 0)
    }
  }
}

/// A record whose key has two parts, the second descending.
struct Seat: Record, Equatable {
  var row: String
  var number: Int
  var guest = ""

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(name: "row", type: .string)
    Field(name: "number", type: .integer)
    Field(name: "guest", type: .string)
    PrimaryKey("row", .descending("number"))
  }
}

/// A record of nothing but a key and a text.
struct Note: Record, Equatable {
  var key: String
  var text = ""

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "key", type: .string)
    Field(name: "text", type: .string)
  }
}

extension StoreModel {
  static let samples = StoreModel(records: [Account.self, Seat.self, Note.self])
}

/// A store in memory whose records are checked after the test.
func withStore(
  _ model: StoreModel = .samples, _ options: StoreOptions = StoreOptions(),
  sourceLocation: SourceLocation = #_sourceLocation, _ body: (PersistentStore) throws -> Void
) throws {
  let store = try PersistentStore(inMemory: model, options: options)
  try body(store)
  try store.expectSound(sourceLocation)
}

extension PersistentStore {
  /// Expects that all records can be read and agree with their indexes.
  func expectSound(_ sourceLocation: SourceLocation = #_sourceLocation) throws {
    let faults = try snapshot().check()
    #expect(faults.isEmpty, sourceLocation: sourceLocation)
  }

  /// How many entries an index has.
  func entryCount<Subject: Record>(of name: String, _ type: Subject.Type) throws -> Int {
    let trees = try entities.type(type)
    let index = try #require(trees.indexes.first { $0.layout.schema.name == name })
    return try snapshot().trees.count(in: index.slot)
  }

  /// The primary keys of an index's entries, in its order.
  func keys<Subject: Record>(ofIndex name: String, _ type: Subject.Type) throws -> [Bytes] {
    let trees = try entities.type(type)
    let index = try #require(trees.indexes.first { $0.layout.schema.name == name })
    let cursor = try snapshot().trees.cursor(in: index.slot)
    var keys: [Bytes] = []
    var isOn = try cursor.first()
    while isOn {
      let key = try index.layout.primaryKey(
        key: cursor.key, value: try cursor.value(), layout: trees.layout)
      keys.append(key.array())
      isOn = try cursor.next()
    }
    return keys
  }
}
