/// A value that is computed from each record of a query and those before it, by the stored names of their fields.
package enum FieldRunningStep: Hashable, Sendable {
  case aggregate(FieldAggregate)
  /// The number of records before it in the order, and one.
  case rank
  /// The number of different places in the order up to it.
  case denseRank
  /// The number of records up to it.
  case number

  /// Parses `sum(amount)` or another aggregate, `rank`, `denseRank` or `number`.
  ///
  /// - Throws: The place of the error, and the expected tokens.
  package init(parsing text: String) throws(ConditionSyntaxError) {
    var parser = try ConditionParser(text)
    if parser.takeWord("rank") {
      self = .rank
    } else if parser.takeWord("denserank") {
      self = .denseRank
    } else if parser.takeWord("number") {
      self = .number
    } else {
      parser.columns = GroupColumns()
      let parsed = try parser.parse(.sign, depth: 100)
      // Nothing may be computed of the aggregate: it would be left out.
      guard case .expression(.field(let name), _) = parsed,
        let aggregate = parser.columns?.aggregates.first, name == "\(aggregate)"
      else {
        throw parser.error("an aggregate such as sum(price), rank, denseRank or number", at: 0)
      }
      self = .aggregate(aggregate)
    }
    guard parser.next == .end else { throw parser.error("the end") }
  }
}

extension FieldRunningStep: CustomStringConvertible {
  /// The value as conditions on it name it.
  package var description: String {
    switch self {
    case .aggregate(let aggregate): "\(aggregate)"
    case .rank: "rank"
    case .denseRank: "denseRank"
    case .number: "number"
    }
  }
}
