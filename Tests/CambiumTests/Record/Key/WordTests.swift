import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct WordTests {
  @Test func `letters, marks and numbers of Unicode 17 are parts of words, and nothing else`() {
    var count = 0
    for value in UInt32(0)...0x10ffff {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let isInWord = WordTable.contains(scalar)
      if isInWord { count += 1 }
      // Scalars assigned after the format's version of Unicode are in no word.
      let isOf17 = scalar.properties.age.map { $0.major <= 17 } ?? false
      if isInWord != (isOf17 && isLetterMarkOrNumber(scalar)) {
        Issue.record("\(String(value, radix: 16))")
      }
    }
    #expect(count == 150_139)
  }

  @Test(arguments: [
    // Nothing but separators.
    ("", []), (" ", []), ("–!?… \n\t\0", []), ("*", []), ("🙂", []), ("👩‍👩‍👧", []),
    ("\u{e000}\u{10ffff}", []),
    // Punctuation, apostrophes, underscores and hyphens separate.
    ("a", ["a"]), ("swift store", ["swift", "store"]), ("  swift,store. ", ["swift", "store"]),
    ("don't", ["don", "t"]), ("don’t", ["don", "t"]),
    ("snake_case-word", ["snake", "case", "word"]),
    ("a.b@c.de", ["a", "b", "c", "de"]), ("C++ C#", ["c", "c"]), ("a\0b", ["a", "b"]),
    ("one🙂two", ["one", "two"]), ("soft\u{ad}hyphen", ["soft", "hyphen"]),
    // Digits and other numbers are parts of words.
    ("SQLite3 3.14 x²", ["sqlite3", "3", "14", "x²"]), ("½ Ⅳ ٣", ["½", "ⅳ", "٣"]),
    // Case is ignored, and marks are not. A sigma at the end of a word is folded as any other.
    ("SWIFT Straße ÄÖÜ", ["swift", "straße", "äöü"]), ("ΑΣ ας", ["ασ", "ασ"]),
    ("Cafe\u{301}s", ["cafe\u{301}s"]), ("caf\u{e9} cafe", ["caf\u{e9}", "cafe"]),
    ("\u{301}", ["\u{301}"]), ("हिन्दी", ["हिन्दी"]), ("Привет, мир", ["привет", "мир"]),
    // In scripts written without spaces each scalar is a word. Hangul has spaces.
    ("東京都", ["東", "京", "都"]), ("ab東c", ["ab", "東", "c"]), ("カード・ひ", ["カ", "ー", "ド", "ひ"]),
    ("人々〇", ["人", "々", "〇"]), ("𠮷野", ["𠮷", "野"]), ("한국어 책", ["한국어", "책"]),
  ])
  func `a text is taken apart into words`(text: String, words: [String]) {
    #expect(Self.words(text).map { Bytes($0.utf8) } == words.map { Bytes($0.utf8) })
  }

  @Test func `a long word is cut before the scalar that does not fit into 64 bytes`() {
    let letters = String(repeating: "a", count: 62)
    #expect(Self.words(letters + "bcd e") == [letters + "bc", "e"])
    #expect(Self.words(letters + "éb") == [letters + "é"])
    // Later scalars would fit, but the word has ended.
    #expect(Self.words(letters + "béc d") == [letters + "b", "d"])
    #expect(Self.words(letters + "𐐀z") == [letters])
    // The small letter takes three bytes instead of two.
    #expect(Self.words(letters + "Ⱥz") == [letters])
    #expect(Self.words(String(repeating: "𐐀", count: 40)) == [String(repeating: "𐐨", count: 16)])
  }

  @Test(arguments: [
    ([0x61, 0xff, 0x62], ["a", "b"]), ([0xc3], []), ([0x61, 0xc3], ["a"]), ([0xc3, 0x61], ["a"]),
    // A surrogate, a letter in too many bytes, one beyond Unicode, one that is cut off.
    ([0xed, 0xa0, 0x80, 0x61], ["a"]), ([0xc1, 0xa1, 0x61], ["a"]), ([0xe0, 0x83, 0xa9], []),
    ([0xf4, 0x90, 0x80, 0x80, 0x61], ["a"]), ([0x62, 0xf0, 0x9f, 0x99], ["b"]),
    ([0xf8, 0x88, 0x80, 0x80, 0x80], []), ([0xa9, 0xc3, 0xa9], ["é"]),
  ])
  func `bytes that are no UTF-8 are between words`(bytes: Bytes, words: [String]) {
    #expect(Self.words(of: bytes) == words)
  }

  @Test(arguments: [
    ("the Swift store", "swift", true), ("the Swift store", "STORE the", true),
    ("the Swift store", "swift stores", false), ("the Swift store", "sto*", true),
    ("the Swift store", "sto", false), ("the Swift store", "stored*", false),
    ("the Swift store", "store*", true), ("the Swift store", "sto *", false),
    ("the Swift store", "*tore", false), ("the Swift store", "s* t*", true),
    ("the Swift store", "swift swift, swift*", true), ("the Swift store", "s*e", false),
    ("the Swift store", "", true), ("the Swift store", "?! *", true), ("", "", true),
    ("", "a", false),
    ("東京の塔", "東京", true), ("東京の塔", "京都", false), ("東京の塔", "塔*", true),
    ("café", "cafe", false), ("CAFÉ", "café", true),
  ])
  func `a text matches words`(text: String, query: String, matches: Bool) {
    #expect(Self.matches(text, query) == matches)
  }

  @Test func `a word that is too long is found as a whole, and by its beginning`() {
    let long = String(repeating: "x", count: 100)
    #expect(Self.matches("a \(long) b", long))
    #expect(Self.matches("a \(long) b", "\(long)*"))
    #expect(Self.matches("a \(long) b", "xx*"))
    #expect(Self.matches("a \(long) b", long + "yyy"))
    #expect(!Self.matches("a \(long) b", String(long.dropLast(50))))
  }

  @Test func `more words than a machine word has bits are all looked for`() {
    let words = (0..<200).map { "w\($0)" }
    let text = words.reversed().joined(separator: " ")
    #expect(Self.matches(text, words.joined(separator: ", ")))
    for place in [0, 63, 64, 127, 128, 199] {
      var other = words
      other[place] = "missing"
      #expect(!Self.matches(text, other.joined(separator: " ")))
    }
  }

  private func isLetterMarkOrNumber(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .nonspacingMark, .spacingMark, .enclosingMark, .decimalNumber, .letterNumber, .otherNumber:
      true
    default: false
    }
  }

  private static func words(_ text: String) -> [String] { words(of: Bytes(text.utf8)) }

  private static func words(of bytes: Bytes) -> [String] {
    var reader = WordReader(bytes.rawSpan)
    var words: [String] = []
    while reader.next() { words.append(String(decoding: reader.word.array(), as: UTF8.self)) }
    return words
  }

  private static func matches(_ text: String, _ query: String) -> Bool {
    WordQuery(Bytes(query.utf8)).matches(Bytes(text.utf8).rawSpan)
  }
}
