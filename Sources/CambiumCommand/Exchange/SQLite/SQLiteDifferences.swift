/// Notes on the parts of a table's declaration that a store does not support, such as `CHECK`.
struct SQLiteDifferences {
  private(set) var notes: [(column: String?, text: String)] = []

  /// Reads how a database declares a table.
  init(_ table: String, of database: SQLiteDatabase) throws {
    // Name, and 2 or 3 for a generated column.
    try database.forEach("PRAGMA table_xinfo(\(table.sqlName))") { row in
      if row.integer(6) > 1 { add(row.string(1), "it is computed there, and a plain field here") }
    }
    // Column and rule for updates, in a row for each column.
    try database.forEach("PRAGMA foreign_key_list(\(table.sqlName))") { row in
      let rule = row.string(5)
      if !["NO ACTION", "RESTRICT"].contains(rule) {
        add(row.string(3), "ON UPDATE \(rule) is left out: the key of a record does not change")
      }
    }
    let declaration = try database.query(
      "SELECT sql FROM sqlite_master WHERE type = 'table' AND name = \(table.sqlText)")
    if try declaration.next() { read(declaration.string(0)) }
  }

  private mutating func add(_ column: String?, _ text: String) {
    let words = text.split { $0 == " " || $0.isNewline || $0 == "\t" }
    notes.append((column, words.joined(separator: " ")))
  }

  /// Reads declarations that no PRAGMA returns.
  private mutating func read(_ statement: String) {
    let bytes = Array(statement.utf8)
    let tokens = Self.tokens(of: bytes)
    var (depth, column, isFirst) = (0, String?.none, false)
    for (place, token) in tokens.enumerated() {
      if token.isSign("(") { depth += 1 }
      if token.isSign(")") { depth -= 1 }
      guard depth == 1 else { continue }
      if token.isSign("(") || token.isSign(",") {
        isFirst = true
      } else if isFirst {
        isFirst = false
        column = token.isWord && Self.constraints.contains(token.word) ? nil : token.text
        if column == nil { read(tokens, place, column, bytes) }
      } else {
        read(tokens, place, column, bytes)
      }
    }
  }

  /// Words that a constraint of a table begins with, and no column that is not quoted.
  private static let constraints: Set<String> = [
    "CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN",
  ]

  private mutating func read(
    _ tokens: [Token], _ place: Int, _ column: String?, _ bytes: [UInt8]
  ) {
    let token = tokens[place]
    guard token.isWord else { return }
    let next = place + 1 < tokens.count ? tokens[place + 1] : nil
    switch token.word {
    case "CHECK":
      let end = Self.end(ofParenthesis: place + 1, in: tokens)
      add(column, String(decoding: bytes[token.start..<end], as: UTF8.self) + " is left out")
    case "AUTOINCREMENT":
      add(column, "AUTOINCREMENT is left out; the model can state it: generated: .sequence")
    case "DEFERRABLE" where place == 0 || tokens[place - 1].word != "NOT":
      add(column, "DEFERRABLE is left out: all references are checked when a transaction commits")
    case "COLLATE":
      guard let next, next.word != "BINARY" else { return }
      let rest = next.word == "NOCASE" ? "holds in indexes and constraints only" : "is left out"
      add(column, "COLLATE \(next.text) \(rest)")
    case "CONFLICT":
      guard let next, next.word != "ABORT" else { return }
      add(column, "ON CONFLICT \(next.text) is left out")
    default: break
    }
  }

  /// Returns where the text ends that a parenthesis encloses.
  private static func end(ofParenthesis first: Int, in tokens: [Token]) -> Int {
    var depth = 0
    for token in tokens[min(first, tokens.count)...] {
      if token.isSign("(") { depth += 1 }
      if token.isSign(")") { depth -= 1 }
      if depth == 0 { return token.end }
    }
    return tokens.last?.end ?? 0
  }
}

// MARK: - Tokens

extension SQLiteDifferences {
  /// A word, a name or string without its quotes, or a sign.
  private struct Token {
    let text: String
    let isQuoted: Bool
    /// Of its bytes.
    let start: Int
    let end: Int

    /// In capitals.
    var word: String { isQuoted ? "" : text.uppercased() }
    var isWord: Bool { !isQuoted }

    func isSign(_ sign: String) -> Bool { !isQuoted && text == sign }
  }

  /// The tokens of a statement that SQLite has accepted, without comments.
  private static func tokens(of bytes: [UInt8]) -> [Token] {
    var tokens: [Token] = []
    var place = 0
    while place < bytes.count {
      let start = place
      let byte = bytes[place]
      place += 1
      let next = place < bytes.count ? bytes[place] : 0
      if let quote = closing(byte) {
        let text = quoted(by: quote, in: bytes, &place)
        tokens.append(Token(text: text, isQuoted: true, start: start, end: place))
      } else if byte == UInt8(ascii: "-"), next == byte {
        place = bytes[place...].firstIndex(of: 0x0a) ?? bytes.count
      } else if byte == UInt8(ascii: "/"), next == UInt8(ascii: "*") {
        place += 1
        while place < bytes.count,
          !(bytes[place] == UInt8(ascii: "*") && place + 1 < bytes.count
            && bytes[place + 1] == UInt8(ascii: "/"))
        { place += 1 }
        place = min(place + 2, bytes.count)
      } else if byte > 0x20 {
        if isOfWord(byte) { while place < bytes.count, isOfWord(bytes[place]) { place += 1 } }
        let text = String(decoding: bytes[start..<place], as: UTF8.self)
        tokens.append(Token(text: text, isQuoted: false, start: start, end: place))
      }
    }
    return tokens
  }

  /// The byte that ends a name or string that another begins; nil if that begins no name or string.
  private static func closing(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "'"), UInt8(ascii: "\""), UInt8(ascii: "`"): byte
    case UInt8(ascii: "["): UInt8(ascii: "]")
    default: nil
    }
  }

  /// Returns the text up to a quote that is not doubled, and goes after it.
  private static func quoted(by quote: UInt8, in bytes: [UInt8], _ place: inout Int) -> String {
    var text: [UInt8] = []
    while place < bytes.count {
      let byte = bytes[place]
      place += 1
      if byte == quote {
        guard quote != UInt8(ascii: "]"), place < bytes.count, bytes[place] == quote else { break }
        place += 1
      }
      text.append(byte)
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func isOfWord(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "$"), 0x80...:
      true
    default: false
    }
  }
}

extension String {
  /// The text as SQLite's statements quote a string.
  var sqlText: String { "'" + replacing("'", with: "''") + "'" }
}
