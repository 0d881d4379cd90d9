// Values of other queries in conditions: one of all their records, or that of each.

// MARK: Of all records

extension Query {
  /// Returns the number of the query's records, to be compared or computed with in another query:
  /// `{ $0.sold > Book.where { $0.year > 2000 }.count() }`.
  ///
  /// It is counted once, in the state that the other query reads, and is the same for each of that query's records. Values
  /// that depend on the record are those of relations: see ``RelationOperand``.
  public func count<Owner: Record>() -> ComputedField<Owner, Int> {
    ComputedField(PropertyExpression(.count, of: .value(.null), in: self))
  }

  /// Returns the sum of a value over the query's records, to be compared or computed with in another query. Null is left out;
  /// the sum of nothing is zero.
  ///
  /// - Complexity: The query is run once, before the one that it is a part of.
  public func sum<Owner: Record, Operand: FieldOperand>(
    _ value: (Fields<Subject>) -> Operand
  ) -> ComputedField<Owner, Operand.Value.Total>
  where Operand.Subject == Subject, Operand.Value: FieldNumber {
    ComputedField(PropertyExpression(.sum, of: value(Fields()).computed.tree, in: self))
  }

  /// Returns the average of a value over the query's records, to be compared or computed with in another query; null if there is
  /// none.
  ///
  /// ```swift
  /// let expensive = Product.where { $0.price > Product.average(\.price) }
  /// ```
  ///
  /// - Complexity: The query is run once, before the one that it is a part of; then an index of `price` answers the condition.
  public func average<Owner: Record, Operand: FieldOperand>(
    _ value: (Fields<Subject>) -> Operand
  ) -> ComputedField<Owner, Operand.Value.Average?>
  where Operand.Subject == Subject, Operand.Value: FieldNumber {
    ComputedField(PropertyExpression(.average, of: value(Fields()).computed.tree, in: self))
  }

  /// Returns the lowest value among the query's records, to be compared or computed with in another query; null if there is
  /// none.
  ///
  /// - Complexity: The query is run once, before the one that it is a part of.
  public func minimum<Owner: Record, Operand: FieldOperand>(
    _ value: (Fields<Subject>) -> Operand
  ) -> ComputedField<Owner, Operand.Value.Present?>
  where Operand.Subject == Subject, Operand.Value: OrderedFieldValue {
    ComputedField(PropertyExpression(.minimum, of: value(Fields()).computed.tree, in: self))
  }

  /// Returns the highest value among the query's records, to be compared or computed with in another query; null if there is
  /// none.
  ///
  /// - Complexity: The query is run once, before the one that it is a part of.
  public func maximum<Owner: Record, Operand: FieldOperand>(
    _ value: (Fields<Subject>) -> Operand
  ) -> ComputedField<Owner, Operand.Value.Present?>
  where Operand.Subject == Subject, Operand.Value: OrderedFieldValue {
    ComputedField(PropertyExpression(.maximum, of: value(Fields()).computed.tree, in: self))
  }
}

extension Record {
  /// Returns the average of a value over all records of the type, to be compared or computed with in a query:
  /// `{ $0.price > Product.average(\.price) }`; null if there is none.
  ///
  /// - Complexity: All records are read once, before the query is run.
  public static func average<Owner: Record, Operand: FieldOperand>(
    _ value: (Fields<Self>) -> Operand
  ) -> ComputedField<Owner, Operand.Value.Average?>
  where Operand.Subject == Self, Operand.Value: FieldNumber {
    Query<Self>().average(value)
  }

  /// Returns the sum of a value over all records of the type, to be compared or computed with in a query.
  ///
  /// - Complexity: All records are read once, before the query is run.
  public static func sum<Owner: Record, Operand: FieldOperand>(
    _ value: (Fields<Self>) -> Operand
  ) -> ComputedField<Owner, Operand.Value.Total>
  where Operand.Subject == Self, Operand.Value: FieldNumber {
    Query<Self>().sum(value)
  }

  /// Returns the lowest value among all records of the type, to be compared or computed with in a query; null if there is none.
  ///
  /// - Complexity: All records are read once, before the query is run.
  public static func minimum<Owner: Record, Operand: FieldOperand>(
    _ value: (Fields<Self>) -> Operand
  ) -> ComputedField<Owner, Operand.Value.Present?>
  where Operand.Subject == Self, Operand.Value: OrderedFieldValue {
    Query<Self>().minimum(value)
  }

  /// Returns the highest value among all records of the type, to be compared or computed with in a query; null if there is none:
  /// `{ $0.date == Invoice.maximum(\.date) }`.
  ///
  /// - Complexity: All records are read once, before the query is run.
  public static func maximum<Owner: Record, Operand: FieldOperand>(
    _ value: (Fields<Self>) -> Operand
  ) -> ComputedField<Owner, Operand.Value.Present?>
  where Operand.Subject == Self, Operand.Value: OrderedFieldValue {
    Query<Self>().maximum(value)
  }
}

// MARK: Of each record

extension FieldReference where Value: OrderedFieldValue {
  /// Returns the condition that the field has one of the values that a closure computes for the records of another query:
  /// `{ $0.city.isIn(\.city, from: Customer.where { $0.isActive == true }) }`.
  ///
  /// Null is among them if the value of one of the records is null.
  ///
  /// - Complexity: The query is run once, before the one that it is a part of, which then looks for the values as if they had
  ///   been given. They are kept in memory, four million at most.
  public func isIn<Other: Record, Operand: FieldOperand>(
    _ value: (Fields<Other>) -> Operand, from query: Query<Other>
  ) -> Condition<Subject>
  where
    Operand.Subject == Other, Operand.Value: OrderedFieldValue,
    Operand.Value.Present == Value.Present
  {
    Condition(.isIn(property, value(Fields()).computed.tree, of: query))
  }

  /// Returns the condition that the field has the identifier of one of the records of another query:
  /// `{ $0.id.isIn(Book.where { $0.year > 2000 }.sorted(by: .descending(\.sold)).limit(10)) }`.
  ///
  /// The identifier is the stored property `id`.
  ///
  /// - Complexity: as `isIn(_:from:)`; the rows of the other query are not read for it.
  public func isIn<Other: Record & Identifiable>(
    _ query: Query<Other>
  ) -> Condition<Subject> where Value.Present == Other.ID {
    Condition(.isIn(property, .identifier(of: Other.self), of: query))
  }

  /// Returns the condition that the reference leads to one of the records of another query:
  /// `{ $0.author.isIn(Author.where { $0.country == "USA" }) }`.
  ///
  /// - Complexity: as `isIn(_:from:)`.
  public func isIn<Other: Record & Identifiable>(
    _ query: Query<Other>
  ) -> Condition<Subject> where Value.Present == Reference<Other> {
    Condition(.isIn(property, .identifier(of: Other.self), of: query))
  }
}

extension PropertyExpression {
  /// The property `id`: the key path of the requirement of `Identifiable` leads to no stored property.
  fileprivate static func identifier(of type: any Any.Type) -> PropertyExpression {
    .property(NamedProperties(of: type).name(of: "id"))
  }
}
