/// The columns of a table of values that are computed of records: values by which records are grouped, and aggregates of each
/// group; or the values of each record of a running query.
///
/// Conditions on such rows and their order name a column by its expression, as in `month(date) > 3 && sum(price * count) > 100`.
/// `sum` alone is the only sum.
package struct GroupColumns: Sendable {
  package let keys: [FieldExpression]
  /// At the end are those that only conditions and orders name.
  package private(set) var aggregates: [FieldAggregate]
  /// Further columns, which are known by name.
  package var names: [String] = []

  package init(keys: [FieldExpression] = [], aggregates: [FieldAggregate] = []) {
    self.keys = keys
    self.aggregates = aggregates
  }

  /// Returns the column of a value by which records are grouped; nil if they are not.
  func column(of key: FieldExpression) -> String? {
    keys.contains(key) ? Self.name(of: key) : nil
  }

  /// Returns the name of the column of a value by which records are grouped.
  static func name(of key: FieldExpression) -> String {
    if case .field(let name) = key { name } else { "\(key)" }
  }

  /// Returns the column of an aggregate, which is computed from now on if it was not before.
  mutating func column(of aggregate: FieldAggregate) -> String {
    if !aggregates.contains(aggregate) { aggregates.append(aggregate) }
    return "\(aggregate)"
  }

  /// Returns the aggregate of a kind if there is no other of that kind; the number of records if a count is meant.
  func only(_ kind: AggregateKind) -> FieldAggregate? {
    let found = aggregates.filter { $0.kind == kind }
    if found.isEmpty, kind == .count { return .count }
    return found.count == 1 ? found[0] : nil
  }
}

// MARK: Parsing

extension GroupColumns {
  /// Parses a condition on rows. Aggregates that it names are computed from now on.
  ///
  /// - Throws: The place of the error, and the expected tokens.
  package mutating func condition(
    parsing text: String
  ) throws(ConditionSyntaxError) -> FieldCondition {
    var parser = try ConditionParser(text)
    parser.columns = self
    let condition = try parser.condition()
    self = parser.columns ?? self
    return condition
  }

  /// Parses a part of an order of rows, such as `sum descending`.
  ///
  /// - Throws: The place of the error, and the expected tokens.
  package mutating func order(
    parsing text: String
  ) throws(ConditionSyntaxError) -> FieldSubquery.Order {
    var parser = try ConditionParser(text)
    parser.columns = self
    let order = try parser.wholeOrder()
    self = parser.columns ?? self
    return order
  }
}

extension ConditionParser {
  /// Parses an aggregate in a condition on groups: `sum(price)`, or `sum` if there is one only. Nil if the next name is that of
  /// another column.
  mutating func aggregate(
    named name: String, depth: Int
  ) throws(ConditionSyntaxError) -> ParsedCondition? {
    guard let columns, !columns.keys.contains(.field(name)), !columns.names.contains(name),
      let kind = AggregateKind(word: name)
    else { return nil }
    guard depth > 0 else { throw error("less nesting") }
    let start = index
    index += 1
    guard take("(") else {
      guard let only = columns.only(kind) else {
        throw error("the only \(kind.word) of groups, or \(kind.word)(…) of a value", at: start)
      }
      return column(of: only)
    }
    if kind == .count, take(")") { return column(of: .count) }
    let place = index
    let value = try ofRecords { parser throws(ConditionSyntaxError) in
      try parser.expression(try parser.parse(.or, depth: depth - 1), at: place)
    }
    try expect(")")
    return column(of: FieldAggregate(kind, value))
  }

  private mutating func column(of aggregate: FieldAggregate) -> ParsedCondition {
    guard var columns else { return .expression(.value(.null), isBare: false) }
    let name = columns.column(of: aggregate)
    self.columns = columns
    return .expression(.field(name), isBare: true)
  }

  /// Returns a value by which records are grouped as the column that it is; anything else as it is.
  func asColumn(_ parsed: ParsedCondition) -> ParsedCondition {
    guard let columns, case .expression(let expression, _) = parsed,
      let name = columns.column(of: expression)
    else { return parsed }
    return .expression(.field(name), isBare: true)
  }

  /// Parses a part that is about records, not about groups.
  mutating func ofRecords<Part>(
    _ parse: (inout ConditionParser) throws(ConditionSyntaxError) -> Part
  ) throws(ConditionSyntaxError) -> Part {
    let columns = columns
    self.columns = nil
    let part = try parse(&self)
    self.columns = columns
    return part
  }
}
