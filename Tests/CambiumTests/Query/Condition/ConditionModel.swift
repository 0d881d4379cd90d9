import Foundation

@testable import Cambium

/// The records that the model is for have no relations.
private struct NoRelations: Error {}

/// What conditions mean, said once more over decoded values: slowly, and with nothing of how rows are asked.
struct ConditionModel {
  let value: (String) throws -> FieldValue

  func holds(_ condition: FieldCondition) throws -> Bool {
    switch condition {
    case .comparison(let field, let comparison, let other):
      return Self.holds(try value(field), comparison, other)
    case .isIn(let field, let values):
      let value = try value(field)
      return values.contains { Self.holds(value, .equal, $0) }
    case .match(let field, let match):
      switch try value(field) {
      case .string(let text): return Self.matches(text, match)
      case .url(let url): return Self.matches(url.absoluteString, match)
      default: return false
      }
    case .contains(let field, let element):
      guard case .array(let values) = try value(field) else { return false }
      return values.contains { Self.holds($0, .equal, element) }
    case .any, .kind, .isInQuery: throw NoRelations()
    case .computed(let computed):
      return Self.holds(
        try compute(computed.one), computed.comparison, try compute(computed.other))
    case .and(let conditions): return try conditions.allSatisfy { try holds($0) }
    case .or(let conditions): return try conditions.contains { try holds($0) }
    case .not(let condition): return try !holds(condition)
    }
  }
}

// MARK: Order

extension ConditionModel {
  private static func holds(
    _ one: FieldValue, _ comparison: FieldComparison, _ other: FieldValue
  ) -> Bool {
    if one == .null || other == .null {
      let isSame = one == other
      return comparison == .equal ? isSame : comparison == .notEqual ? !isSame : false
    }
    guard let order = order(one, other) else { return comparison == .notEqual }
    return switch comparison {
    case .equal: order == 0
    case .notEqual: order != 0
    case .less: order < 0
    case .lessOrEqual: order <= 0
    case .greater: order > 0
    case .greaterOrEqual: order >= 0
    }
  }

  /// Nil where one is not a number.
  private static func order(_ one: FieldValue, _ other: FieldValue) -> Int? {
    func order<Value: Comparable>(_ one: Value, _ other: Value) -> Int? {
      one < other ? -1 : one > other ? 1 : one == other ? 0 : nil
    }
    func bytes(_ one: [UInt8], _ other: [UInt8]) -> Int {
      one == other ? 0 : one.lexicographicallyPrecedes(other) ? -1 : 1
    }
    if let one = integer(one), let other = integer(other) { return order(one, other) }
    // `Decimal` has an order for what is not a number.
    if case .decimal(let one) = one, let other = decimal(other) {
      return one.isNaN || other.isNaN ? nil : order(one, other)
    }
    if case .decimal(let other) = other, let one = decimal(one) {
      return one.isNaN || other.isNaN ? nil : order(one, other)
    }
    if let one = double(one), let other = double(other) { return order(one, other) }
    switch (one, other) {
    case (.boolean(let one), .boolean(let other)): return order(one ? 1 : 0, other ? 1 : 0)
    case (.date(let one), .date(let other)): return order(one, other)
    case (.string(let one), .string(let other)):
      return bytes([UInt8](one.utf8), [UInt8](other.utf8))
    case (.url(let one), .url(let other)):
      return bytes([UInt8](one.absoluteString.utf8), [UInt8](other.absoluteString.utf8))
    case (.data(let one), .data(let other)): return bytes([UInt8](one), [UInt8](other))
    case (.uuid(let one), .uuid(let other)):
      return bytes([UInt8](one.uuidString.utf8), [UInt8](other.uuidString.utf8))
    case (.array(let one), .array(let other)):
      return one.count == other.count && zip(one, other).allSatisfy { self.order($0, $1) == 0 }
        ? 0 : 1
    default: return nil
    }
  }

  private static func integer(_ value: FieldValue) -> Int128? {
    switch value {
    case .integer(let value): Int128(value)
    case .unsigned(let value): Int128(value)
    default: nil
    }
  }

  private static func double(_ value: FieldValue) -> Double? {
    switch value {
    case .float(let value): Double(value)
    case .double(let value): value
    case .date(let value): value.timeIntervalSinceReferenceDate
    default: integer(value).map { Double($0) }
    }
  }

  private static func decimal(_ value: FieldValue) -> Decimal? {
    switch value {
    case .decimal(let value): value
    case .double(let value): Decimal(string: "\(value)")
    default: integer(value).flatMap { Decimal(string: "\($0)") }
    }
  }
}

// MARK: Computing

extension ConditionModel {
  private func compute(_ expression: FieldExpression) throws -> FieldValue {
    switch expression {
    case .field(let name): return try value(name)
    case .value(let value): return value
    case .arithmetic(let one, let operation, let other):
      return Self.combine(try compute(one), operation, try compute(other))
    case .negated(let operand):
      return Self.combine(.integer(0), .minus, try compute(operand))
    case .length(let operand):
      switch try compute(operand) {
      case .string(let text): return .integer(Int64(text.count))
      case .url(let url): return .integer(Int64(url.absoluteString.count))
      case .data(let data): return .integer(Int64(data.count))
      case .array(let values): return .integer(Int64(values.count))
      default: return .null
      }
    case .lowercased(let operand):
      guard case .string(let text) = try compute(operand) else { return .null }
      return .string(Self.folded(text, .caseInsensitive))
    case .function(let function, let operand):
      return Self.result(of: function, try compute(operand))
    case .coalesced(let one, let other):
      let value = try compute(one)
      return value == .null ? try compute(other) : value
    case .count, .aggregate, .query: throw NoRelations()
    }
  }

  private static func result(of function: FieldFunction, _ value: FieldValue) -> FieldValue {
    switch (function, value) {
    case (.prefix(let count), .string(let text)): return .string(String(text.prefix(count)))
    case (.part(let part, in: let offset), .date(let date)):
      var calendar = Calendar(identifier: .gregorian)
      guard let zone = TimeZone(secondsFromGMT: offset.minutes * 60) else { return .null }
      calendar.timeZone = zone
      let parts = calendar.dateComponents([.year, .month, .day, .weekday, .hour], from: date)
      let part =
        switch part {
        case .year: parts.year
        case .month: parts.month
        case .day: parts.day
        case .weekday: parts.weekday
        case .hour: parts.hour
        }
      return part.map { .integer(Int64($0)) } ?? .null
    case (.bucket(of: let width), let value):
      guard let value = double(value), let width = double(width) else { return .null }
      return .double((value / width).rounded(.down) * width)
    default: return .null
    }
  }

  /// Integers of more than 64 bits are not asked for by the tests.
  private static func combine(
    _ one: FieldValue, _ operation: FieldArithmetic, _ other: FieldValue
  ) -> FieldValue {
    if let one = integer(one), let other = integer(other) {
      if other == 0, operation == .divided || operation == .remainder { return .null }
      let result =
        switch operation {
        case .plus: one + other
        case .minus: one - other
        case .times: one * other
        case .divided: one / other
        case .remainder: one % other
        }
      return Int64(exactly: result).map { .integer($0) }
        ?? Decimal(string: "\(result)").map { .decimal($0) } ?? .null
    }
    var pair: (Decimal, Decimal)?
    if case .decimal(let one) = one { pair = decimal(other).map { (one, $0) } }
    if case .decimal(let other) = other { pair = decimal(one).map { ($0, other) } }
    if let (one, other) = pair {
      if other == 0, operation == .divided { return .null }
      let result =
        switch operation {
        case .plus: one + other
        case .minus: one - other
        case .times: one * other
        case .divided: one / other
        case .remainder: Decimal.nan
        }
      return result.isNaN ? .null : .decimal(result)
    }
    guard let one = double(one), let other = double(other) else { return .null }
    let result =
      switch operation {
      case .plus: one + other
      case .minus: one - other
      case .times: one * other
      case .divided: one / other
      case .remainder: fmod(one, other)
      }
    return result.isFinite ? .double(result) : .null
  }
}

// MARK: Texts

extension ConditionModel {
  private static func matches(_ text: String, _ match: TextMatch) -> Bool {
    let text = Array(folded(text, match.options).unicodeScalars)
    let other = Array(folded(match.text, match.options).unicodeScalars)
    switch match.kind {
    case .prefix: return text.starts(with: other)
    case .suffix: return text.reversed().starts(with: other.reversed())
    case .equals: return text == other
    case .contains:
      return (0...text.count).contains { text[$0...].starts(with: other) }
    case .like: return matches(text[...], pattern(match)[...])
    case .words:
      let words = words(text).map(\.word)
      return self.words(other).allSatisfy { word, isPrefix in
        words.contains { isPrefix ? $0.starts(with: word) : $0 == word }
      }
    }
  }

  /// The words of a text, in lowercase, and whether an asterisk follows. All are short.
  private static func words(
    _ text: [Unicode.Scalar]
  ) -> [(word: [Unicode.Scalar], isPrefix: Bool)] {
    var words: [(word: [Unicode.Scalar], isPrefix: Bool)] = []
    var start = 0
    while start < text.count {
      var end = start + 1
      if !isOfWord(text[start]) {
        start = end
        continue
      }
      // Each ideograph is a word.
      if !text[start].properties.isIdeographic {
        while end < text.count, isOfWord(text[end]), !text[end].properties.isIdeographic {
          end += 1
        }
      }
      let word = text[start..<end].flatMap { Array($0.properties.lowercaseMapping.unicodeScalars) }
      words.append((word, end < text.count && text[end] == "*"))
      start = end
    }
    return words
  }

  private static func isOfWord(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.properties.isAlphabetic || scalar.properties.numericType != nil { return true }
    return [.nonspacingMark, .spacingMark, .enclosingMark].contains(
      scalar.properties.generalCategory)
  }

  private enum Piece: Equatable {
    case scalar(Unicode.Scalar)
    case one, any
  }

  private static func pattern(_ match: TextMatch) -> [Piece] {
    var pieces: [Piece] = []
    var rest = Array(match.text.unicodeScalars)[...]
    while let scalar = rest.popFirst() {
      if scalar == "\\", let next = rest.first, next == "*" || next == "?" || next == "\\" {
        rest.removeFirst()
        pieces.append(.scalar(next))
      } else if scalar == "*" || scalar == "?" {
        pieces.append(scalar == "*" ? .any : .one)
      } else {
        pieces += folded(String(scalar), match.options).unicodeScalars.map { .scalar($0) }
      }
    }
    return pieces
  }

  private static func matches(
    _ text: ArraySlice<Unicode.Scalar>, _ pattern: ArraySlice<Piece>
  ) -> Bool {
    switch pattern.first {
    case nil: text.isEmpty
    case .any:
      (text.startIndex...text.endIndex).contains { matches(text[$0...], pattern.dropFirst()) }
    case .one: !text.isEmpty && matches(text.dropFirst(), pattern.dropFirst())
    case .scalar(let scalar):
      text.first == scalar && matches(text.dropFirst(), pattern.dropFirst())
    }
  }

  private static func folded(_ text: String, _ options: TextMatch.Options) -> String {
    var text = text
    if options.contains(.diacriticInsensitive) {
      text = text.decomposedStringWithCanonicalMapping
      text = String(
        String.UnicodeScalarView(
          text.unicodeScalars.filter { $0.properties.generalCategory != .nonspacingMark }))
    }
    guard options.contains(.caseInsensitive) else { return text }
    // Of the letters of the tests, the full mapping is the simple one.
    return text.unicodeScalars.map { $0.properties.lowercaseMapping }.joined()
  }
}
