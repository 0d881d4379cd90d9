/// One to four values of each record of a query: a row, which is a tuple of them.
///
/// Selections of records of different types are put together if the columns of their rows have the same types:
///
/// ```swift
/// let titles = Film.select(\.title, \.year).union(Series.select(\.name, \.start))
/// ```
///
/// Values are fields, and expressions of fields; an array, a composite or an external field is an error when the union is run.
/// `Row` is the tuple of the values, or the only value, and `Columns` the tuple of their columns, by which a union is sorted.
/// A selection is a value: creating one needs no store and never fails. To read the values of one query, call `select` of a
/// store.
public struct Selection<Row, Columns>: Sendable {
  let source: SelectedRows<Row>.Source
  let resolved: @Sendable (Entities) throws -> ResolvedSelection<Row>
  let columns: @Sendable () -> Columns

  /// - Parameter row: Makes a row of the values of one record.
  @usableFromInline
  init<Subject: Record>(
    _ values: [PropertyExpression], of query: Query<Subject>,
    columns: @escaping @autoclosure @Sendable () -> Columns,
    row: @escaping @Sendable ([FieldValue], RecordType<Subject>) throws -> Row
  ) {
    self.columns = columns
    source = { need, reader in try SelectedRows(values, of: query, need, in: reader, row) }
    resolved = { entities in
      let type = try entities.type(Subject.self)
      var fields: [FieldExpression] = []
      for value in values { fields.append(try value.fields(in: type, entities)) }
      return ResolvedSelection(
        record: type.record.name, query: try query.resolved(in: type, entities),
        after: query.after, values: fields
      ) { values in try row(values, type) }
    }
  }
}

/// A selection by the stored names of fields.
struct ResolvedSelection<Row> {
  let record: String
  let query: FieldQuery
  /// The primary key of the record after which the query begins.
  let after: [FieldValue]?
  let values: [FieldExpression]
  let row: ([FieldValue]) throws -> Row
}

/// A column of the rows of a selection, by which they are sorted.
public struct SelectedColumn<Value>: Sendable {
  /// Its place among the columns, from 0.
  let place: Int

  @usableFromInline
  init(place: Int) {
    self.place = place
  }
}

// MARK: Selecting

// Each value is a function of the fields, so a key path of a property is one, too.

extension Query {
  /// Returns the selection of a value of each of the query's records: `query.select(\.title)`, `query.select { $0.price * 2 }`.
  @inlinable
  public func select<One: FieldOperand>(
    _ one: (Fields<Subject>) -> One
  ) -> Selection<One.Value, SelectedColumn<One.Value>>
  where
    One.Subject == Subject, One.Value: FieldValueConvertible
  {
    let one = one(Fields()).computed.tree
    return Selection([one], of: self, columns: SelectedColumn(place: 0)) { values, type in
      try type.value(values[0], of: one)
    }
  }

  /// Returns the selection of two values of each of the query's records:
  ///
  /// ```swift
  /// let titles = Film.where { $0.year > 2000 }.select(\.title, \.year)
  /// let people = Customer.where { $0.isActive == true }.select(\.name) { _ in FieldConstant("customer") }
  /// ```
  ///
  /// Rows come in the order of the query, and its limit and offset choose them.
  @inlinable
  public func select<One: FieldOperand, Two: FieldOperand>(
    _ one: (Fields<Subject>) -> One, _ two: (Fields<Subject>) -> Two
  ) -> Selection<(One.Value, Two.Value), (SelectedColumn<One.Value>, SelectedColumn<Two.Value>)>
  where
    One.Subject == Subject, One.Value: FieldValueConvertible,
    Two.Subject == Subject, Two.Value: FieldValueConvertible
  {
    let one = one(Fields()).computed.tree
    let two = two(Fields()).computed.tree
    return Selection(
      [one, two], of: self, columns: (SelectedColumn(place: 0), SelectedColumn(place: 1))
    ) { values, type in
      (try type.value(values[0], of: one), try type.value(values[1], of: two))
    }
  }

  /// Returns the selection of three values of each of the query's records: `query.select(\.name, \.price, { $0.price * 2 })`.
  @inlinable
  public func select<One: FieldOperand, Two: FieldOperand, Three: FieldOperand>(
    _ one: (Fields<Subject>) -> One, _ two: (Fields<Subject>) -> Two,
    _ three: (Fields<Subject>) -> Three
  ) -> Selection<
    (One.Value, Two.Value, Three.Value),
    (SelectedColumn<One.Value>, SelectedColumn<Two.Value>, SelectedColumn<Three.Value>)
  >
  where
    One.Subject == Subject, One.Value: FieldValueConvertible,
    Two.Subject == Subject, Two.Value: FieldValueConvertible,
    Three.Subject == Subject, Three.Value: FieldValueConvertible
  {
    let one = one(Fields()).computed.tree
    let two = two(Fields()).computed.tree
    let three = three(Fields()).computed.tree
    return Selection(
      [one, two, three], of: self,
      columns: (SelectedColumn(place: 0), SelectedColumn(place: 1), SelectedColumn(place: 2))
    ) { values, type in
      (
        try type.value(values[0], of: one), try type.value(values[1], of: two),
        try type.value(values[2], of: three)
      )
    }
  }

  /// Returns the selection of four values of each of the query's records.
  @inlinable
  public func select<One: FieldOperand, Two: FieldOperand, Three: FieldOperand, Four: FieldOperand>(
    _ one: (Fields<Subject>) -> One, _ two: (Fields<Subject>) -> Two,
    _ three: (Fields<Subject>) -> Three, _ four: (Fields<Subject>) -> Four
  ) -> Selection<
    (One.Value, Two.Value, Three.Value, Four.Value),
    (
      SelectedColumn<One.Value>, SelectedColumn<Two.Value>, SelectedColumn<Three.Value>,
      SelectedColumn<Four.Value>
    )
  >
  where
    One.Subject == Subject, One.Value: FieldValueConvertible,
    Two.Subject == Subject, Two.Value: FieldValueConvertible,
    Three.Subject == Subject, Three.Value: FieldValueConvertible,
    Four.Subject == Subject, Four.Value: FieldValueConvertible
  {
    let one = one(Fields()).computed.tree
    let two = two(Fields()).computed.tree
    let three = three(Fields()).computed.tree
    let four = four(Fields()).computed.tree
    return Selection(
      [one, two, three, four], of: self,
      columns: (
        SelectedColumn(place: 0), SelectedColumn(place: 1), SelectedColumn(place: 2),
        SelectedColumn(place: 3)
      )
    ) { values, type in
      (
        try type.value(values[0], of: one), try type.value(values[1], of: two),
        try type.value(values[2], of: three), try type.value(values[3], of: four)
      )
    }
  }
}

extension Record {
  /// Returns the selection of a value of each record of the type: `Film.select(\.title)`.
  @inlinable
  public static func select<One: FieldOperand>(
    _ one: (Fields<Self>) -> One
  ) -> Selection<One.Value, SelectedColumn<One.Value>>
  where
    One.Subject == Self, One.Value: FieldValueConvertible
  {
    Query<Self>().select(one)
  }

  /// Returns the selection of two values of each record of the type: `Film.select(\.title, \.year)`.
  @inlinable
  public static func select<One: FieldOperand, Two: FieldOperand>(
    _ one: (Fields<Self>) -> One, _ two: (Fields<Self>) -> Two
  ) -> Selection<(One.Value, Two.Value), (SelectedColumn<One.Value>, SelectedColumn<Two.Value>)>
  where
    One.Subject == Self, One.Value: FieldValueConvertible,
    Two.Subject == Self, Two.Value: FieldValueConvertible
  {
    Query<Self>().select(one, two)
  }

  /// Returns the selection of three values of each record of the type.
  @inlinable
  public static func select<One: FieldOperand, Two: FieldOperand, Three: FieldOperand>(
    _ one: (Fields<Self>) -> One, _ two: (Fields<Self>) -> Two, _ three: (Fields<Self>) -> Three
  ) -> Selection<
    (One.Value, Two.Value, Three.Value),
    (SelectedColumn<One.Value>, SelectedColumn<Two.Value>, SelectedColumn<Three.Value>)
  >
  where
    One.Subject == Self, One.Value: FieldValueConvertible,
    Two.Subject == Self, Two.Value: FieldValueConvertible,
    Three.Subject == Self, Three.Value: FieldValueConvertible
  {
    Query<Self>().select(one, two, three)
  }

  /// Returns the selection of four values of each record of the type.
  @inlinable
  public static func select<
    One: FieldOperand, Two: FieldOperand, Three: FieldOperand, Four: FieldOperand
  >(
    _ one: (Fields<Self>) -> One, _ two: (Fields<Self>) -> Two, _ three: (Fields<Self>) -> Three,
    _ four: (Fields<Self>) -> Four
  ) -> Selection<
    (One.Value, Two.Value, Three.Value, Four.Value),
    (
      SelectedColumn<One.Value>, SelectedColumn<Two.Value>, SelectedColumn<Three.Value>,
      SelectedColumn<Four.Value>
    )
  >
  where
    One.Subject == Self, One.Value: FieldValueConvertible,
    Two.Subject == Self, Two.Value: FieldValueConvertible,
    Three.Subject == Self, Three.Value: FieldValueConvertible,
    Four.Subject == Self, Four.Value: FieldValueConvertible
  {
    Query<Self>().select(one, two, three, four)
  }
}

// MARK: - Columns that other queries have

/// A value that is the same for each record: a column that tells the queries of a union apart, or that the records of
/// one of them do not have.
///
/// ```swift
/// let people = Customer.select(\.name) { _ in FieldConstant("customer") }
///   .union(Employee.select(\.name) { _ in FieldConstant("employee") })
/// ```
public struct FieldConstant<Subject: Record, Value: FieldValueConvertible>: FieldOperand {
  public let computed: ComputedField<Subject, Value>

  /// Creates the operand of a value: `FieldConstant(0)`, `FieldConstant(Int?.none)`.
  public init(_ value: Value) {
    computed = ComputedField(constant: value)
  }
}

extension FieldOperand where Value: FieldValueConvertible {
  /// The same value as an optional one, so that the column has the type of one of another query, in which it can be nil.
  @inlinable
  public var optional: ComputedField<Subject, Value?> {
    ComputedField<Subject, Value?>(computed.tree)
  }
}
