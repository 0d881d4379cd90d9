import Cambium
import TestSupport

@testable import InternalTestSupport

extension Collation {
  /// By length: many strings have the same place.
  static let length = Collation("length") { [UInt8(clamping: $0.utf8.count)] }
}

/// A record whose names are in indexes by collations.
struct Villager: Record, Hashable {
  var id: Int
  var name: String
  var nick: String? = nil
  var town = 0

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string)
    Field(name: "nick", type: .string, optional: true)
    Field(name: "town", type: .integer)
    Index(.collated("name", by: .german))
    Index("town", .collated("name", by: .german, descending: true), named: "townName")
    Index(.collated("nick", by: .german), named: "nick")
    Index(
      .collated("name", by: .length), "nick", named: "long",
      where: .comparison(field: "town", .greater, 1))
  }
}

/// The same without an index.
struct Stranger: Record, Hashable {
  var id: Int
  var name: String
  var nick: String? = nil
  var town = 0

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string)
    Field(name: "nick", type: .string, optional: true)
    Field(name: "town", type: .integer)
  }
}

extension SplitMix64 {
  /// A short string of few letters, so that many differ only in accents or case; seldom one that is longer than a key.
  mutating func name() -> String {
    let letters = ["a", "ä", "A", "Ä", "o", "ö", "ß", "s", "ss", "z", "\u{0}", "é", "日", ""]
    var name = ""
    for _ in 0..<Int(next() % 5) { name += letters[Int(next() % UInt64(letters.count))] }
    return next() % 20 == 0 ? String(repeating: "ä", count: 600) + name : name
  }
}
