/// One line of a lock's file, being read word by word.
struct LockLine {
  private let scalars: [Unicode.Scalar]
  /// From 1.
  let number: Int
  private var position = 0
  /// The offset of the word that was read last.
  private var start = 0

  init(_ text: Substring, _ number: Int) {
    scalars = Array(text.unicodeScalars)
    self.number = number
    skipSpaces()
  }

  /// True if there is nothing more, but for a comment.
  var isAtEnd: Bool { position == scalars.count || scalars[position] == "#" }

  /// An error at the word that was read last, or at the place where one is missing.
  func fault(_ reason: String) -> SchemaLockError {
    .malformed(line: number, column: start + 1, reason: reason)
  }

  private mutating func skipSpaces() {
    while position < scalars.count, scalars[position] == " " || scalars[position] == "\t" {
      position += 1
    }
  }

  /// The word or the text between quotes that comes next.
  mutating func text(_ what: String) throws(SchemaLockError) -> String {
    start = position
    if position < scalars.count, scalars[position] == "\"" { return try quoted() }
    return try word(what)
  }

  mutating func word(_ what: String) throws(SchemaLockError) -> String {
    start = position
    var word = String.UnicodeScalarView()
    while position < scalars.count, scalars[position].isOfLockWord {
      word.append(scalars[position])
      position += 1
    }
    if word.isEmpty { throw fault("\(what) is missing") }
    skipSpaces()
    return String(word)
  }

  /// Returns true if a word comes next, which is then read.
  mutating func take(_ word: String) -> Bool {
    let end = position + word.unicodeScalars.count
    guard end <= scalars.count, scalars[position..<end].elementsEqual(word.unicodeScalars),
      end == scalars.count || !scalars[end].isOfLockWord || word == ","
    else { return false }
    (start, position) = (position, end)
    skipSpaces()
    return true
  }

  mutating func end() throws(SchemaLockError) {
    start = position
    if !isAtEnd { throw fault("nothing more was expected here") }
  }

  mutating func integer(_ what: String) throws(SchemaLockError) -> Int {
    let word = try word(what)
    guard let number = Int(word), "\(number)" == word else { throw fault("\(what) is no number") }
    return number
  }

  mutating func fingerprint() throws(SchemaLockError) -> String {
    let word = try word("a fingerprint")
    guard word.utf8.count == 32,
      word.utf8.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { throw fault("a fingerprint is 32 digits, 0 to 9 and a to f") }
    return word
  }
}

// MARK: Quotes

extension LockLine {
  private mutating func quoted() throws(SchemaLockError) -> String {
    position += 1
    var text = String.UnicodeScalarView()
    while position < scalars.count {
      let scalar = scalars[position]
      position += 1
      switch scalar {
      case "\"":
        skipSpaces()
        return String(text)
      case "\\": text.append(try escaped())
      default: text.append(scalar)
      }
    }
    throw fault("the quote does not end")
  }

  private mutating func escaped() throws(SchemaLockError) -> Unicode.Scalar {
    guard position < scalars.count else { throw fault("the quote does not end") }
    defer { position += 1 }
    switch scalars[position] {
    case "\"": return "\""
    case "\\": return "\\"
    case "n": return "\n"
    case "t": return "\t"
    case "r": return "\r"
    case "u": return try numbered()
    default: throw fault("there is no such escape in the quote")
    }
  }

  /// `u{` and hexadecimal digits; leaves the position on the brace that ends them.
  private mutating func numbered() throws(SchemaLockError) -> Unicode.Scalar {
    position += 1
    guard position < scalars.count, scalars[position] == "{" else {
      throw fault("there is no such escape in the quote")
    }
    position += 1
    var digits = String.UnicodeScalarView()
    while position < scalars.count, scalars[position] != "}", digits.count < 8 {
      digits.append(scalars[position])
      position += 1
    }
    guard position < scalars.count, scalars[position] == "}",
      let scalar = UInt32(String(digits), radix: 16).flatMap(Unicode.Scalar.init)
    else { throw fault("there is no such character in the quote") }
    return scalar
  }
}
