/// A value that is computed of a group's records, by the stored names of their fields.
package struct FieldAggregate: Hashable, Sendable {
  /// The function.
  package let kind: AggregateKind
  /// The value of each record; null counts for nothing, but as a record.
  package let value: FieldExpression

  package init(_ kind: AggregateKind, _ value: FieldExpression) {
    self.kind = kind
    self.value = value
  }

  /// The number of records.
  package static var count: FieldAggregate { FieldAggregate(.records, .value(.null)) }
}

/// A function of the values of all records of a group.
package enum AggregateKind: Hashable, Sendable, BitwiseCopyable {
  case sum, average, lowest, highest
  /// The number of values that are not null, and of different ones.
  case count, distinct
  /// The number of records.
  case records
}

extension FieldAggregate: CustomStringConvertible {
  /// The aggregate as conditions on groups name it: `sum(price)`.
  package var description: String {
    kind == .records ? "count()" : "\(kind.word)(\(value))"
  }
}

extension AggregateKind {
  var word: String {
    switch self {
    case .sum: "sum"
    case .average: "average"
    case .lowest: "min"
    case .highest: "max"
    case .count, .records: "count"
    case .distinct: "distinct"
    }
  }

  /// Creates the kind that a word in a condition on groups names; nil if it names none. A count is of values until no value is
  /// given.
  init?(word: String) {
    switch word.lowercased() {
    case "sum": self = .sum
    case "average": self = .average
    case "min", "minimum": self = .lowest
    case "max", "maximum": self = .highest
    case "count": self = .count
    case "distinct": self = .distinct
    default: return nil
    }
  }
}
