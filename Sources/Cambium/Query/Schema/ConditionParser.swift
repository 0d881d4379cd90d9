#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

extension FieldCondition {
  /// Parses a condition, such as `age >= 18 && name beginswith "A"`.
  ///
  /// - Comparisons `== != < <= > >=` of fields (`address.street`; other names between backticks), values, and expressions
  ///   of them with `+ - * / % ??`, `length(…)` and `lowercased(…)`; `is null`, `is not null`.
  /// - Parts of dates `year(date)`, `month`, `day`, `weekday` and `hour`, in UTC or as `hour(date, "+02:00")`; the beginning of a
  ///   string `prefix(name, 1)`; the lower bound of a range `bucket(price, 10)`.
  /// - `age in [1, 2]`, `age between 1 and 5`, `tags has "x"`.
  /// - `name beginswith "A"`, `endswith`, `contains`, `equals` and `like`, followed by `[c]`, `[d]` or `[cd]` to ignore case
  ///   or diacritics. An array `contains` an element, too.
  /// - `body matches "swift sto*"`: it has the word `swift`, and one that begins with `sto`.
  /// - `author.name == "x"` leads over a reference. Of the records at the other end of a relation, which is a reference or an
  ///   inverse: `tags.any(id == "x")`, `all`, `none`, `books.count(price > 10) >= 3`, `books.sum(price, year > 1990)`,
  ///   `minimum`, `maximum`; without a condition, all of them are meant.
  /// - Values of other queries: `author in (select id from Author where country == "US" sorted by name limit 3)`,
  ///   `price > (select average(price) from Book)`; `sum`, `minimum`, `maximum`, `count()`. Each query is run once.
  /// - `is(BusinessTrip)`: the record is of that kind; `isExactly(Trip)`: and of none of its kinds.
  /// - `&& || !`, `and or not`, parentheses, `true`, `false`, `all(…)`, `any(…)`.
  /// - Values: numbers, strings with the escapes of Swift, `true`, `false`, `null`, lists in brackets; and after the name of
  ///   their type `date"2026-01-02T03:04:05Z"`, `uuid"…"`, `url"…"`, `decimal"1.5"`, `float"1.5"`, `unsigned"5"`, and
  ///   `data"00ff"`. A string stands for a date, UUID or URL if it is compared with one, and numbers for those of the
  ///   field's type.
  ///
  /// - `?` stands for the next of `arguments`, so that values need not be spliced into the text: `price > ? && tag in ?`.
  ///
  /// Words may be in upper case. The description of a condition is parsed as the same condition. A text may have 16 MiB, and
  /// be nested 100 deep, parentheses and signs included: then it is parsed in half a megabyte of stack.
  ///
  /// ```swift
  /// try store.fetch(record: "Item", where: FieldCondition(parsing: "price > ? && tag in ?", arguments: [10, ["a", "b"]]))
  /// ```
  ///
  /// - Parameter arguments: The values of the question marks, in their order: as many.
  /// - Throws: The place of the error, and the expected tokens.
  /// - Complexity: O(length).
  public init(
    parsing text: String, arguments: [any FieldValueConvertible] = []
  ) throws(ConditionSyntaxError) {
    var parser = try ConditionParser(text, arguments: arguments.map { $0.fieldValue })
    self = try parser.condition()
  }
}

extension FieldExpression {
  /// Parses an expression as it is written in conditions, such as `price * quantity` or `month(date)`.
  ///
  /// - Parameter arguments: The values of the question marks, in their order: as many.
  /// - Throws: The place of the error, and the expected tokens.
  package init(
    parsing text: String, arguments: [any FieldValueConvertible] = []
  ) throws(ConditionSyntaxError) {
    var parser = try ConditionParser(text, arguments: arguments.map { $0.fieldValue })
    self = try parser.wholeExpression()
  }
}

extension FieldValue {
  /// Parses a value as it is written in conditions, and by `literal`.
  ///
  /// - Throws: The place of the error, and the expected tokens.
  public init(parsing text: String) throws(ConditionSyntaxError) {
    var parser = try ConditionParser(text)
    self = try parser.wholeValue()
  }
}

/// Reads a condition by the precedence of its operators.
struct ConditionParser {
  private let lexer: ConditionLexer
  let tokens: [ConditionToken]
  var index = 0
  private let arguments: [FieldValue]
  /// The number of arguments that were read.
  private var argumentCount = 0
  /// The columns of groups if the condition is on them; nil if it is on records.
  var columns: GroupColumns?

  /// The depth to which parentheses and the like may be nested, of which a thread with little stack has to hold all.
  private static var depthMax: Int { 100 }
  /// The length of a chain of computations, which nest although nothing in their text does.
  private static var chainMax: Int { 100 }
  /// The largest number of bytes of a text. Values of longer lists can be passed as arguments.
  private static var lengthMax: Int { 16 << 20 }

  init(_ text: String, arguments: [FieldValue] = []) throws(ConditionSyntaxError) {
    guard text.utf8.count <= Self.lengthMax else {
      throw ConditionSyntaxError(
        line: 1, column: 1, expected: "a text of \(Self.lengthMax) bytes at most",
        found: "\(text.utf8.count) bytes")
    }
    var lexer = ConditionLexer(text)
    tokens = try lexer.tokens()
    self.lexer = lexer
    self.arguments = arguments
  }

  /// The whole text.
  mutating func condition() throws(ConditionSyntaxError) -> FieldCondition {
    let start = index
    let parsed = try parse(.or, depth: Self.depthMax)
    guard next == .end else { throw error("an operator or the end") }
    guard argumentCount == arguments.count else {
      throw error("a “?” for each of \(arguments.count) arguments")
    }
    return try condition(parsed, at: start)
  }

  /// The whole text as an expression.
  mutating func wholeExpression() throws(ConditionSyntaxError) -> FieldExpression {
    let start = index
    let parsed = try parse(.or, depth: Self.depthMax)
    guard next == .end else { throw error("an operator or the end") }
    guard argumentCount == arguments.count else {
      throw error("a “?” for each of \(arguments.count) arguments")
    }
    return try expression(parsed, at: start)
  }

  /// The whole text as a part of an order.
  mutating func wholeOrder() throws(ConditionSyntaxError) -> FieldSubquery.Order {
    let order = try order(depth: Self.depthMax)
    guard next == .end else { throw error("an operator, “descending” or the end") }
    return order
  }

  /// The whole text as values of the records of a query.
  mutating func wholeSelection() throws(ConditionSyntaxError) -> FieldSelection {
    let isInParentheses = take("(")
    let selection = try selection(depth: Self.depthMax)
    if isInParentheses { try expect(")") }
    guard next == .end else { throw error("the end") }
    return selection
  }

  /// The whole text as a value.
  mutating func wholeValue() throws(ConditionSyntaxError) -> FieldValue {
    let parsed = try value(depth: Self.depthMax)
    guard next == .end else { throw error("the end") }
    return parsed
  }
}

extension ConditionParser {
  var next: ConditionToken.Kind { tokens[index].kind }

  func error(_ expected: String, at place: Int? = nil) -> ConditionSyntaxError {
    let token = tokens[place ?? index]
    return lexer.error(expected, at: token.offset, found: token.kind.description)
  }

  mutating func take(_ sign: String) -> Bool {
    guard next == .sign(sign) else { return false }
    index += 1
    return true
  }

  mutating func takeWord(_ words: String...) -> Bool {
    guard case .name(let name, isQuoted: false) = next, words.contains(name.lowercased()) else {
      return false
    }
    index += 1
    return true
  }

  mutating func expect(_ sign: String) throws(ConditionSyntaxError) {
    guard take(sign) else { throw error("“\(sign)”") }
  }

  /// Reads operands and operators that bind at least as tightly as `lowest`.
  mutating func parse(
    _ lowest: ConditionPrecedence, depth: Int
  ) throws(ConditionSyntaxError) -> ParsedCondition {
    guard depth > 0 else { throw error("less nesting") }
    let start = index
    var left = asColumn(try operand(lowest, depth: depth))
    while let found = ConditionOperator(next), found.precedence >= lowest {
      switch found {
      case .and, .or:
        left = .condition(try chain(found.precedence, left, from: start, depth: depth))
      case .arithmetic, .coalescing:
        index += 1
        let right = try parse(found.precedence.tighter, depth: depth - 1)
        left = asColumn(try computed(left, found, right, from: start))
      default:
        index += 1
        left = .condition(try comparison(left, found, from: start, depth: depth))
      }
    }
    return left
  }

  /// Parses all operands that follow with the same *and* or *or* between them.
  private mutating func chain(
    _ precedence: ConditionPrecedence, _ first: ParsedCondition, from start: Int, depth: Int
  ) throws(ConditionSyntaxError) -> FieldCondition {
    var conditions = [try condition(first, at: start)]
    while let found = ConditionOperator(next), found.precedence == precedence {
      index += 1
      let place = index
      conditions.append(
        try condition(try parse(precedence.tighter, depth: depth - 1), at: place))
    }
    return precedence == .and ? .and(conditions) : .or(conditions)
  }

  private func computed(
    _ left: ParsedCondition, _ operation: ConditionOperator, _ right: ParsedCondition,
    from start: Int
  ) throws(ConditionSyntaxError) -> ParsedCondition {
    let (one, other) = (try expression(left, at: start), try expression(right, at: start))
    let computed: FieldExpression =
      if case .arithmetic(let operation) = operation { .arithmetic(one, operation, other) } else {
        .coalesced(one, other)
      }
    guard !computed.isDeeper(than: Self.chainMax) else {
      throw error("a shorter computation", at: start)
    }
    return .expression(computed, isBare: false)
  }

  private func condition(
    _ parsed: ParsedCondition, at start: Int
  ) throws(ConditionSyntaxError) -> FieldCondition {
    switch parsed {
    case .condition(let condition): return condition
    case .expression(.value(.boolean(let value)), _): return value ? .and([]) : .or([])
    case .expression: throw error("a condition, not a value", at: start)
    }
  }

  func expression(
    _ parsed: ParsedCondition, at start: Int
  ) throws(ConditionSyntaxError) -> FieldExpression {
    guard case .expression(let expression, _) = parsed else {
      throw error("a value, not a condition", at: start)
    }
    return expression
  }
}

// MARK: Operands

extension ConditionParser {
  private mutating func operand(
    _ lowest: ConditionPrecedence, depth: Int
  ) throws(ConditionSyntaxError) -> ParsedCondition {
    let start = index
    if lowest <= .not, take("!") || takeWord("not") {
      let operand = try parse(.not, depth: depth - 1)
      return .condition(.not(try condition(operand, at: start + 1)))
    }
    if take("(") { return try group(depth: depth) }
    if next == .sign("-"), !isNegativeNumber {
      index += 1
      let operand = try expression(try parse(.sign, depth: depth - 1), at: index)
      return .expression(.negated(operand), isBare: false)
    }
    if case .name(let name, let isQuoted) = next {
      if !isQuoted, let aggregate = try aggregate(named: name, depth: depth) { return aggregate }
      if tokens[index + 1].kind == .sign("(") {
        return isQuoted
          ? try relationCall(name, depth: depth) : try call(name, depth: depth)
      }
      if isQuoted || !String.words.contains(name.lowercased()) {
        index += 1
        return .expression(.field(name), isBare: true)
      }
    }
    return .expression(.value(try value(depth: depth)), isBare: true)
  }

  /// Parses the content of parentheses, of which the first was read.
  private mutating func group(depth: Int) throws(ConditionSyntaxError) -> ParsedCondition {
    if isAggregateOfQuery { return try aggregateOfQuery(depth: depth - 1) }
    let inner = try parse(.or, depth: depth - 1)
    try expect(")")
    guard case .expression(let expression, _) = inner else { return inner }
    return .expression(expression, isBare: false)
  }

  private mutating func call(
    _ name: String, depth: Int
  ) throws(ConditionSyntaxError) -> ParsedCondition {
    let start = index
    index += 2
    let place = index
    if name.lowercased() == "is" || name.lowercased() == "isexactly" {
      guard case .name(let kind, _) = next else { throw error("the name of a kind") }
      index += 1
      try expect(")")
      return .condition(.kind(kind, isExact: name.lowercased() == "isexactly"))
    }
    let argument = try parse(.or, depth: depth - 1)
    if next == .sign(",") || DatePart(named: name[...]) != nil {
      return try function(name, of: argument, at: place, from: start, depth: depth)
    }
    try expect(")")
    return switch name {
    case "all": .condition(.and([try condition(argument, at: place)]))
    case "any": .condition(.or([try condition(argument, at: place)]))
    case "not": .condition(.not(try condition(argument, at: place)))
    case "length": .expression(.length(try expression(argument, at: place)), isBare: false)
    case "lowercased": .expression(.lowercased(try expression(argument, at: place)), isBare: false)
    default: throw error(Self.functions, at: start)
    }
  }

  /// For errors.
  private static let functions =
    "all, any, is, isExactly, length, lowercased, prefix, bucket, year, month, day, weekday or hour"

  /// Parses the rest of `month(date)`, `month(date, "+02:00")`, `prefix(name, 1)` or `bucket(price, 10)`.
  private mutating func function(
    _ name: String, of argument: ParsedCondition, at place: Int, from start: Int, depth: Int
  ) throws(ConditionSyntaxError) -> ParsedCondition {
    let operand = try expression(argument, at: place)
    var second = FieldValue?.none
    if take(",") { second = try value(depth: depth - 1) }
    try expect(")")
    guard let function = FieldFunction(named: name, second) else {
      throw error(Self.functions, at: start)
    }
    return .expression(.function(function, operand), isBare: false)
  }

  /// Parses `books.count(price > 10)`.
  private mutating func relationCall(
    _ name: String, depth: Int
  ) throws(ConditionSyntaxError) -> ParsedCondition {
    let start = index
    index += 2
    guard let dot = name.lastIndex(of: ".") else { throw error("a relation", at: start) }
    let relation = String(name[..<dot])
    let function = name[name.index(after: dot)...]
    if let aggregate = RelatedAggregate.allCases.first(where: { "\($0)" == function }) {
      let place = index
      let operand = try expression(try parse(.or, depth: depth - 1), at: place)
      let condition = take(",") ? try relatedCondition(depth: depth) : .and([])
      try expect(")")
      return .expression(
        .aggregate(aggregate, relation: relation, of: operand, where: condition), isBare: false)
    }
    let isEmpty = next == .sign(")")
    let condition = isEmpty ? .and([]) : try relatedCondition(depth: depth)
    try expect(")")
    switch function {
    case "any": return .condition(.any(relation: relation, condition))
    case "none": return .condition(.not(.any(relation: relation, condition)))
    case "all" where !isEmpty:
      return .condition(.not(.any(relation: relation, .not(condition))))
    case "count": return .expression(.count(relation: relation, where: condition), isBare: false)
    default:
      throw error("any, all, none, count, sum, minimum or maximum, and a condition", at: start)
    }
  }

  mutating func relatedCondition(
    depth: Int
  ) throws(ConditionSyntaxError) -> FieldCondition {
    let place = index
    return try condition(try parse(.or, depth: depth - 1), at: place)
  }

  private var isNegativeNumber: Bool {
    switch tokens[index + 1].kind {
    case .integer, .double: tokens[index + 1].offset == tokens[index].offset + 1
    default: false
    }
  }
}

extension ConditionParser {
  mutating func comparison(
    _ left: ParsedCondition, _ found: ConditionOperator, from start: Int, depth: Int
  ) throws(ConditionSyntaxError) -> FieldCondition {
    let one = try expression(left, at: start)
    if case .comparison(let comparison) = found {
      let place = index
      let right = try parse(.coalescing, depth: depth - 1)
      let other = try expression(right, at: place)
      // A field and a value, in whichever order, are compared as such; all else is computed.
      switch (left, right) {
      case (.expression(.field(let field), isBare: true), .expression(.value(let value), true)):
        return .comparison(field: field, comparison, value)
      case (.expression(.value(let value), isBare: true), .expression(.field(let field), true)):
        return .comparison(field: field, comparison.exchanged, value)
      default: return .computed(one, comparison, other)
      }
    }
    guard case .expression(.field(let field), isBare: true) = left else {
      throw error("a field", at: start)
    }
    switch found {
    case .isIn:
      if next == .sign("?") {
        let place = index
        guard case .array(let values) = try value(depth: depth - 1) else {
          throw error("a list as the argument", at: place)
        }
        return .isIn(field: field, values)
      }
      if take("(") {
        let (value, query) = try valuesOfQuery(depth: depth - 1)
        return .isInQuery(field: field, of: value, query)
      }
      try expect("[")
      return .isIn(field: field, try values(to: "]", depth: depth - 1))
    case .between:
      let lower = try value(depth: depth - 1)
      guard takeWord("and") || take("&&") else { throw error("“and”") }
      return .between(field: field, lower, try value(depth: depth - 1))
    case .has: return .contains(field: field, try value(depth: depth - 1))
    case .isNull:
      let isNot = takeWord("not")
      guard takeWord("null", "nil") else { throw error("“null”") }
      return .comparison(field: field, isNot ? .notEqual : .equal, .null)
    case .match(let kind): return try match(field, kind, depth: depth)
    default: throw error("an operator")
    }
  }

  private mutating func match(
    _ field: String, _ kind: TextMatch.Kind, depth: Int
  ) throws(ConditionSyntaxError) -> FieldCondition {
    var options: TextMatch.Options = []
    if take("[") {
      guard case .name(let letters, isQuoted: false) = next,
        letters.lowercased().allSatisfy({ $0 == "c" || $0 == "d" })
      else { throw error("c, d or cd") }
      index += 1
      if letters.lowercased().contains("c") { options.insert(.caseInsensitive) }
      if letters.lowercased().contains("d") { options.insert(.diacriticInsensitive) }
      try expect("]")
    }
    let start = index
    switch try value(depth: depth - 1) {
    case .string(let text): return .match(field: field, TextMatch(kind, text, options))
    case let value where kind == .contains && options.isEmpty:
      return .contains(field: field, value)
    default: throw error("a string", at: start)
    }
  }
}

extension ConditionParser {
  mutating func value(depth: Int) throws(ConditionSyntaxError) -> FieldValue {
    guard depth > 0 else { throw error("less nesting") }
    let start = index
    index += next == .end ? 0 : 1
    switch tokens[start].kind {
    case .string(let text): return .string(text)
    case .integer(let value):
      return Int64(exactly: value).map { .integer($0) } ?? .unsigned(value)
    case .double(let value): return .double(value)
    case .typed(let type, let text):
      guard let value = FieldValue(type, text) else {
        throw error(
          "unsigned, float, double, decimal, date, data, uuid or url, and such a value", at: start)
      }
      return value
    case .sign("?"):
      guard argumentCount < arguments.count else {
        throw error("as many arguments as question marks", at: start)
      }
      argumentCount += 1
      return arguments[argumentCount - 1]
    case .sign("["): return .array(try values(to: "]", depth: depth - 1))
    case .sign("{"): return .composite(try parts(depth: depth - 1))
    case .sign("-"):
      switch next {
      case .integer(let value) where value <= UInt64(Int64.max) + 1:
        index += 1
        return .integer(Int64(truncatingIfNeeded: 0 &- value))
      case .double(let value):
        index += 1
        return .double(-value)
      default: throw error("a number that fits")
      }
    case .name(let name, isQuoted: false):
      switch name.lowercased() {
      case "true": return .boolean(true)
      case "false": return .boolean(false)
      case "null", "nil": return .null
      default: throw error("a value", at: start)
      }
    default: throw error("a value", at: start)
    }
  }

  mutating func values(
    to end: String, depth: Int
  ) throws(ConditionSyntaxError) -> [FieldValue] {
    var values: [FieldValue] = []
    if take(end) { return values }
    repeat { values.append(try value(depth: depth)) } while take(",")
    try expect(end)
    return values
  }

  private mutating func parts(depth: Int) throws(ConditionSyntaxError) -> [String: FieldValue] {
    var parts: [String: FieldValue] = [:]
    if take("}") { return parts }
    repeat {
      guard case .string(let name) = next else { throw error("the name of a part, in quotes") }
      index += 1
      try expect(":")
      parts[name] = try value(depth: depth)
    } while take(",")
    try expect("}")
    return parts
  }
}

// MARK: Values of named types

extension FieldValue {
  /// Fails if there is no such type, or the text is none of its values.
  init?(_ type: String, _ text: String) {
    let value: FieldValue? =
      switch type.lowercased() {
      case "unsigned": UInt64(text).map { .unsigned($0) }
      case "float": Float(numberText: text).map { .float($0) }
      case "double": Double(numberText: text).map { .double($0) }
      case "decimal": Decimal(numberText: text).map { .decimal($0) }
      case "date": Date(iso: text).map { .date($0) }
      case "data": Self.data(text)
      case "uuid": UUID(uuidString: text).map { .uuid($0) }
      case "url": URL(absolute: text).map { .url($0) }
      default: nil
      }
    guard let value else { return nil }
    self = value
  }

  /// Parses data of hexadecimal digits.
  private static func data(_ text: String) -> FieldValue? {
    let digits = Array(text.utf8)
    guard digits.count % 2 == 0 else { return nil }
    var data = Data(capacity: digits.count / 2)
    for index in stride(from: 0, to: digits.count, by: 2) {
      guard let high = nibble(digits[index]), let low = nibble(digits[index + 1]) else {
        return nil
      }
      data.append(high << 4 | low)
    }
    return .data(data)
  }

  private static func nibble(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x61...0x66: digit - 0x61 + 10
    case 0x41...0x46: digit - 0x41 + 10
    default: nil
    }
  }
}
