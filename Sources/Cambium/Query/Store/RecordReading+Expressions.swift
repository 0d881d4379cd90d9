// Values that closures compute of records' fields: of each record, and of all together.

extension RecordReading where Self: ~Copyable {
  /// Returns the value that a closure computes of the fields of each record of a query.
  ///
  /// ```swift
  /// let totals = try store.select(from: Line.where { $0.quantity > 1 }) { $0.unitPrice * $0.quantity }
  /// ```
  ///
  /// - Throws: As `fetch(_:after:)`; `StoreError.invalidQuery` if a computation of numbers has no result, or the result is out
  ///   of the type's range.
  @inlinable
  public func select<Subject: Record, One: FieldOperand>(
    from query: Query<Subject>, _ value: (Fields<Subject>) -> One
  ) throws -> [One.Value] where One.Subject == Subject, One.Value: FieldValueConvertible {
    let one = value(Fields()).computed.tree
    let computed = try recordReader().values([one], from: query)
    var rows: [One.Value] = []
    while try computed.next() { rows.append(try computed.value(0)) }
    return rows
  }

  /// Returns the two values that a closure computes of the fields of each record of a query:
  /// `try store.select(from: lines) { ($0.product.name, $0.unitPrice * $0.quantity) }`.
  ///
  /// - Throws: as `select(from:_:)` of one value.
  @inlinable
  public func select<Subject: Record, One: FieldOperand, Two: FieldOperand>(
    from query: Query<Subject>, _ values: (Fields<Subject>) -> (One, Two)
  ) throws -> [(One.Value, Two.Value)]
  where
    One.Subject == Subject, One.Value: FieldValueConvertible,
    Two.Subject == Subject, Two.Value: FieldValueConvertible
  {
    let operands = values(Fields())
    let (one, two) = (operands.0.computed.tree, operands.1.computed.tree)
    let computed = try recordReader().values([one, two], from: query)
    var rows: [(One.Value, Two.Value)] = []
    while try computed.next() { rows.append((try computed.value(0), try computed.value(1))) }
    return rows
  }

  /// Returns the three values that a closure computes of the fields of each record of a query.
  ///
  /// - Throws: as `select(from:_:)` of one value.
  @inlinable
  public func select<Subject: Record, One: FieldOperand, Two: FieldOperand, Three: FieldOperand>(
    from query: Query<Subject>, _ values: (Fields<Subject>) -> (One, Two, Three)
  ) throws -> [(One.Value, Two.Value, Three.Value)]
  where
    One.Subject == Subject, One.Value: FieldValueConvertible,
    Two.Subject == Subject, Two.Value: FieldValueConvertible,
    Three.Subject == Subject, Three.Value: FieldValueConvertible
  {
    let operands = values(Fields())
    let (one, two) = (operands.0.computed.tree, operands.1.computed.tree)
    let three = operands.2.computed.tree
    let computed = try recordReader().values([one, two, three], from: query)
    var rows: [(One.Value, Two.Value, Three.Value)] = []
    while try computed.next() {
      rows.append((try computed.value(0), try computed.value(1), try computed.value(2)))
    }
    return rows
  }
}

// MARK: Of all records

extension RecordReading where Self: ~Copyable {
  /// Returns the sum of a value that a closure computes of each record's fields. Null is left out; the sum of nothing is 0.
  ///
  /// ```swift
  /// let revenue = try store.sum(of: Line.where { $0.year == 2026 }) {
  ///   $0.unitPrice * $0.quantity * (1 - $0.discount)
  /// }
  /// ```
  ///
  /// - Complexity: Linear in the records; only the fields of the expression are read.
  /// - Throws: As `count(_:)`; `StoreError.invalidQuery` if a computation of numbers has no result, the sum of integers is
  ///   beyond an `Int`, or that of decimals has more than 38 digits.
  public func sum<Subject: Record, Operand: FieldOperand>(
    of query: Query<Subject>, _ value: (Fields<Subject>) -> Operand
  ) throws -> Operand.Value.Total where Operand.Subject == Subject, Operand.Value: FieldNumber {
    try recordReader().aggregate(.sum, value(Fields()).computed.tree, of: query)
  }

  /// Returns the average of a value that a closure computes of each record's fields; nil if there is none that is not null.
  ///
  /// - Throws: as `sum(of:_:)`.
  public func average<Subject: Record, Operand: FieldOperand>(
    of query: Query<Subject>, _ value: (Fields<Subject>) -> Operand
  ) throws -> Operand.Value.Average? where Operand.Subject == Subject, Operand.Value: FieldNumber {
    try recordReader().aggregate(.average, value(Fields()).computed.tree, of: query)
  }

  /// Returns the lowest of the values that a closure computes of each record's fields and that are neither null nor NaN; nil if
  /// there is none.
  ///
  /// - Throws: as `sum(of:_:)`.
  public func min<Subject: Record, Operand: FieldOperand>(
    of query: Query<Subject>, _ value: (Fields<Subject>) -> Operand
  ) throws -> Operand.Value.Present?
  where Operand.Subject == Subject, Operand.Value: OrderedFieldValue {
    try recordReader().aggregate(.lowest, value(Fields()).computed.tree, of: query)
  }

  /// Returns the highest of the values that a closure computes of each record's fields and that are neither null nor NaN; nil if
  /// there is none.
  ///
  /// - Throws: as `sum(of:_:)`.
  public func max<Subject: Record, Operand: FieldOperand>(
    of query: Query<Subject>, _ value: (Fields<Subject>) -> Operand
  ) throws -> Operand.Value.Present?
  where Operand.Subject == Subject, Operand.Value: OrderedFieldValue {
    try recordReader().aggregate(.highest, value(Fields()).computed.tree, of: query)
  }
}

extension RecordReader {
  /// Begins to compute values of the records of a query.
  @usableFromInline
  func values<Subject: Record>(
    _ values: [PropertyExpression], from query: Query<Subject>
  ) throws(StoreError) -> ComputedValues<Subject> {
    let type = try entities.type(Subject.self)
    var expressions: [RowExpression] = []
    for value in values {
      expressions.append(
        try RowExpression(try value.fields(in: type, entities), of: type, in: self))
    }
    return ComputedValues(values, expressions, type, try find(query, of: type))
  }

  /// Returns an aggregate of all records of a query, as a type that has it.
  fileprivate func aggregate<Subject: Record, Result: FieldValueConvertible>(
    _ kind: AggregateKind, _ value: PropertyExpression, of query: Query<Subject>
  ) throws -> Result {
    let type = try entities.type(Subject.self)
    let aggregate = FieldAggregate(kind, try value.fields(in: type, entities))
    var grouping = try RecordGrouping(type, by: [], [aggregate], in: self)
    let found = try find(query, of: type, for: .recordsInAnyOrder)
    _ = try found.next(where: { row throws(StoreError) in
      _ = try grouping.add(found.key, row)
      return false
    })
    return try type.value(try grouping.results(0)[0], of: value)
  }
}

/// The values that are computed of the records of a query, one record after the other.
///
/// They become values of Swift types where the program has those types.
@usableFromInline
final class ComputedValues<Subject: Record> {
  private let properties: [PropertyExpression]
  private let expressions: [RowExpression]
  private let type: RecordType<Subject>
  private let found: FoundRecords
  // One owner on one thread uses it, so accesses cannot overlap.
  /// The values of the present record.
  @exclusivity(unchecked) private var values: [FieldValue] = []

  init(
    _ properties: [PropertyExpression], _ expressions: [RowExpression],
    _ type: RecordType<Subject>, _ found: FoundRecords
  ) {
    self.properties = properties
    self.expressions = expressions
    self.type = type
    self.found = found
  }

  /// Moves to the next record. False after the last.
  ///
  /// - Throws: `.invalidQuery` if a computation has no result; `.corrupt`, `.io`, `.sortTooLarge`.
  @usableFromInline
  func next() throws(StoreError) -> Bool {
    let (found, layout) = (found, type.layout)
    guard try found.next() else { return false }
    let record = try RowReader(
      key: found.key, row: try found.row(), layout: layout, blobs: found.blobs)
    unsafe values.removeAll(keepingCapacity: true)
    for expression in expressions {
      unsafe values.append(try expression.fieldValue(of: record, type))
    }
    return true
  }

  @usableFromInline
  func fieldValue(_ place: Int) -> FieldValue { unsafe values[place] }

  /// Returns one of the present record's values.
  ///
  /// - Throws: `.invalidQuery` if the type has no such value.
  @inlinable
  func value<Value: FieldValueConvertible>(_ place: Int) throws(StoreError) -> Value {
    if let value = Value(fieldValue: fieldValue(place)) { return value }
    return try converted(place)
  }

  @usableFromInline
  func converted<Value: FieldValueConvertible>(_ place: Int) throws(StoreError) -> Value {
    try type.converted(fieldValue(place), of: properties[place])
  }
}
