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
    return try ofRecords { parser throws(ConditionSyntaxError) in
      var operand = FieldExpression.value(.null)
      if aggregate != .count {
        let place = parser.index
        operand = try parser.expression(try parser.parse(.or, depth: depth - 1), at: place)
      }
      try parser.expect(")")
      let query = try parser.query(depth: depth)
      try parser.expect(")")
      return .expression(.query(aggregate, of: operand, query), isBare: false)
    }
  }

  /// Parses `select id from Author)`, after the parenthesis.
  mutating func valuesOfQuery(
    depth: Int
  ) throws(ConditionSyntaxError) -> (value: FieldExpression, query: FieldSubquery) {
    guard depth > 0 else { throw error("less nesting") }
    let start = index
    let selection = try ofRecords { parser throws(ConditionSyntaxError) in
      try parser.selection(depth: depth)
    }
    guard selection.values.count == 1 else {
      throw error("one value of each record", at: start)
    }
    try expect(")")
    return (selection.values[0], selection.query)
  }

  /// Parses `select name, price * 2 from Book where year > 2000`.
  mutating func selection(depth: Int) throws(ConditionSyntaxError) -> FieldSelection {
    guard takeWord("select") else { throw error("“select”") }
    var values: [FieldExpression] = []
    repeat {
      let place = index
      values.append(try expression(try parse(.or, depth: depth - 1), at: place))
    } while take(",")
    return FieldSelection(values, of: try query(depth: depth))
  }

  /// Parses the rest of a query.
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
    return query
  }

  /// Parses `price descending`.
  mutating func order(depth: Int) throws(ConditionSyntaxError) -> FieldSubquery.Order {
    let place = index
    var order = FieldSubquery.Order(
      try expression(try parse(.coalescing, depth: depth - 1), at: place))
    if takeWord("descending", "desc") {
      order.isDescending = true
    } else {
      _ = takeWord("ascending", "asc")
    }
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
