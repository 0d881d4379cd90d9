/// Reads a condition by the precedence of its operators.
struct ConditionParser {
  private let lexer: ConditionLexer
  let tokens: [ConditionToken]
  var index = 0

  /// The depth to which parentheses and the like may be nested.
  private static var depthMax: Int { 400 }
  /// The length of a chain of computations, which nest although nothing in their text does.
  private static var chainMax: Int { 200 }

  init(_ text: String) throws(ConditionSyntaxError) {
    var lexer = ConditionLexer(text)
    tokens = try lexer.tokens()
    self.lexer = lexer
  }

  /// The whole text.
  mutating func condition() throws(ConditionSyntaxError) -> FieldCondition {
    let start = index
    let parsed = try parse(.or, depth: Self.depthMax)
    guard next == .end else { throw error("an operator or the end") }
    return try condition(parsed, at: start)
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
    var left = try operand(lowest, depth: depth)
    while let found = ConditionOperator(next), found.precedence >= lowest {
      switch found {
      case .and, .or:
        left = .condition(try chain(found.precedence, left, from: start, depth: depth))
      case .arithmetic, .coalescing:
        index += 1
        let right = try parse(found.precedence.tighter, depth: depth - 1)
        left = try computed(left, found, right, from: start)
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
    let (one, _, depth) = try expression(left, at: start)
    let (other, _, otherDepth) = try expression(right, at: start)
    let sum = max(depth, otherDepth) + 1
    guard sum <= Self.chainMax else { throw error("a shorter computation", at: start) }
    if case .arithmetic(let operation) = operation {
      return .expression(.arithmetic(one, operation, other), isBare: false, depth: sum)
    }
    return .expression(.coalesced(one, other), isBare: false, depth: sum)
  }

  private func condition(
    _ parsed: ParsedCondition, at start: Int
  ) throws(ConditionSyntaxError) -> FieldCondition {
    switch parsed {
    case .condition(let condition): return condition
    case .expression(.value(.boolean(let value)), _, _): return value ? .and([]) : .or([])
    case .expression: throw error("a condition, not a value", at: start)
    }
  }

  func expression(
    _ parsed: ParsedCondition, at start: Int
  ) throws(ConditionSyntaxError) -> (FieldExpression, isBare: Bool, depth: Int) {
    guard case .expression(let expression, let isBare, let depth) = parsed else {
      throw error("a value, not a condition", at: start)
    }
    return (expression, isBare, depth)
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
      let (operand, _, depth) = try expression(try parse(.sign, depth: depth - 1), at: index)
      return .expression(.negated(operand), isBare: false, depth: depth + 1)
    }
    if case .name(let name, let isQuoted) = next {
      if !isQuoted, tokens[index + 1].kind == .sign("(") { return try call(name, depth: depth) }
      if isQuoted || !String.words.contains(name.lowercased()) {
        index += 1
        return .expression(.field(name), isBare: true, depth: 1)
      }
    }
    return .expression(.value(try value(depth: depth)), isBare: true, depth: 1)
  }

  /// Parses the content of parentheses, of which the first was read.
  private mutating func group(depth: Int) throws(ConditionSyntaxError) -> ParsedCondition {
    let inner = try parse(.or, depth: depth - 1)
    try expect(")")
    if case .expression(let expression, _, let depth) = inner {
      return .expression(expression, isBare: false, depth: depth)
    }
    return inner
  }

  private mutating func call(
    _ name: String, depth: Int
  ) throws(ConditionSyntaxError) -> ParsedCondition {
    let start = index
    index += 2
    let place = index
    let argument = try parse(.or, depth: depth - 1)
    try expect(")")
    switch name {
    case "all": return .condition(.and([try condition(argument, at: place)]))
    case "any": return .condition(.or([try condition(argument, at: place)]))
    case "not": return .condition(.not(try condition(argument, at: place)))
    case "length":
      let (operand, _, depth) = try expression(argument, at: place)
      return .expression(.length(operand), isBare: false, depth: depth + 1)
    case "lowercased":
      let (operand, _, depth) = try expression(argument, at: place)
      return .expression(.lowercased(operand), isBare: false, depth: depth + 1)
    default: throw error("all, any, length or lowercased", at: start)
    }
  }

  fileprivate var isNegativeNumber: Bool {
    switch tokens[index + 1].kind {
    case .integer, .double: tokens[index + 1].offset == tokens[index].offset + 1
    default: false
    }
  }
}
