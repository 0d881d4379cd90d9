// Queries as parts of conditions: `(select average(price) from Book where year > 2000)`.

extension ConditionParser {
  /// True before `select sum(`, and the like.
  var isAggregateOfQuery: Bool {
    guard case .name(let select, isQuoted: false) = next, select.lowercased() == "select",
      index + 2 < tokens.count, case .name(let name, isQuoted: false) = tokens[index + 1].kind
    else { return false }
    return Self.aggregate(name) != nil && tokens[index + 2].kind == .sign("(")
  }

  private static func aggregate(_ name: String) -> QueryAggregate? {
    QueryAggregate.allCases.first { "\($0)" == name }
  }

  /// Parses `select average(price) from Book)`, after the parenthesis.
  mutating func aggregateOfQuery(depth: Int) throws(ConditionSyntaxError) -> ParsedCondition {
    guard depth > 0 else { throw error("less nesting") }
    guard case .name(let name, _) = tokens[index + 1].kind, let aggregate = Self.aggregate(name)
    else { throw error("count, sum, average, minimum or maximum", at: index + 1) }
    index += 3
    var operand = FieldExpression.value(.null)
    if aggregate != .count {
      let place = index
      operand = try expression(try parse(.or, depth: depth - 1), at: place)
    }
    try expect(")")
    let query = try query(depth: depth)
    return .expression(.query(aggregate, of: operand, query), isBare: false)
  }

  /// Parses `select id from Author)`, after the parenthesis.
  mutating func valuesOfQuery(
    depth: Int
  ) throws(ConditionSyntaxError) -> (value: FieldExpression, query: FieldSubquery) {
    guard depth > 0 else { throw error("less nesting") }
    guard takeWord("select") else { throw error("“select”") }
    let place = index
    let value = try expression(try parse(.or, depth: depth - 1), at: place)
    return (value, try query(depth: depth))
  }

  /// Parses the rest of a query, with the parenthesis at its end.
  private mutating func query(depth: Int) throws(ConditionSyntaxError) -> FieldSubquery {
    guard takeWord("from") else { throw error("“from”") }
    guard case .name(let record, _) = next else { throw error("the name of a record") }
    index += 1
    var query = FieldSubquery(of: record)
    if takeWord("where") { query.condition = try relatedCondition(depth: depth) }
    if takeWord("sorted") {
      guard takeWord("by") else { throw error("“by”") }
      repeat { query.order.append(try order(depth: depth)) } while take(",")
    }
    if takeWord("limit") { query.limit = try number() }
    if takeWord("offset") { query.offset = try number() }
    if takeWord("after") {
      try expect("[")
      query.after = try values(to: "]", depth: depth - 1)
    }
    try expect(")")
    return query
  }

  private mutating func order(depth: Int) throws(ConditionSyntaxError) -> FieldSubquery.Order {
    let place = index
    var order = FieldSubquery.Order(
      try expression(try parse(.coalescing, depth: depth - 1), at: place))
    if takeWord("descending") { order.isDescending = true } else { _ = takeWord("ascending") }
    if take("[") {
      guard takeWord("c") else { throw error("c") }
      try expect("]")
      order.isCaseInsensitive = true
    }
    if takeWord("collated") {
      try expect("[")
      let start = index
      guard case let parts = try values(to: "]", depth: depth - 1), parts.count == 2,
        case (.string(let name), .string(let version)) = (parts[0], parts[1])
      else { throw error("the name and the version of a collation", at: start) }
      order.collation = Collation(named: name, version: version)
    }
    return order
  }

  private mutating func number() throws(ConditionSyntaxError) -> Int {
    let start = index
    guard case .integer(let value) = try value(depth: 1), let number = Int(exactly: value) else {
      throw error("a number", at: start)
    }
    return number
  }
}
