import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A record that can be given values that no store takes.
private struct Reading: Record, Equatable {
  var sensor: Double
  var value: Double
  var extra = 0.0
  var text = ""
  var more = ""
  var small: Int8 = 0
  var level = Level.low

  enum Level: String, RecordStringEnum { case low, high }

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "sensor", type: .double)
    Field(name: "value", type: .double, indexed: true)
    Field(name: "extra", type: .double)
    Field(name: "text", type: .string, indexed: true)
    Field(name: "more", type: .string)
    Field(name: "small", type: .integer)
    Field(name: "level", type: .string)
  }
}

/// Every wrong thing that a program or a damaged store can hand in: each a typed error, and nothing lost.
@Suite("Bad input to stores of records")
struct BadRecordTests {
  /// A store with a record, to which bad things are done in a transaction that commits others.
  private func refusal(
    _ body: (inout WriteTransaction) throws -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws -> StoreError? {
    var error: StoreError?
    try withStore(StoreModel(records: [Reading.self, Note.self])) { store in
      let reading = Reading(sensor: 1, value: 1)
      try store.save(reading)
      try store.write { transaction in
        try transaction.save(Note(key: "before"))
        error = storeError { try body(&transaction) }
        try transaction.save(Note(key: "after"))
      }
      #expect(
        try store.fetch(Note.self).map(\.key) == ["after", "before"], sourceLocation: sourceLocation
      )
      #expect(try store.fetch(Reading.self) == [reading], sourceLocation: sourceLocation)
    }
    return error
  }

  private func isInvalid(_ error: StoreError?, field: String?) -> Bool {
    guard case .invalidValue(_, field, _) = error else { return false }
    return true
  }

  private func isInvalidQuery(_ error: StoreError?, field: String?) -> Bool {
    guard case .invalidQuery(_, field, _) = error else { return false }
    return true
  }

  private func isUnreadable(_ error: StoreError?, field: String?) -> Bool {
    guard case .unreadableRecord(_, _, field, _) = error else { return false }
    return true
  }

  @Test func `what is not a number is refused as a key and in an index`() throws {
    let key = try refusal { try $0.save(Reading(sensor: .nan, value: 1)) }
    #expect(isInvalid(key, field: "sensor"))
    let indexed = try refusal { try $0.save(Reading(sensor: 2, value: .nan)) }
    #expect(isInvalid(indexed, field: "value"))
    let update = try refusal { try $0.update(Reading(sensor: 1, value: .nan)) }
    #expect(isInvalid(update, field: "value"))
    let fetched = try refusal { _ = try $0.fetch(Reading.self, key: Double.nan) }
    #expect(isInvalidQuery(fetched, field: "sensor"))
    let deleted = try refusal { try $0.delete(Reading.self, key: Double.nan) }
    #expect(isInvalidQuery(deleted, field: "sensor"))
    try withStore(StoreModel(records: [Reading.self])) { store in
      try store.save(Reading(sensor: .infinity, value: -.infinity, extra: .nan))
      #expect(try store.fetch(Reading.self, key: Double.infinity)?.extra.isNaN == true)
      try store.save(Reading(sensor: -0.0, value: 0))
      #expect(try store.contains(Reading.self, key: 0.0))
    }
  }

  @Test func `what is too long for a row or a key is refused`() throws {
    let long = String(repeating: "x", count: 17 << 20)
    for reading in [
      Reading(sensor: 2, value: 1, text: long), Reading(sensor: 2, value: 1, more: long),
      Reading(sensor: 2, value: 1, text: String(repeating: "a", count: 100_000), more: long),
      Reading(sensor: 2, value: 2, more: String(long.prefix(16 << 20))),
    ] {
      let errors = [
        try refusal { try $0.save(reading) },
        try refusal {
          try $0.save(
            DynamicRecord(
              "Reading",
              [
                "sensor": .double(reading.sensor), "value": reading.value.fieldValue,
                "text": reading.text.fieldValue, "more": reading.more.fieldValue,
                "extra": .double(0), "small": 0, "level": "low",
              ]))
        },
      ]
      for error in errors {
        #expect(isInvalid(error, field: reading.more.isEmpty ? "text" : "more"))
        let text = error?.description ?? ""
        for part in ["of the record 2.0", "16777216", "storage: .external()"] {
          #expect(text.contains(part), "\(text)")
        }
      }
    }
    let half = String(long.prefix(9 << 20))
    let both = try refusal { try $0.save(Reading(sensor: 2, value: 1, text: half, more: half)) }
    #expect(isInvalid(both, field: nil))
    #expect(both?.description.contains("of the record 2.0") == true)
    let key = try refusal { try $0.save(Note(key: String(repeating: "k", count: 1_025))) }
    #expect(isInvalid(key, field: "key"))
    let text = key?.description ?? ""
    for part in ["kkkk…", "at most 1024", "shorter key"] {
      #expect(text.contains(part), "\(text)")
    }
    try withStore { store in
      let note = Note(key: String(repeating: "k", count: 1_024), text: "x")
      try store.save(note)
      #expect(try store.fetch(Note.self, key: note.key) == note)
    }
  }

  @Test func `a row as long as can be is kept`() throws {
    try withStore { store in
      let note = Note(key: "a", text: String(repeating: "x", count: (16 << 20) - 100))
      try store.save(note)
      #expect(try store.fetch(Note.self, key: "a") == note)
    }
  }

  @Test func `a record type that the model does not have is refused`() throws {
    let unknown = StoreError.unknownRecord(name: "Account")
    #expect(try refusal { try $0.save(Account(id: 1, name: "a")) } == unknown)
    #expect(try refusal { try $0.delete(Account.self, key: 1) } == unknown)
    #expect(try refusal { try $0.deleteAll(Account.self) } == unknown)
    #expect(try refusal { _ = try $0.fetch(Account.self, key: 1) } == unknown)
    #expect(try refusal { _ = try $0.fetch(Account.self) } == unknown)
    #expect(try refusal { _ = try $0.count(Account.self) } == unknown)
    #expect(try refusal { _ = try $0.cursor(Account.self) } == unknown)
    #expect(try refusal { _ = try $0.changes(of: Account.self) } == unknown)
  }

  @Test func `keys of other types are refused`() throws {
    #expect(
      isInvalidQuery(try refusal { _ = try $0.fetch(Reading.self, key: "1") }, field: "sensor"))
    #expect(
      isInvalidQuery(try refusal { _ = try $0.fetch(Reading.self, key: 1.0, 2.0) }, field: nil))
    #expect(
      isInvalidQuery(
        try refusal { _ = try $0.fetch(Note.self, key: FieldValue.null) }, field: "key"))
  }

  @Test func `values that the Swift type does not have throw when read, and only they`() throws {
    for (field, value) in [("small", 300), ("level", "middle")] as [(String, FieldValue)] {
      try withStore(StoreModel(records: [Reading.self])) { store in
        try store.save(Reading(sensor: 1, value: 1))
        try store.save(Reading(sensor: 2, value: 1))
        try store.write { transaction in
          var record = try #require(try transaction.fetch(record: "Reading", key: 1.0))
          record[field] = value
          try transaction.save(record)
        }
        let error = storeError { try store.fetch(Reading.self, key: 1.0) }
        #expect(isUnreadable(error, field: field), "\(String(describing: error))")
        #expect(try store.fetch(Reading.self, key: 2.0) != nil)
        #expect(try store.fetch(record: "Reading", key: 1.0)?[field] == value)
        // It can be replaced and deleted all the same.
        try store.save(Reading(sensor: 1, value: 5))
        #expect(try store.fetch(Reading.self, key: 1.0)?.value == 5)
      }
    }
  }

  @Test func `a damaged row throws where it is read, and the check names it`() throws {
    let store = try PersistentStore(inMemory: .samples)
    let notes = (0..<5).map { Note(key: "\($0)", text: "text \($0)") }
    let rows = try store.entities.type(Note.self).rows
    try store.write { transaction in
      try transaction.save(contentsOf: notes)
      // Invalid UTF-8, and a row cut short.
      var row = try transaction.value(of: Array("1".utf8), in: rows)
      row[row.count - 1] = 0xff
      try transaction.put(row, for: Array("1".utf8), in: rows)
      try transaction.put([row[0]], for: Array("3".utf8), in: rows)
    }
    for key in ["1", "3"] {
      guard case .corrupt(.entry, _, _) = storeError({ try store.fetch(Note.self, key: key) })
      else {
        Issue.record("\(key) is read")
        continue
      }
    }
    #expect(try store.fetch(Note.self, keys: ["0", "2", "4"]) == [notes[0], notes[2], notes[4]])
    let faults = try store.snapshot().check()
    #expect(faults.count == 2)
    // The rest is found behind what throws.
    let cursor = try store.cursor(Note.self)
    var found: [String] = []
    for _ in 0..<5 {
      do { found.append(try cursor.next()?.key ?? "") } catch is StoreError {}
    }
    #expect(found == ["0", "2", "4"])
    // And what is damaged can be replaced.
    try store.save(notes[1])
    try store.delete(notes[3])
    #expect(try store.snapshot().check() == [])
  }

  /// A store of three accounts; the second one's row cannot be read.
  private func storeWithDamage() throws -> (PersistentStore, [Account]) {
    let store = try PersistentStore(inMemory: .samples)
    let accounts = Account.some(3)
    let trees = try store.entities.type(Account.self)
    let key = KeyEncoder()
    try key.encode(primaryKey: [accounts[1].id], of: trees)
    try store.write { transaction in
      try transaction.save(contentsOf: accounts)
      try transaction.put([0xff], for: key.key.array(), in: trees.rows)
    }
    return (store, accounts)
  }

  @Test func `a damaged row with entries refuses its change, and the transaction goes on`() throws {
    let (store, accounts) = try storeWithDamage()
    try store.write { transaction in
      for change in [{ try $0.save(accounts[1]) }, { try $0.delete(accounts[1]) }]
        as [(inout WriteTransaction) throws -> Void]
      {
        let error = #expect(throws: StoreError.self) { try change(&transaction) }
        guard case .corrupt(.entry, _, _) = error else {
          return #expect(Bool(false), "\(String(describing: error))")
        }
      }
      try transaction.delete(accounts[2])
    }
    #expect(try store.count(Account.self) == 2)
    #expect(try store.fetch(Account.self, key: accounts[0].id) == accounts[0])
  }

  @Test func `two records are both replaced, or neither is`() throws {
    let (store, accounts) = try storeWithDamage()
    // It has the address of one, and name and city of the other, which cannot be read.
    let new = Account(id: 10, name: "N1", email: "0@example.org", city: "Bonn")
    try store.write { transaction in
      let error = #expect(throws: StoreError.self) {
        try transaction.save(new, onConflict: .replaceOther)
      }
      guard case .corrupt(.entry, _, _) = error else {
        return #expect(Bool(false), "\(String(describing: error))")
      }
    }
    #expect(try store.fetch(Account.self, key: accounts[0].id) == accounts[0])
    #expect(try !store.contains(Account.self, key: new.id))
    #expect(try store.count(Account.self) == 3)
  }

  @Test func `an entry without its record, and a record without its entry, are found`() throws {
    let store = try PersistentStore(inMemory: .samples)
    let trees = try store.entities.type(Account.self)
    let key = KeyEncoder()
    try key.encode(primaryKey: [3], of: trees)
    try store.write { transaction in
      try transaction.insert(contentsOf: Account.some(6))
      try transaction.remove(key.key.array(), in: trees.rows)
    }
    let faults = try store.snapshot().check()
    // It was in no partial index.
    #expect(faults.count == 4)
    #expect(
      faults.allSatisfy { if case .corrupt(.entry, .indexEntries, _) = $0 { true } else { false } })
    let city = try #require(trees.indexes.first { $0.layout.schema.name == "city" }).slot
    try store.write { transaction in try transaction.removeAll(in: city) }
    #expect(try store.snapshot().check().count >= 8)
  }

  @Test func `a store that was closed refuses everything but its snapshots`() throws {
    let store = try PersistentStore(inMemory: .samples)
    try store.save(Note(key: "a"))
    let snapshot = try store.snapshot()
    let cursor = try store.cursor(Note.self)
    try store.close()
    func isClosed<Result>(_ body: () throws -> Result) -> Bool {
      if case .closed = storeError(body) { true } else { false }
    }
    #expect(isClosed { try store.save(Note(key: "b")) })
    #expect(isClosed { try store.fetch(Note.self) })
    #expect(isClosed { try store.count(Note.self) })
    #expect(isClosed { try store.snapshot() })
    #expect(isClosed { try store.write { _ in } })
    // Closing again does nothing.
    try store.close()
    #expect(isClosed { try store.flush() })
    #expect(isClosed { try store.metadataNames() })
    #expect(try snapshot.fetch(Note.self) == [Note(key: "a")])
    #expect(try cursor.next() == Note(key: "a"))
  }

  private struct Liar: Record {
    var id: Int
    var name: Int
    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
    }
  }

  @Test func `a description that lies is refused at open by name`() {
    let error = storeError { try PersistentStore(inMemory: StoreModel(records: [Liar.self])) }
    guard case .invalidDescription("Liar", "name", 1, _) = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
  }
}

#if DEBUG
  extension BadRecordTests {
    /// Writes what it does not hold.
    private struct Shouting: Record {
      var id: Int
      var text: String
      func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        try container.encode(text.uppercased(), forKey: .text)
      }
      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "text", type: .string)
      }
    }

    @Test func `in debug builds a type that encodes something else is refused at its first save`()
      throws
    {
      let store = try PersistentStore(inMemory: StoreModel(records: [Shouting.self]))
      let error = storeError { try store.save(Shouting(id: 1, text: "a")) }
      guard case .invalidDescription("Shouting", "text", 1, _) = error else {
        return #expect(Bool(false), "\(String(describing: error))")
      }
      #expect(try store.count(Shouting.self) == 0)
    }
  }
#endif

extension WriteTransaction {
  // What no record's type would do: entries as they are.

  fileprivate func value(of key: Bytes, in tree: TreeSlot) throws -> Bytes {
    var value: Bytes = []
    _ = try writer.trees.copyValue(of: key.rawSpan, in: tree, to: &value)
    return value
  }

  fileprivate mutating func put(_ value: Bytes, for key: Bytes, in tree: TreeSlot) throws {
    try writer.trees.put(key.rawSpan, value.rawSpan, schemaVersion: 1, in: tree)
  }

  fileprivate mutating func remove(_ key: Bytes, in tree: TreeSlot) throws {
    _ = try writer.trees.remove(key.rawSpan, in: tree)
  }

  fileprivate mutating func removeAll(in tree: TreeSlot) throws {
    try writer.trees.removeAll(in: tree)
  }
}
