/// A relation in conditions: a reference in a closure, or an inverse.
///
/// ```swift
/// try store.fetch(Book.where { $0.author.name.hasPrefix("L") })
/// try store.fetch(Book.where { $0.tags.any { $0.id == "swift" } && $0.author.country.isOpen })
/// try store.fetch(Author.where { $0.books.count { $0.price > 10 } >= 3 })
/// ```
///
/// A field of the record that a single reference leads to is read as a part of an optional composite is: it is null if
/// there is no such record. Conditions across relations may be parts of others, and have such parts. An index, a
/// validation, or an observation of changes cannot have them.
///
/// - Complexity: The related records that meet the inner condition are found first, by whatever finds them, and then those
///   that lead to them; or the related records are looked up for each record. Counts of entries say which is less:
///   `explain(_:)` shows it. Idea: the sub-queries of Core Data, the associations of GRDB.
public protocol RelationOperand<Subject, Related>: Sendable {
  associatedtype Subject: Record
  /// The type of the records at the other end.
  associatedtype Related: Record

  var relation: RelationChain<Subject, Related> { get }
}

extension FieldReference: RelationOperand where Value: ReferenceProperty {
  public var relation: RelationChain<Subject, Value.Target> {
    RelationChain(property.relation(of: Subject.self, to: Value.Target.self))
  }
}

extension FieldReference where Value: ReferenceProperty {
  public typealias Related = Value.Target
}

extension Inverse: RelationOperand {
  public typealias Subject = Owner

  public var relation: RelationChain<Owner, Related> {
    RelationChain(.inverse(name, to: Related.self))
  }
}

extension Fields {
  /// The other end of a reference, which the type declares as a static property: `{ $0.books.any { $0.price > 10 } }`.
  public subscript<Related: Record>(
    dynamicMember inverse: KeyPath<Subject.Type, Inverse<Subject, Related>>
  ) -> RelationChain<Subject, Related> {
    Subject.self[keyPath: inverse].relation
  }

  /// The other end of a reference that the program has as a value.
  @inlinable
  public subscript<Related: Record>(
    inverse: Inverse<Subject, Related>
  ) -> Inverse<Subject, Related> { inverse }
}

// MARK: Leading over several relations

/// The other end of a reference, or a relation that leads over several others, one after the other: from artists over their
/// albums to the tracks of these.
///
/// ```swift
/// let long = Artist.where { $0.albums.tracks.count() > 100 }
/// let byTime = Artist.sorted(by: .descending { $0.albums.tracks.sum(\.seconds) })
/// let tagged = Author.where { $0.books.tags.any { $0.id == "swift" } }
/// ```
///
/// A record to which several ways lead is counted, and added to sums, once for each of them.
@dynamicMemberLookup
public struct RelationChain<Subject: Record, Related: Record>: RelationOperand {
  /// The relation as conditions name it.
  let relationProperty: PropertyReference

  public var relation: RelationChain<Subject, Related> { self }

  fileprivate init(_ property: PropertyReference) {
    relationProperty = property
  }

  fileprivate init(_ first: PropertyReference, _ next: PropertyReference) {
    relationProperty = first.leading(over: next, to: Related.self)
  }
}

extension FieldReference where Value: ReferenceProperty {
  /// The relation that leads on over an inverse of the record that the reference leads to: `$0.order.lines`.
  public subscript<Other: Record>(
    dynamicMember inverse: KeyPath<Value.Target.Type, Inverse<Value.Target, Other>>
  ) -> RelationChain<Subject, Other> {
    self[Value.Target.self[keyPath: inverse]]
  }
}

extension RelationChain {
  /// The relation that leads on over an inverse of the related records.
  public subscript<Other: Record>(
    dynamicMember inverse: KeyPath<Related.Type, Inverse<Related, Other>>
  ) -> RelationChain<Subject, Other> {
    self[Related.self[keyPath: inverse]]
  }

  /// The relation that leads on over a reference of the related records, or a list of them.
  public subscript<Next: ReferenceProperty>(
    dynamicMember reference: KeyPath<Related, Next>
  ) -> RelationChain<Subject, Next.Target> {
    self[reference]
  }
}

extension RelationOperand {
  /// The relation that leads on over an inverse of the related records that the program has as a value.
  public subscript<Other: Record>(
    inverse: Inverse<Related, Other>
  ) -> RelationChain<Subject, Other> {
    RelationChain(relation.relationProperty, inverse.relation.relationProperty)
  }

  /// The relation that leads on over a reference of the related records, or a list of them, by its key path: `$0.books[\.tags]`.
  public subscript<Next: ReferenceProperty>(
    reference: KeyPath<Related, Next>
  ) -> RelationChain<Subject, Next.Target> {
    let next = FieldReference<Related, Next>(PropertyReference(reference)).relation
    return RelationChain(relation.relationProperty, next.relationProperty)
  }
}

// MARK: Leading over references

extension FieldReference {
  /// A field of the record that a reference leads to; null if there is none.
  public subscript<Target: Record, Part>(
    dynamicMember path: KeyPath<Target, Part>
  ) -> FieldReference<Subject, Part?> where Value == Reference<Target> {
    FieldReference<Subject, Part?>(leading(to: path))
  }

  public subscript<Target: Record, Part>(
    dynamicMember path: KeyPath<Target, Part?>
  ) -> FieldReference<Subject, Part?> where Value == Reference<Target> {
    FieldReference<Subject, Part?>(leading(to: path))
  }

  /// A field of the record that an optional reference leads to; null if there is none.
  public subscript<Target: Record, Part>(
    dynamicMember path: KeyPath<Target, Part>
  ) -> FieldReference<Subject, Part?> where Value == Reference<Target>? {
    FieldReference<Subject, Part?>(leading(to: path))
  }

  public subscript<Target: Record, Part>(
    dynamicMember path: KeyPath<Target, Part?>
  ) -> FieldReference<Subject, Part?> where Value == Reference<Target>? {
    FieldReference<Subject, Part?>(leading(to: path))
  }

  private func leading<Target: Record, Part>(to path: KeyPath<Target, Part>) -> PropertyReference {
    property.leading(from: Subject.self, to: PropertyReference(path), of: Target.self)
  }
}

// MARK: Conditions

extension RelationOperand {
  /// Returns the condition that one of the related records meets a condition, `{ $0.books.any { $0.price > 10 } }`; that there
  /// is one, without it.
  public func any(
    _ condition: (Fields<Related>) -> Condition<Related> = { _ in .always }
  ) -> Condition<Subject> {
    Condition(.any(relation.relationProperty, condition(Fields()).tree))
  }

  /// Returns the condition that all related records meet a condition; it holds if there are none.
  public func all(_ condition: (Fields<Related>) -> Condition<Related>) -> Condition<Subject> {
    !any { !condition($0) }
  }

  /// Returns the condition that no related record meets a condition; that there is none, without it.
  public func none(
    _ condition: (Fields<Related>) -> Condition<Related> = { _ in .always }
  ) -> Condition<Subject> {
    !any(condition)
  }
}

// A property is no inverse. With these, the compiler's error about a closure with a misspelt field is about the field.
extension FieldReference {
  @available(*, unavailable)
  public func any<Related: Record>(
    _ condition: (Fields<Related>) -> Condition<Related>
  ) -> Condition<Subject> where Value == Inverse<Subject, Related> { .never }

  @available(*, unavailable)
  public func all<Related: Record>(
    _ condition: (Fields<Related>) -> Condition<Related>
  ) -> Condition<Subject> where Value == Inverse<Subject, Related> { .never }

  @available(*, unavailable)
  public func none<Related: Record>(
    _ condition: (Fields<Related>) -> Condition<Related>
  ) -> Condition<Subject> where Value == Inverse<Subject, Related> { .never }

  @available(*, unavailable)
  public func count<Related: Record>(
    where condition: (Fields<Related>) -> Condition<Related>
  ) -> ComputedField<Subject, Int> where Value == Inverse<Subject, Related> {
    ComputedField(.value(.null))
  }
}

// MARK: Values

extension RelationOperand {
  /// Returns the number of related records that meet a condition, `{ $0.books.count { $0.price > 10 } >= 3 }`; of all of them,
  /// without it.
  public func count(
    where condition: (Fields<Related>) -> Condition<Related> = { _ in .always }
  ) -> ComputedField<Subject, Int> {
    ComputedField(
      PropertyExpression(countOf: relation.relationProperty, where: condition(Fields()).tree))
  }

  /// Returns the sum of a field of the related records that meet a condition. Null is left out; of none it is zero.
  public func sum<Number: FieldNumber>(
    _ field: KeyPath<Related, Number>,
    where condition: (Fields<Related>) -> Condition<Related> = { _ in .always }
  ) -> ComputedField<Subject, Number.Total> {
    aggregate(.sum, field, condition)
  }

  /// Returns the lowest value of a field of the related records that meet a condition; null if there is none.
  public func minimum<Value: OrderedFieldValue>(
    _ field: KeyPath<Related, Value>,
    where condition: (Fields<Related>) -> Condition<Related> = { _ in .always }
  ) -> ComputedField<Subject, Value.Present?> {
    aggregate(.minimum, field, condition)
  }

  /// Returns the highest value of a field of the related records that meet a condition; null if there is none.
  public func maximum<Value: OrderedFieldValue>(
    _ field: KeyPath<Related, Value>,
    where condition: (Fields<Related>) -> Condition<Related> = { _ in .always }
  ) -> ComputedField<Subject, Value.Present?> {
    aggregate(.maximum, field, condition)
  }

  private func aggregate<Value, Result>(
    _ aggregate: RelatedAggregate, _ field: KeyPath<Related, Value>,
    _ condition: (Fields<Related>) -> Condition<Related>
  ) -> ComputedField<Subject, Result> {
    ComputedField(
      PropertyExpression(
        aggregate, of: .property(PropertyReference(field)), at: relation.relationProperty,
        where: condition(Fields()).tree))
  }
}
