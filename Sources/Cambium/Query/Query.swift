/// A query of the records of a type: a condition, an order, and a limit.
///
/// ```swift
/// let adults = Query<Person>(where: \.age >= 18, sortedBy: .ascending(\.name), limit: 20)
/// try store.fetch(adults)
/// ```
///
/// It is a value: creating one needs no store and never fails, and it can be encoded. It is checked against the
/// description of the record before a record is read. A query that is often needed is best declared as a `static`
/// property in an extension of `Query where Subject == Person`.
public struct Query<Subject: Record>: Hashable, Sendable {
  public var condition: Condition<Subject>
  /// The properties by which records are sorted. Records that agree in all of them, or all records if there are none, are
  /// sorted by primary key: so the order is always complete, and pages neither overlap nor omit anything.
  public var order: [Order<Subject>]
  /// The highest number of records; nil for all.
  public var limit: Int?
  /// The number of records that are left out at the beginning.
  public var offset: Int
  /// The primary key of the record after which the query begins. The record must exist, unless records are sorted by
  /// primary key.
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

  /// Creates a query with a condition that a closure makes of the record's fields.
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

/// A property by which records are sorted: nil first, false before true, strings by their UTF-8 bytes, NaN after all
/// numbers.
public struct Order<Subject: Record>: Hashable, Sendable {
  @usableFromInline let property: PropertyReference
  public let isDescending: Bool
  /// True if strings are sorted by Unicode's simple lowercase mapping of them.
  public let isCaseInsensitive: Bool

  @usableFromInline
  init(_ property: PropertyReference, isDescending: Bool, isCaseInsensitive: Bool) {
    self.property = property
    self.isDescending = isDescending
    self.isCaseInsensitive = isCaseInsensitive
  }

  /// Sorts from the lowest value to the highest.
  @inlinable
  public static func ascending<Value>(
    _ field: KeyPath<Subject, Value>, caseInsensitive: Bool = false
  ) -> Order {
    Order(
      PropertyReference(field), isDescending: false, isCaseInsensitive: caseInsensitive)
  }

  /// Sorts from the highest value to the lowest.
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
        record: record.name, field: properties.path(of: property),
        reason: properties.reasonForNone(of: property))
    }
    return field
  }
}
