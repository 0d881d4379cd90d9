/// A question about the records of a type: which of them, in which order, and how many.
///
/// ```swift
/// let adults = Query<Person>(where: \.age >= 18, sortedBy: .ascending(\.name), limit: 20)
/// try store.fetch(adults)
/// ```
///
/// It is a value, made without a store and without failing, and can be kept as data. Whether it can be asked
/// of the record is checked before one is read. A query that is often needed is best a `static` one of its own
/// in an extension of `Query where Subject == Person`.
public struct Query<Subject: Record>: Hashable, Sendable {
  public var condition: Condition<Subject>
  /// By what records are sorted; those that are the same in all of it, or all if there is nothing, by primary
  /// key. So the order is always complete, and pages neither overlap nor leave anything out.
  public var order: [Order<Subject>]
  /// How many records there are at most; nil for all.
  public var limit: Int?
  /// How many of the first are left out.
  public var offset: Int
  /// The primary key of the record behind which the first one comes. The record has to be there, unless
  /// records come by primary key.
  public var after: [FieldValue]?

  public init(
    where condition: Condition<Subject> = .always, sortedBy order: Order<Subject>...,
    limit: Int? = nil, offset: Int = 0, after key: [FieldValue]? = nil
  ) {
    self.init(where: condition, sortedBy: order, limit: limit, offset: offset, after: key)
  }

  public init(
    where condition: Condition<Subject> = .always, sortedBy order: [Order<Subject>],
    limit: Int? = nil, offset: Int = 0, after key: [FieldValue]? = nil
  ) {
    self.condition = condition
    self.order = order
    self.limit = limit
    self.offset = offset
    after = key
  }

  /// The same with a condition that a closure makes of the record's fields.
  @inlinable
  public init(
    matching condition: (Fields<Subject>) -> Condition<Subject>,
    sortedBy order: Order<Subject>..., limit: Int? = nil, offset: Int = 0
  ) {
    self.init(
      where: Condition(matching: condition), sortedBy: order, limit: limit, offset: offset)
  }
}

extension Query {
  /// The query of the fields that the properties are stored in.
  ///
  /// - Throws: `.invalidQuery` where a property is not stored, or cannot be asked so.
  func resolved(in type: RecordType<Subject>) throws(StoreError) -> FieldQuery {
    var query = FieldQuery(limit: limit, offset: offset)
    if condition != .always { query.condition = try condition.fields(in: type) }
    for order in order { query.order.append(try order.resolved(in: type)) }
    if let after { query.after = .key(after) }
    return query
  }
}

// MARK: - Order

/// A property that records are sorted by: nil first, false before true, strings by their UTF-8 bytes, what is
/// not a number behind all numbers.
public struct Order<Subject: Record>: Hashable, Sendable {
  @usableFromInline let property: PropertyReference
  public let isDescending: Bool
  /// Whether strings are sorted by what Unicode's simple lowercase mapping makes of them.
  public let isCaseInsensitive: Bool

  @usableFromInline
  init(_ property: PropertyReference, isDescending: Bool, isCaseInsensitive: Bool) {
    self.property = property
    self.isDescending = isDescending
    self.isCaseInsensitive = isCaseInsensitive
  }

  /// From the lowest value to the highest.
  @inlinable
  public static func ascending<Value>(
    _ field: KeyPath<Subject, Value>, caseInsensitive: Bool = false
  ) -> Order {
    Order(
      PropertyReference(field), isDescending: false, isCaseInsensitive: caseInsensitive)
  }

  /// From the highest value to the lowest.
  @inlinable
  public static func descending<Value>(
    _ field: KeyPath<Subject, Value>, caseInsensitive: Bool = false
  ) -> Order {
    Order(PropertyReference(field), isDescending: true, isCaseInsensitive: caseInsensitive)
  }
}

extension Order {
  /// - Throws: `.invalidQuery` where the property is not stored.
  func resolved(in type: RecordType<Subject>) throws(StoreError) -> FieldOrder {
    FieldOrder(
      field: try type.field(of: property), isDescending: isDescending,
      isCaseInsensitive: isCaseInsensitive)
  }
}

extension RecordType {
  /// The stored name of a property.
  ///
  /// - Throws: `.invalidQuery` where the property is not stored.
  func field(of property: PropertyReference) throws(StoreError) -> String {
    guard let field = properties.field(of: property) else {
      throw .invalidQuery(
        record: trees.record.name, field: properties.path(of: property),
        reason: properties.reasonForNone(of: property))
    }
    return field
  }
}
