/// A query of the records of some type, as a part of a condition on others. `Field` is how fields and records are named:
/// `FieldSubquery` has their stored names.
@usableFromInline
package struct QueryTree<Field: Hashable & Sendable>: Hashable, Sendable {
  /// The record that is queried.
  package var record: Field
  package var condition: ConditionTree<Field>
  /// The values by which its records are sorted, which matters only with a limit or an offset.
  package var order: [Order]
  /// The highest number of records; nil for all.
  package var limit: Int?
  /// The number of records that are left out at the beginning.
  package var offset: Int
  /// The primary key of the record after which the query begins.
  package var after: [FieldValue]?

  /// Creates a query of the records that meet a condition.
  package init(
    of record: Field, where condition: ConditionTree<Field> = .and([]),
    sortedBy order: [Order] = [],
    limit: Int? = nil, offset: Int = 0, after key: [FieldValue]? = nil
  ) {
    self.record = record
    self.condition = condition
    self.order = order
    self.limit = limit
    self.offset = offset
    after = key
  }

  /// A value by which records are sorted.
  @usableFromInline
  package struct Order: Hashable, Sendable {
    package var value: ExpressionTree<Field>
    package var isDescending: Bool
    package var isCaseInsensitive: Bool
    package var collation: Collation?

    /// Creates the order by a value, from the lowest to the highest unless it is said to be descending.
    package init(
      _ value: ExpressionTree<Field>, isDescending: Bool = false, isCaseInsensitive: Bool = false,
      collation: Collation? = nil
    ) {
      self.value = value
      self.isDescending = isDescending
      self.isCaseInsensitive = isCaseInsensitive
      self.collation = collation
    }
  }
}

/// A query by stored names, as a part of a condition.
package typealias FieldSubquery = QueryTree<String>

/// One value of all records of a query.
@usableFromInline
package enum QueryAggregate: Hashable, Sendable, CaseIterable, BitwiseCopyable {
  /// The number of records; the expression counts for nothing.
  case count
  /// Null is left out; without values, the sum is zero, and the others are null.
  case sum, average, minimum, maximum
}

// MARK: Whether there are any

extension ConditionTree {
  /// True if a query is a part of it, or if it is nested too deep, or has too many parts, to tell; false is certain.
  ///
  /// - Complexity: O(parts), and no more than four million.
  func mayHaveQuery(upTo depth: Int = 100) -> Bool {
    var budget = conditionPartsMax
    return mayHaveQuery(upTo: depth, &budget)
  }

  fileprivate func mayHaveQuery(upTo depth: Int, _ budget: inout Int) -> Bool {
    budget -= 1
    if depth <= 0 || budget <= 0 { return true }
    switch self {
    case .comparison, .isIn, .match, .contains, .kind: return false
    case .isInQuery: return true
    case .any(_, let operand), .not(let operand):
      return operand.mayHaveQuery(upTo: depth - 1, &budget)
    case .computed(let computed):
      return computed.one.mayHaveQuery(upTo: depth - 1, &budget)
        || computed.other.mayHaveQuery(upTo: depth - 1, &budget)
    case .and(let operands), .or(let operands):
      for operand in operands where operand.mayHaveQuery(upTo: depth - 1, &budget) { return true }
      return false
    }
  }
}

extension ExpressionTree {
  /// True if a query is a part of it, or if it is nested too deep, or has too many parts, to tell; false is certain.
  func mayHaveQuery(upTo depth: Int = 100) -> Bool {
    var budget = conditionPartsMax
    return mayHaveQuery(upTo: depth, &budget)
  }

  fileprivate func mayHaveQuery(upTo depth: Int, _ budget: inout Int) -> Bool {
    budget -= 1
    if depth <= 0 || budget <= 0 { return true }
    switch self {
    case .field, .value: return false
    case .query: return true
    case .negated(let operand), .length(let operand), .lowercased(let operand),
      .function(_, let operand):
      return operand.mayHaveQuery(upTo: depth - 1, &budget)
    case .arithmetic(let one, _, let other), .coalesced(let one, let other):
      return one.mayHaveQuery(upTo: depth - 1, &budget)
        || other.mayHaveQuery(upTo: depth - 1, &budget)
    case .count(_, let condition): return condition.mayHaveQuery(upTo: depth - 1, &budget)
    case .aggregate(_, _, let operand, let condition):
      return operand.mayHaveQuery(upTo: depth - 1, &budget)
        || condition.mayHaveQuery(upTo: depth - 1, &budget)
    }
  }
}

// MARK: Other names

extension QueryTree {
  /// Returns the query and a value of its records with other names of fields.
  func named<Naming: FieldNaming>(
    by names: Naming, with value: ExpressionTree<Field>
  ) throws(Naming.Failure) -> (value: ExpressionTree<Naming.Name>, query: QueryTree<Naming.Name>)
  where Naming.Field == Field {
    let record = try names.record(self.record)
    var condition = try self.condition.named(by: record.fields)
    if let kind = record.kind {
      let isOfKind = ConditionTree<Naming.Name>.kind(kind, isExact: false)
      condition = condition == .and([]) ? isOfKind : .and([isOfKind, condition])
    }
    var query = QueryTree<Naming.Name>(
      of: record.name, where: condition, limit: limit, offset: offset, after: after)
    for part in order {
      query.order.append(
        .init(
          try part.value.named(by: record.fields), isDescending: part.isDescending,
          isCaseInsensitive: part.isCaseInsensitive, collation: part.collation))
    }
    return (try value.named(by: record.fields), query)
  }
}
