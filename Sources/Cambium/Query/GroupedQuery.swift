/// A query of the groups of records that have the same values, with values that are computed of all records of each group.
///
/// ```swift
/// let revenue = Line.where { $0.year == 2026 }
///   .grouped { $0.product.category }
///   .computing(.sum { $0.unitPrice * $0.quantity }, .count)
///   .having { group in group.count > 3 }
///   .sorted(by: .descending(.sum { $0.unitPrice * $0.quantity }))
///   .limit(10)
/// for group in try store.fetch(revenue) { print(group.key, group.value.0, group.value.1) }
/// ```
///
/// The records of the query are grouped after its condition, order, offset and limit. Nil is a value of its own, and so is NaN;
/// strings are equal if their UTF-8 bytes are.
public struct GroupedQuery<Subject: Record, Key, Value>: Sendable {
  let query: Query<Subject>
  let keys: [PropertyExpression]
  /// Makes the key of a group of its values; nil if the type does not have one.
  let key: @Sendable ([FieldValue], RecordType<Subject>) throws -> Key
  var aggregates: [GroupedAggregate] = []
  let value: @Sendable ([FieldValue], RecordType<Subject>) throws -> Value
  var conditions: [@Sendable (RecordGroup<Key, Value>) -> Bool] = []
  /// The values by which groups are sorted. Groups that agree in all of them, or all groups if there are none, are sorted by
  /// their keys.
  package var order: [Order] = []
  /// The highest number of groups; nil for all.
  package var limit: Int?
  /// The number of groups that are left out at the beginning.
  package var offset = 0
}

/// A group of records that have the same values.
public struct RecordGroup<Key, Value> {
  /// The common value, or a tuple of them.
  public let key: Key
  /// The number of records in it.
  public let count: Int
  /// The value that was computed of its records, or a tuple of them.
  public let value: Value
}

extension RecordGroup: Sendable where Key: Sendable, Value: Sendable {}

/// An aggregate of properties, without the type of its value.
struct GroupedAggregate: Hashable, Sendable {
  let kind: AggregateKind
  let value: PropertyExpression
}

// MARK: Grouping

// The compiler tells the overloads apart by what the closure returns: a value, or a tuple of them.

extension Query {
  /// Returns the query of groups with the same value of a field, or of an expression of fields:
  /// `query.grouped { $0.date.month(in: .utc) }`, `query.grouped(by: \.city)`.
  ///
  /// - Complexity: Linear in the records of the query when it is run; memory for each group.
  public func grouped<One: FieldOperand>(
    by value: (Fields<Subject>) -> One
  ) -> GroupedQuery<Subject, One.Value, Void>
  where One.Subject == Subject, One.Value: OrderedFieldValue {
    let one = value(Fields()).computed.tree
    return GroupedQuery(
      query: self, keys: [one],
      key: { values, type in try type.value(values[0], of: one) }, value: { _, _ in () })
  }
}

extension Query {
  /// Returns the query of groups with the same two values: `query.grouped { ($0.city, $0.date.year()) }`.
  public func grouped<One: FieldOperand, Two: FieldOperand>(
    by values: (Fields<Subject>) -> (One, Two)
  ) -> GroupedQuery<Subject, (One.Value, Two.Value), Void>
  where
    One.Subject == Subject, One.Value: OrderedFieldValue,
    Two.Subject == Subject, Two.Value: OrderedFieldValue
  {
    let operands = values(Fields())
    let (one, two) = (operands.0.computed.tree, operands.1.computed.tree)
    return GroupedQuery(
      query: self, keys: [one, two],
      key: { values, type in
        (try type.value(values[0], of: one), try type.value(values[1], of: two))
      }, value: { _, _ in () })
  }
}

extension Query {
  /// Returns the query of groups with the same three values.
  public func grouped<One: FieldOperand, Two: FieldOperand, Three: FieldOperand>(
    by values: (Fields<Subject>) -> (One, Two, Three)
  ) -> GroupedQuery<Subject, (One.Value, Two.Value, Three.Value), Void>
  where
    One.Subject == Subject, One.Value: OrderedFieldValue,
    Two.Subject == Subject, Two.Value: OrderedFieldValue,
    Three.Subject == Subject, Three.Value: OrderedFieldValue
  {
    let operands = values(Fields())
    let (one, two) = (operands.0.computed.tree, operands.1.computed.tree)
    let three = operands.2.computed.tree
    return GroupedQuery(
      query: self, keys: [one, two, three],
      key: { values, type in
        (
          try type.value(values[0], of: one), try type.value(values[1], of: two),
          try type.value(values[2], of: three)
        )
      }, value: { _, _ in () })
  }
}

// MARK: Computing

extension Query {
  /// A value that is computed of all records of a group: `.sum { $0.price * $0.quantity }`, `.count`.
  public struct Aggregate<Value>: Sendable {
    let aggregate: GroupedAggregate
    let value: @Sendable (FieldValue, RecordType<Subject>) throws -> Value
  }
}

extension Query.Aggregate where Value: FieldValueConvertible {
  init(_ kind: AggregateKind, _ expression: PropertyExpression) {
    aggregate = GroupedAggregate(kind: kind, value: expression)
    value = { value, type in try type.value(value, of: expression) }
  }
}

extension Query.Aggregate {
  /// The sum of the values that are not null; 0 if there are none.
  public static func sum<Operand: FieldOperand>(_ value: (Fields<Subject>) -> Operand) -> Self
  where Operand.Subject == Subject, Operand.Value: FieldNumber, Value == Operand.Value.Total {
    Self(.sum, value(Fields()).computed.tree)
  }

  /// The average of the values that are not null; nil if there are none.
  public static func average<Operand: FieldOperand>(_ value: (Fields<Subject>) -> Operand) -> Self
  where Operand.Subject == Subject, Operand.Value: FieldNumber, Value == Operand.Value.Average? {
    Self(.average, value(Fields()).computed.tree)
  }

  /// The lowest value that is neither null nor NaN, in the order of sorting; nil if there is none.
  public static func min<Operand: FieldOperand>(_ value: (Fields<Subject>) -> Operand) -> Self
  where
    Operand.Subject == Subject, Operand.Value: OrderedFieldValue,
    Value == Operand.Value.Present?
  {
    Self(.lowest, value(Fields()).computed.tree)
  }

  /// The highest value that is neither null nor NaN, in the order of sorting; nil if there is none.
  public static func max<Operand: FieldOperand>(_ value: (Fields<Subject>) -> Operand) -> Self
  where
    Operand.Subject == Subject, Operand.Value: OrderedFieldValue,
    Value == Operand.Value.Present?
  {
    Self(.highest, value(Fields()).computed.tree)
  }
}

extension Query.Aggregate where Value == Int {
  /// The number of records.
  public static var count: Self { Self(.records, .value(.null)) }

  /// The number of values that are not null.
  public static func count<Operand: FieldOperand>(of value: (Fields<Subject>) -> Operand) -> Self
  where Operand.Subject == Subject {
    Self(.count, value(Fields()).computed.tree)
  }

  /// The number of different values that are not null: `.countDistinct { $0.customer }`.
  ///
  /// - Complexity: Memory for each different value of each group.
  public static func countDistinct<Operand: FieldOperand>(
    _ value: (Fields<Subject>) -> Operand
  ) -> Self where Operand.Subject == Subject, Operand.Value: OrderedFieldValue {
    Self(.distinct, value(Fields()).computed.tree)
  }
}

extension GroupedQuery where Value == Void {
  /// Returns the query with a value that is computed of the records of each group.
  public func computing<One>(_ one: Query<Subject>.Aggregate<One>) -> GroupedQuery<
    Subject, Key, One
  > {
    computing([one.aggregate]) { values, type in try one.value(values[0], type) }
  }

  /// Returns the query with two values that are computed of the records of each group.
  public func computing<One, Two>(
    _ one: Query<Subject>.Aggregate<One>, _ two: Query<Subject>.Aggregate<Two>
  ) -> GroupedQuery<Subject, Key, (One, Two)> {
    computing([one.aggregate, two.aggregate]) { values, type in
      (try one.value(values[0], type), try two.value(values[1], type))
    }
  }

  /// Returns the query with three values that are computed of the records of each group.
  public func computing<One, Two, Three>(
    _ one: Query<Subject>.Aggregate<One>, _ two: Query<Subject>.Aggregate<Two>,
    _ three: Query<Subject>.Aggregate<Three>
  ) -> GroupedQuery<Subject, Key, (One, Two, Three)> {
    computing([one.aggregate, two.aggregate, three.aggregate]) { values, type in
      (
        try one.value(values[0], type), try two.value(values[1], type),
        try three.value(values[2], type)
      )
    }
  }

  /// Returns the query with four values that are computed of the records of each group.
  public func computing<One, Two, Three, Four>(
    _ one: Query<Subject>.Aggregate<One>, _ two: Query<Subject>.Aggregate<Two>,
    _ three: Query<Subject>.Aggregate<Three>, _ four: Query<Subject>.Aggregate<Four>
  ) -> GroupedQuery<Subject, Key, (One, Two, Three, Four)> {
    computing([one.aggregate, two.aggregate, three.aggregate, four.aggregate]) { values, type in
      (
        try one.value(values[0], type), try two.value(values[1], type),
        try three.value(values[2], type), try four.value(values[3], type)
      )
    }
  }

  private func computing<Values>(
    _ aggregates: [GroupedAggregate],
    _ value: @escaping @Sendable ([FieldValue], RecordType<Subject>) throws -> Values
  ) -> GroupedQuery<Subject, Key, Values> {
    let conditions = conditions.map { condition -> @Sendable (RecordGroup<Key, Values>) -> Bool in
      { group in condition(RecordGroup(key: group.key, count: group.count, value: ())) }
    }
    return GroupedQuery<Subject, Key, Values>(
      query: query, keys: keys, key: key, aggregates: aggregates, value: value,
      conditions: conditions, order: order.map { GroupedQuery<Subject, Key, Values>.Order($0) },
      limit: limit, offset: offset)
  }
}

// MARK: Choosing and sorting

extension GroupedQuery {
  /// A value by which groups are sorted: nil first, NaN after all numbers.
  public struct Order: Sendable {
    /// Nil for the key.
    let aggregate: GroupedAggregate?
    let isDescending: Bool

    init(aggregate: GroupedAggregate?, isDescending: Bool) {
      self.aggregate = aggregate
      self.isDescending = isDescending
    }

    fileprivate init(_ order: GroupedQuery<Subject, Key, Void>.Order) {
      self.init(aggregate: order.aggregate, isDescending: order.isDescending)
    }

    /// Sorts from the lowest value to the highest. It need not be one of those that the query returns.
    public static func ascending<Result>(_ aggregate: Query<Subject>.Aggregate<Result>) -> Order {
      Order(aggregate: aggregate.aggregate, isDescending: false)
    }

    /// Sorts from the highest value to the lowest: `.descending(.sum(\.amount))`.
    public static func descending<Result>(_ aggregate: Query<Subject>.Aggregate<Result>) -> Order {
      Order(aggregate: aggregate.aggregate, isDescending: true)
    }

    /// Sorts from the highest key to the lowest.
    public static var descendingByKey: Order { Order(aggregate: nil, isDescending: true) }
  }

  /// Returns the query of those groups that meet a condition, too: `.having { $0.count > 3 && $0.value > 100 }`.
  public func having(_ condition: @escaping @Sendable (RecordGroup<Key, Value>) -> Bool) -> Self {
    var query = self
    query.conditions.append(condition)
    return query
  }

  /// Returns the query with its groups sorted by these values, in place of an earlier order.
  public func sorted(by order: Order...) -> Self {
    var query = self
    query.order = order
    return query
  }

  /// Returns the query with a limit on the number of groups, in place of an earlier one. A negative limit is an error when the
  /// query is run.
  public func limit(_ count: Int) -> Self {
    var query = self
    query.limit = count
    return query
  }

  /// Returns the query without so many groups at the beginning. A negative number is an error when the query is run.
  public func offset(_ count: Int) -> Self {
    var query = self
    query.offset = count
    return query
  }
}
