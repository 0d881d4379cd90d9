/// A query of records in their order, each with a value of those from the first up to it: a running total, a rank, a number.
///
/// ```swift
/// let balances = Entry.where { $0.account == account }.sorted(by: .ascending(\.date)).running(.sum(\.amount))
/// for entry in try store.fetch(balances) { print(entry.record.date, entry.value) }
///
/// // The three most expensive items of each shelf.
/// let best = Item.sorted(by: .descending(\.price)).ranked(within: { $0.shelf }).having { $0 <= 3 }
/// ```
///
/// Values are of the records of the query after its condition, order, offset and limit. Records that `having`, `limit` and
/// `offset` of this query leave out are counted as well. Idea: the window functions of SQL.
public struct RunningQuery<Subject: Record, Value>: Sendable {
  let query: Query<Subject>
  /// The expressions of which each value has totals of its own.
  let keys: [PropertyExpression]
  let step: RunningStep
  let value: @Sendable (FieldValue, RecordType<Subject>) throws -> Value
  var conditions: [@Sendable (Value) -> Bool] = []
  /// The highest number of records that are returned; nil for all.
  package var limit: Int?
  /// The number of records that are left out at the beginning.
  package var offset = 0
}

/// A value that is computed from each record and those before it.
enum RunningStep: Hashable, Sendable {
  case aggregate(GroupedAggregate)
  /// The number of records before it in the order, and one.
  case rank
  /// The number of different places in the order up to it.
  case denseRank
  /// The number of records up to it.
  case number
}

// MARK: Totals

extension Query {
  /// Returns the query of the records with a running total: an aggregate of the records from the first up to each one, `.sum`,
  /// `.average`, `.min`, `.max`, `.count` or `.countDistinct`.
  ///
  /// Records that the order does not tell apart come by primary key, each with a total of its own.
  public func running<Value>(_ aggregate: Aggregate<Value>) -> RunningQuery<Subject, Value> {
    RunningQuery(
      query: self, keys: [], step: .aggregate(aggregate.aggregate), value: aggregate.value)
  }

  /// Returns the query of the records with a running total for each value of a field or an expression:
  /// `query.running(.sum(\.amount), within: { $0.account })`. Records of different values may come in turn.
  public func running<Value, Key: FieldOperand>(
    _ aggregate: Aggregate<Value>, within key: (Fields<Subject>) -> Key
  ) -> RunningQuery<Subject, Value>
  where Key.Subject == Subject, Key.Value: OrderedFieldValue {
    RunningQuery(
      query: self, keys: [key(Fields()).computed.tree], step: .aggregate(aggregate.aggregate),
      value: aggregate.value)
  }
}

// MARK: Ranks

extension Query {
  /// Returns the query of the records with their ranks in its order: one more than the number of records that come before it.
  /// Records that the order does not tell apart have the same rank.
  ///
  /// - Parameter isDense: True if ranks follow one another without gaps: 1, 1, 2 instead of 1, 1, 3.
  public func ranked(isDense: Bool = false) -> RunningQuery<Subject, Int> {
    RunningQuery(counting: isDense ? .denseRank : .rank, in: self, [])
  }

  /// Returns the query of the records with their ranks among those that have the same value of a field or an expression.
  ///
  /// - Parameter isDense: True if ranks follow one another without gaps.
  public func ranked<Key: FieldOperand>(
    isDense: Bool = false, within key: (Fields<Subject>) -> Key
  ) -> RunningQuery<Subject, Int>
  where Key.Subject == Subject, Key.Value: OrderedFieldValue {
    RunningQuery(
      counting: isDense ? .denseRank : .rank, in: self, [key(Fields()).computed.tree])
  }

  /// Returns the query of the records with their numbers, from 1, in its order.
  public func numbered() -> RunningQuery<Subject, Int> {
    RunningQuery(counting: .number, in: self, [])
  }

  /// Returns the query of the records with their numbers, from 1, among those that have the same value of a field or an
  /// expression.
  public func numbered<Key: FieldOperand>(
    within key: (Fields<Subject>) -> Key
  ) -> RunningQuery<Subject, Int>
  where Key.Subject == Subject, Key.Value: OrderedFieldValue {
    RunningQuery(counting: .number, in: self, [key(Fields()).computed.tree])
  }
}

extension RunningQuery where Value == Int {
  fileprivate init(
    counting step: RunningStep, in query: Query<Subject>, _ keys: [PropertyExpression]
  ) {
    self.init(
      query: query, keys: keys, step: step,
      value: { value, type in try type.value(value, of: .value(.null)) })
  }
}

// MARK: Choosing

extension RunningQuery {
  /// Returns the query of those records whose values meet a condition, too: `.having { $0 <= 3 }`.
  public func having(_ condition: @escaping @Sendable (Value) -> Bool) -> Self {
    var query = self
    query.conditions.append(condition)
    return query
  }

  /// Returns the query with a limit on the number of records that are returned, in place of an earlier one. A negative limit is an
  /// error when the query is run.
  public func limit(_ count: Int) -> Self {
    var query = self
    query.limit = count
    return query
  }

  /// Returns the query without so many records at the beginning. A negative number is an error when the query is run.
  public func offset(_ count: Int) -> Self {
    var query = self
    query.offset = count
    return query
  }
}
