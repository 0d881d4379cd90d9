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
  public func select<Subject: Record, One: FieldOperand>(
    from query: Query<Subject>, _ value: (Fields<Subject>) -> One
  ) throws -> [One.Value] where One.Subject == Subject, One.Value: FieldValueConvertible {
    let one = value(Fields()).computed.tree
    return try recordReader().select([one], from: query) { values, type in
      try type.value(values[0], of: one)
    }
  }

  /// Returns the two values that a closure computes of the fields of each record of a query:
  /// `try store.select(from: lines) { ($0.product.name, $0.unitPrice * $0.quantity) }`.
  ///
  /// - Throws: as `select(from:_:)` of one value.
  public func select<Subject: Record, One: FieldOperand, Two: FieldOperand>(
    from query: Query<Subject>, _ values: (Fields<Subject>) -> (One, Two)
  ) throws -> [(One.Value, Two.Value)]
  where
    One.Subject == Subject, One.Value: FieldValueConvertible,
    Two.Subject == Subject, Two.Value: FieldValueConvertible
  {
    let operands = values(Fields())
    let (one, two) = (operands.0.computed.tree, operands.1.computed.tree)
    return try recordReader().select([one, two], from: query) { values, type in
      (try type.value(values[0], of: one), try type.value(values[1], of: two))
    }
  }

  /// Returns the three values that a closure computes of the fields of each record of a query.
  ///
  /// - Throws: as `select(from:_:)` of one value.
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
    return try recordReader().select([one, two, three], from: query) { values, type in
      (
        try type.value(values[0], of: one), try type.value(values[1], of: two),
        try type.value(values[2], of: three)
      )
    }
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
  /// - Parameter row: Makes a result of the values of one record.
  fileprivate func select<Subject: Record, Row>(
    _ values: [PropertyExpression], from query: Query<Subject>,
    row: ([FieldValue], RecordType<Subject>) throws -> Row
  ) throws -> [Row] {
    let type = try entities.type(Subject.self)
    var expressions: [RowExpression] = []
    for value in values {
      expressions.append(
        try RowExpression(try value.fields(in: type, entities), of: type, in: self))
    }
    let found = try find(query, of: type)
    let layout = type.layout
    var rows: [Row] = []
    while try found.next() {
      let record = try RowReader(
        key: found.key, row: try found.row(), layout: layout, blobs: found.blobs)
      var values: [FieldValue] = []
      values.reserveCapacity(expressions.count)
      for expression in expressions { values.append(try expression.fieldValue(of: record, type)) }
      rows.append(try row(values, type))
    }
    return rows
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
