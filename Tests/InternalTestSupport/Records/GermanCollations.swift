import Cambium

extension Collation {
  /// German as in a dictionary (DIN 5007-1): ä as a and ß as ss, then by accents, then by case.
  static let german = Collation("de") { germanSortKey(of: $0) }
  /// German as in a telephone book (DIN 5007-2): ä as ae.
  static let germanNames = Collation("de", version: "names") { string in
    germanSortKey(of: string, ["ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"])
  }
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
