import Foundation
import Testing

@testable import Cambium
@testable import InternalTestSupport

private struct Keyed<Key: FieldValueConvertible & Codable & Hashable & KeyTyped>: Record {
  var id: Key

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Keyed")
    Field(primaryKey: true, name: "id", type: Key.keyFieldType)
  }
}

/// A record whose key has a type, though it is not called `id`.
private struct Voucher: Record, Equatable {
  typealias KeyType = String

  var code: String
  var value: Int

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "code", type: .string)
    Field(name: "value", type: .integer)
  }
}

private protocol KeyTyped {
  static var keyFieldType: FieldType { get }
}

extension Int8: KeyTyped { fileprivate static var keyFieldType: FieldType { .int8 } }
extension UInt32: KeyTyped { fileprivate static var keyFieldType: FieldType { .uint32 } }
extension UInt64: KeyTyped { fileprivate static var keyFieldType: FieldType { .uint64 } }
extension Float: KeyTyped { fileprivate static var keyFieldType: FieldType { .float } }
extension Double: KeyTyped { fileprivate static var keyFieldType: FieldType { .double } }
extension URL: KeyTyped { fileprivate static var keyFieldType: FieldType { .url } }
extension UUID: KeyTyped { fileprivate static var keyFieldType: FieldType { .uuid } }

@Suite struct KeyArgumentTests {
  @Test func `a literal of another type is a key where it is exactly one`() throws {
    try expect(Int8(5), by: 5, UInt(5), not: 300, 5.5)
    try expect(UInt32(5), by: 5, not: -1, 1 << 40)
    try expect(UInt64.max, by: UInt64.max, not: -1, "5")
    try expect(Float(0.1), by: 0.1, not: 1 << 30 + 1)
    try expect(Double(5), by: 5, Float(5), not: "5", Int.max)
    let url = try #require(URL(string: "https://example.org/a"))
    try expect(url, by: "https://example.org/a", not: "no address", 5)
    let uuid = UUID()
    try expect(uuid, by: uuid.uuidString, not: "no identifier")
  }

  private func expect<Key>(
    _ key: Key, by literals: any FieldValueConvertible..., not others: any FieldValueConvertible...
  ) throws where Key: FieldValueConvertible & Codable & Hashable & KeyTyped {
    try withStore(StoreModel(records: [Keyed<Key>.self])) { store in
      try store.save(Keyed(id: key))
      for literal in literals {
        #expect(try store.fetch(Keyed<Key>.self, key: literal)?.id == key)
        #expect(try store.contains(Keyed<Key>.self, key: literal))
        #expect(try store.fetch(record: "Keyed", key: literal) != nil)
        let cursor = try store.cursor(Keyed<Key>.self)
        try cursor.seek(to: literal)
        #expect(try cursor.next()?.id == key)
        #expect(try store.fetch(Query<Keyed<Key>>().after(literal.fieldValue)).isEmpty)
      }
      for literal in others {
        guard case .invalidQuery = storeError({ try store.fetch(Keyed<Key>.self, key: literal) })
        else {
          Issue.record("\(literal) is a key of \(Key.self)")
          continue
        }
      }
      let isDeleted = try store.write { transaction in
        try transaction.delete(Keyed<Key>.self, key: literals[0])
      }
      #expect(isDeleted)
    }
  }

  @Test func `a record names the type of a key that is not called id`() throws {
    try withStore(StoreModel(records: [Voucher.self])) { store in
      let voucher = Voucher(code: "A1", value: 5)
      try store.save(voucher)
      #expect(try store.find(Voucher.self, key: "A1") == voucher)
      #expect(try store.fetch(Voucher.self, keys: ["A1", "B1"]) == [voucher])
      #expect(try store.contains(Voucher.self, key: "A1"))
      let cursor = try store.cursor(Voucher.self)
      try cursor.seek(to: "A0")
      #expect(try cursor.next() == voucher)
      #expect(try store.delete(Voucher.self, key: "A1"))
      #expect(
        storeError { try store.find(Voucher.self, key: "A1") }
          == .noSuchRecord(record: "Voucher", key: "\"A1\""))
    }
  }

  @Test func `all records are fetched where a store is optional or a result is`() throws {
    try withStore { store in
      try store.save(Account(id: 1, name: "a"))
      let perhaps: PersistentStore? = store
      #expect(try perhaps?.fetch(Account.self).count == 1)
      let all: [Account]? = try store.fetch(Account.self)
      #expect(all?.count == 1)
    }
  }

  @Test func `parts of a compound key are given one after the other`() throws {
    try withStore { store in
      try store.save(Seat(row: "A", number: 1))
      #expect(try store.fetch(Seat.self, key: "A", 1) != nil)
      #expect(try store.contains(Seat.self, key: "A", 1))
      guard case .invalidQuery = storeError({ try store.fetch(Seat.self, key: "A") }) else {
        Issue.record("a part of a key is one")
        return
      }
    }
  }
}
