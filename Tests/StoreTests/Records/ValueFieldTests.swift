import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A record whose key is of one type.
private struct Keyed<Key: Codable & Sendable & Hashable & FieldValueConvertible & KeyKind>: Record {
  var key: Key
  var number = 0

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "key", type: Key.fieldType)
    Field(name: "number", type: .integer)
    RecordName("Keyed")
  }
}

private protocol KeyKind { static var fieldType: FieldType { get } }
extension Int8: KeyKind { static var fieldType: FieldType { .int8 } }
extension Int: KeyKind { static var fieldType: FieldType { .integer } }
extension UInt16: KeyKind { static var fieldType: FieldType { .uint16 } }
extension UInt64: KeyKind { static var fieldType: FieldType { .uint64 } }
extension Bool: KeyKind { static var fieldType: FieldType { .boolean } }
extension Float: KeyKind { static var fieldType: FieldType { .float } }
extension Double: KeyKind { static var fieldType: FieldType { .double } }
extension Decimal: KeyKind { static var fieldType: FieldType { .decimal } }
extension String: KeyKind { static var fieldType: FieldType { .string } }
extension Date: KeyKind { static var fieldType: FieldType { .date } }
extension Data: KeyKind { static var fieldType: FieldType { .binaryData } }
extension UUID: KeyKind { static var fieldType: FieldType { .uuid } }
extension URL: KeyKind { static var fieldType: FieldType { .url } }

@Suite("Values of all kinds in a store")
struct ValueFieldTests {
  @Test func `structs, lists and all other values come back as they were, B13 B14`() throws {
    try withStore(StoreModel(records: [Building.self])) { store in
      let places = Building.some(60)
      try store.write { transaction in try transaction.insert(contentsOf: places) }
      #expect(try store.fetch(Building.self) == places)
      try store.expectSound()
      // Each becomes another: every index has to follow.
      let others = places.enumerated().map { number, place in
        var other = places[(number + 7) % places.count]
        other.id = place.id
        return other
      }
      try store.write { transaction in
        try transaction.deleteAll(Building.self)
        try transaction.save(contentsOf: places)
        for other in others { try transaction.save(other, onConflict: .replaceOther) }
      }
      let found = try store.fetch(Building.self)
      #expect(found.allSatisfy { others[Int($0.id)] == $0 })
    }
  }

  @Test func `parts of structs are indexed and unique by themselves, B13`() throws {
    try withStore(StoreModel(records: [Building.self])) { store in
      let places = Building.some(10)
      try store.write { transaction in try transaction.insert(contentsOf: places) }
      #expect(try store.entryCount(of: "moved", Building.self) == 5)
      var place = places[1]
      place.id = 100
      place.site = nil
      guard case .uniqueConflict("Building", "point", _) = storeError({ try store.save(place) })
      else {
        return #expect(Bool(false), "the point is there twice")
      }
      place.address.point.longitude = 5
      place.former = nil
      try store.save(place)
      #expect(try store.entryCount(of: "moved", Building.self) == 5)
      let record = try #require(try store.fetch(record: "Building", key: UInt32(1)))
      guard case .composite(let parts) = record["address"] else {
        return #expect(Bool(false), "\(record["address"])")
      }
      #expect(parts["street"] == "S1")
      #expect(record["names"] == ["name 0"])
    }
  }

  private struct Holder: Record, Equatable {
    var id: Int
    var text: String?
    var data: Data?
    var list: [String]?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "text", type: .string, optional: true)
      Field(name: "data", type: .binaryData, optional: true)
      Field(name: "list", type: .array(of: .string), optional: true)
    }
  }

  @Test func `what is empty is not nil`() throws {
    try withStore(StoreModel(records: [Holder.self])) { store in
      let holders = [Holder(id: 1, text: "", data: Data(), list: []), Holder(id: 2)]
      for holder in holders { try store.save(holder) }
      #expect(try store.fetch(Holder.self) == holders)
      #expect(try store.fetch(Holder.where { $0.text == "" }).map(\.id) == [1])
      #expect(try store.fetch(Holder.where { $0.text == nil }).map(\.id) == [2])
      #expect(try store.fetch(Holder.where { $0.data == nil }).map(\.id) == [2])
      #expect(try store.fetch(Holder.where { $0.list == nil }).map(\.id) == [2])
    }
  }

  @Test(arguments: [
    "https://example.com", "https://example.com/", "http://[2001:db8::1]:8080/a%20b?q=%C3%A9#f",
    "file:///tmp/a%0Ab", "mailto:a@b.c", "urn:isbn:0451450523", "data:text/plain;base64,SGVsbG8=",
    "HTTPS://EXAMPLE.com/%7e", "https://user:p%40ss@h/", "tel:+1-816-555-1212",
    "https://h/a//b/../c/./d",
  ])
  func `a URL comes back as it is written, and is found`(text: String) throws {
    let url = try #require(URL(string: text))
    try withStore(StoreModel(records: [Keyed<URL>.self])) { store in
      try store.save(Keyed(key: url, number: 7))
      let found = try #require(try store.fetch(Keyed<URL>.self, key: url))
      #expect(found.key == url && found.number == 7)
      #expect(found.key.absoluteString == url.absoluteString)
    }
  }

  private func keys<Key: Codable & Sendable & Hashable & FieldValueConvertible & KeyKind>(
    ascending keys: [Key], sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    try withStore(StoreModel(records: [Keyed<Key>.self])) { store in
      try store.write { transaction in
        for (number, key) in keys.enumerated().shuffled() {
          try transaction.insert(Keyed(key: key, number: number))
        }
      }
      let found = try store.fetch(Keyed<Key>.self).map(\.key)
      #expect(found == keys, sourceLocation: sourceLocation)
      for (number, key) in keys.enumerated() {
        let record = try store.fetch(Keyed<Key>.self, key: key)
        #expect(record?.number == number, sourceLocation: sourceLocation)
      }
    }
  }

  @Test func `keys of every type find their records and sort as values do, E1`() throws {
    try keys(ascending: [Int8.min, -1, 0, 1, .max])
    try keys(ascending: [Int.min, -256, -1, 0, 255, 256, .max])
    try keys(ascending: [UInt16.min, 1, 255, 256, .max])
    try keys(ascending: [UInt64.min, 1, 1 << 63, .max])
    try keys(ascending: [false, true])
    try keys(ascending: [-Float.infinity, -1, 0, .leastNonzeroMagnitude, 1, .infinity])
    try keys(ascending: [-Double.infinity, -1.5, 0, 1e-300, 1, .infinity])
    try keys(ascending: [Decimal(-12.5), Decimal(-1), 0, Decimal(0.001), 1, Decimal(10)])
    try keys(ascending: ["", "\u{0}", "\u{0}\u{0}", "A", "AB", "B", "a", "ä", "𝄞"])
    try keys(ascending: [-1e9, 0, 1.5].map { Date(timeIntervalSinceReferenceDate: $0) })
    try keys(ascending: [[], [0], [0, 0], [0, 255], [1], [255]].map { Data($0 as Bytes) })
    let ids = (0..<9).map { _ in UUID() }
    try keys(ascending: ids.sorted { "\($0)" < "\($1)" })
    try keys(
      ascending: ["a:b", "https://example.org/", "https://example.org/a"].compactMap {
        URL(string: $0)
      })
  }
}
