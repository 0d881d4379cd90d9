/// Values of each record of a query, by stored names: `select name, price * 2 from Book where year > 2000`.
package struct FieldSelection: Hashable, Sendable {
  package var values: [FieldExpression]
  package var query: FieldSubquery

  package init(_ values: [FieldExpression], of query: FieldSubquery) {
    self.values = values
    self.query = query
  }

  /// Parses a selection as it is written in conditions, with or without the parentheses around it.
  ///
  /// - Throws: The place of the error, and the expected tokens.
  package init(parsing text: String) throws(ConditionSyntaxError) {
    var parser = try ConditionParser(text)
    self = try parser.wholeSelection()
  }
}

extension FieldSubquery.Order {
  /// Parses a part of an order: a field or an expression, with `desc` or `descending` after it, and `[c]` to sort without case.
  ///
  /// - Throws: The place of the error, and the expected tokens.
  package init(parsing text: String) throws(ConditionSyntaxError) {
    var parser = try ConditionParser(text)
    self = try parser.wholeOrder()
  }
}
