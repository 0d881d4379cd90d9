import Cambium
import TestSupport

extension Collation {
  /// German as in a dictionary (DIN 5007-1): ä as a and ß as ss, then by accents, then by case.
  static let german = Collation("de") { germanSortKey(of: $0) }
  /// German as in a telephone book (DIN 5007-2): ä as ae.
  static let germanNames = Collation("de", version: "names") { string in
    germanSortKey(of: string, ["ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"])
  }
  /// By length: many strings have the same place.
  static let length = Collation("length") { [UInt8(clamping: $0.utf8.count)] }
}

private func germanSortKey(
  of string: String, _ letters: [String: String] = ["ä": "a", "ö": "o", "ü": "u", "ß": "ss"]
) -> [UInt8] {
  var key: (letters: [UInt8], accents: [UInt8], cases: [UInt8]) = ([], [], [])
  for character in string {
    let lower = character.lowercased()
    let plain = letters[lower] ?? lower
    key.letters += plain.utf8
    key.accents.append(plain == lower ? 1 : 2)
    key.cases.append(lower == String(character) ? 1 : 2)
  }
  return key.letters + [0] + key.accents + [0] + key.cases
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
