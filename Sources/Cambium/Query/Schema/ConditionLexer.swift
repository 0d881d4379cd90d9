/// A part of a condition's text.
struct ConditionToken {
  var kind: Kind
  /// The offset of its beginning, in Unicode scalars.
  var offset: Int

  enum Kind: Hashable {
    /// A word, or the path of a field; `isQuoted` where it has backticks, so that it is no word.
    case name(String, isQuoted: Bool)
    case string(String)
    /// A string right after the name of a type.
    case typed(String, String)
    case integer(UInt64)
    case double(Double)
    case sign(String)
    case end
  }
}

extension ConditionToken.Kind: CustomStringConvertible {
  /// For errors.
  var description: String {
    switch self {
    case .name(let name, _): "“\(name)”"
    case .string(let text): text.quoted
    case .typed(let type, let text): type + text.quoted
    case .integer(let value): "\(value)"
    case .double(let value): "\(value)"
    case .sign(let sign): "“\(sign)”"
    case .end: "the end"
    }
  }
}

/// Takes a condition's text apart.
struct ConditionLexer {
  private let text: [Unicode.Scalar]
  private var offset = 0

  init(_ text: String) {
    self.text = Array(text.unicodeScalars)
  }

  /// All tokens; the last is the end.
  mutating func tokens() throws(ConditionSyntaxError) -> [ConditionToken] {
    var tokens: [ConditionToken] = []
    while true {
      while let scalar = next, scalar.properties.isWhitespace { offset += 1 }
      let start = offset
      let kind = try token()
      tokens.append(ConditionToken(kind: kind, offset: start))
      if kind == .end { return tokens }
    }
  }

  private var next: Unicode.Scalar? { offset < text.count ? text[offset] : nil }

  private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
    guard next == scalar else { return false }
    offset += 1
    return true
  }

  /// - Parameter offset: Where it is; by default, the next token.
  func error(
    _ expected: String, at offset: Int? = nil, found: String? = nil
  ) -> ConditionSyntaxError {
    let offset = offset ?? self.offset
    let lines = text[..<min(offset, text.count)].split(
      separator: "\n", omittingEmptySubsequences: false)
    let here = offset < text.count ? String(text[offset]).quoted : "the end"
    return ConditionSyntaxError(
      line: max(lines.count, 1), column: (lines.last?.count ?? 0) + 1, expected: expected,
      found: found ?? here)
  }

  private mutating func token() throws(ConditionSyntaxError) -> ConditionToken.Kind {
    guard let scalar = next else { return .end }
    if scalar.isDigit { return try number() }
    if scalar == "\"" || scalar == "'" { return .string(try quoted(scalar)) }
    if scalar == "`" || scalar.beginsName { return try name() }
    return try sign()
  }

  private mutating func sign() throws(ConditionSyntaxError) -> ConditionToken.Kind {
    let pairs = ["==", "!=", "<=", ">=", "&&", "||", "??"]
    if offset + 1 < text.count {
      let pair = String(String.UnicodeScalarView(text[offset..<offset + 2]))
      if pairs.contains(pair) {
        offset += 2
        return .sign(pair)
      }
    }
    guard let scalar = next, "<>=!+-*/%()[]{},:?".unicodeScalars.contains(scalar) else {
      throw error("a field, a value or an operator")
    }
    offset += 1
    return .sign(String(scalar))
  }
}

// MARK: Names and strings

extension ConditionLexer {
  private mutating func name() throws(ConditionSyntaxError) -> ConditionToken.Kind {
    var parts: [String] = []
    var isQuoted = false
    repeat {
      if next == "`" {
        isQuoted = true
        parts.append(try quoted("`"))
      } else {
        var part = String.UnicodeScalarView()
        while let scalar = next, part.isEmpty ? scalar.beginsName : scalar.continuesName {
          part.append(scalar)
          offset += 1
        }
        guard !part.isEmpty else { throw error("the name of a part") }
        parts.append(String(part))
      }
    } while take(".")
    if parts.count == 1, !isQuoted, next == "\"" { return .typed(parts[0], try quoted("\"")) }
    return .name(parts.joined(separator: "."), isQuoted: isQuoted || parts.count > 1)
  }

  /// Reads the text up to the next `quote`.
  private mutating func quoted(
    _ quote: Unicode.Scalar
  ) throws(ConditionSyntaxError) -> String {
    offset += 1
    var text = String.UnicodeScalarView()
    while let scalar = next {
      offset += 1
      if scalar == quote { return String(text) }
      text.append(scalar == "\\" ? try escape() : scalar)
    }
    throw error("\(quote) at the end")
  }

  /// Reads the escape after a backslash.
  private mutating func escape() throws(ConditionSyntaxError) -> Unicode.Scalar {
    guard let scalar = next else { throw error("a character after the backslash") }
    offset += 1
    switch scalar {
    case "n": return "\n"
    case "t": return "\t"
    case "r": return "\r"
    case "0": return "\0"
    case "\\", "\"", "'", "`": return scalar
    case "u":
      let start = offset
      guard take("{") else { throw error("{ and the number of a scalar") }
      var digits = ""
      while let scalar = next, scalar.properties.isASCIIHexDigit, digits.utf8.count < 8 {
        digits.unicodeScalars.append(scalar)
        offset += 1
      }
      guard take("}"), let value = UInt32(digits, radix: 16), let scalar = Unicode.Scalar(value)
      else { throw error("the number of a scalar, as in \\u{e9}", at: start) }
      return scalar
    default:
      throw error("n, t, r, 0, u, a quote or a backslash", at: offset - 1)
    }
  }
}

// MARK: Numbers

extension ConditionLexer {
  private mutating func number() throws(ConditionSyntaxError) -> ConditionToken.Kind {
    let start = offset
    var isInteger = takeDigits()
    if next == ".", offset + 1 < text.count, text[offset + 1].isDigit {
      offset += 1
      isInteger = !takeDigits()
    }
    if next == "e" || next == "E" {
      offset += 1
      if !take("-") { _ = take("+") }
      guard takeDigits() else { throw error("the digits of an exponent") }
      isInteger = false
    }
    if let scalar = next, scalar.continuesName { throw error("the end of a number") }
    let digits = String(String.UnicodeScalarView(text[start..<offset]))
    if isInteger, let value = UInt64(digits) { return .integer(value) }
    guard !isInteger, let value = Double(numberText: digits) else {
      throw error("a number that fits", at: start, found: digits)
    }
    return .double(value)
  }

  /// - Returns: True if there are any.
  private mutating func takeDigits() -> Bool {
    let start = offset
    while let scalar = next, scalar.isDigit { offset += 1 }
    return offset > start
  }
}

extension Unicode.Scalar {
  fileprivate var isDigit: Bool { (0x30...0x39).contains(value) }
}

/// A parsed part of a text: a condition or an expression, which only operators distinguish.
enum ParsedCondition {
  case condition(FieldCondition)
  /// `isBare`, a field or a value without parentheses.
  case expression(FieldExpression, isBare: Bool)
}

/// From the loosest to the tightest.
enum ConditionPrecedence: Int, Comparable {
  case or, and, not, comparison, coalescing, sum, product, sign

  static func < (one: ConditionPrecedence, other: ConditionPrecedence) -> Bool {
    one.rawValue < other.rawValue
  }

  var tighter: ConditionPrecedence { ConditionPrecedence(rawValue: rawValue + 1) ?? .sign }
}

/// An operator between two operands.
enum ConditionOperator {
  case or, and
  case comparison(FieldComparison)
  case isIn, between, has, isNull
  case match(TextMatch.Kind)
  case coalescing
  case arithmetic(FieldArithmetic)

  var precedence: ConditionPrecedence {
    switch self {
    case .or: .or
    case .and: .and
    case .comparison, .isIn, .between, .has, .isNull, .match: .comparison
    case .coalescing: .coalescing
    case .arithmetic(.plus), .arithmetic(.minus): .sum
    case .arithmetic: .product
    }
  }

  init?(_ token: ConditionToken.Kind) {
    switch token {
    case .sign(let sign):
      guard let found = Self.signs[sign] else { return nil }
      self = found
    case .name(let name, isQuoted: false):
      guard let found = Self.words[name.lowercased()] else { return nil }
      self = found
    default: return nil
    }
  }

  private static let signs: [String: ConditionOperator] = [
    "||": .or, "&&": .and, "==": .comparison(.equal), "=": .comparison(.equal),
    "!=": .comparison(.notEqual), "<": .comparison(.less), "<=": .comparison(.lessOrEqual),
    ">": .comparison(.greater), ">=": .comparison(.greaterOrEqual), "??": .coalescing,
    "+": .arithmetic(.plus), "-": .arithmetic(.minus), "*": .arithmetic(.times),
    "/": .arithmetic(.divided), "%": .arithmetic(.remainder),
  ]

  private static let words: [String: ConditionOperator] = [
    "or": .or, "and": .and, "in": .isIn, "between": .between, "has": .has, "is": .isNull,
    "beginswith": .match(.prefix), "endswith": .match(.suffix), "contains": .match(.contains),
    "equals": .match(.equals), "like": .match(.like), "matches": .match(.words),
  ]
}
