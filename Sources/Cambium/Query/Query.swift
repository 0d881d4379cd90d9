/// A query of the records of a type: a condition, an order, and a limit. It is what every verb of a store takes.
///
/// ```swift
/// let adults = Person.where { $0.age >= 18 }.sorted(by: .ascending(\.name)).limit(20)
/// try store.fetch(adults)
/// try store.count(adults.where { $0.city == "Ulm" })
/// ```
///
/// A record meets a condition or does not: null equals null and nothing else, so `{ $0.city != "Ulm" }` and `{ !($0.city == "Ulm") }` find
/// the records without a city, too, where SQL would leave them out.
///
/// It is a value: creating one needs no store and never fails, and it can be encoded. It is checked against the
/// description of the record before a record is read. A query that is often needed is best declared as a `static`
/// property in an extension of `Query where Subject == Person`.
public struct Query<Subject: Record>: Hashable, Sendable {
  public var condition: Condition<Subject>
  /// The properties by which records are sorted. Records that agree in all of them, or all records if there are none, are
  /// sorted by primary key: so the order is always complete, and pages neither overlap nor omit anything.
  public var order: [Order]
  /// The highest number of records; nil for all.
  public var limit: Int?
  /// The number of records that are left out at the beginning.
  public var offset: Int
  /// The primary key of the record after which the query begins. The record must exist, unless records are sorted by
  /// primary key.
  public var after: [FieldValue]?

  /// Creates the query of all records.
  public init() {
    self.init(where: .always)
  }

  @usableFromInline
  init(
    where condition: Condition<Subject>, limit: Int? = nil, offset: Int = 0,
    after key: [FieldValue]? = nil
  ) {
    self.condition = condition
    order = []
    self.limit = limit
    self.offset = offset
    after = key
  }
}

// MARK: Composing

extension Query {
  /// Returns the query of those records that meet another condition, too. The order of the calls makes no difference: a
  /// limit applies after all conditions.
  @inlinable
  public func `where`(_ condition: Condition<Subject>) -> Query {
    var query = self
    query.condition = self.condition.tree.isAlways ? condition : self.condition && condition
    return query
  }

  /// Returns the query of those records that meet another condition, too, which a closure makes of the fields.
  @inlinable @_disfavoredOverload
  public func `where`(_ condition: (Fields<Subject>) -> Condition<Subject>) -> Query {
    self.where(condition(Fields()))
  }

  /// Returns the query with its records sorted by these properties, in place of an earlier order.
  @inlinable
  public func sorted(by order: Order...) -> Query {
    var query = self
    query.order = order
    return query
  }

  /// Returns the query with a limit on the number of records, in place of an earlier one. A negative limit is an error when the
  /// query is run.
  @inlinable
  public func limit(_ count: Int) -> Query {
    var query = self
    query.limit = count
    return query
  }

  /// Returns the query without so many records at the beginning. A negative number is an error when the query is run.
  @inlinable
  public func offset(_ count: Int) -> Query {
    var query = self
    query.offset = count
    return query
  }

  /// Returns the query of the records after one, by its primary key: the values of its parts. The record must exist, unless
  /// records are sorted by primary key.
  @inlinable
  public func after(_ key: FieldValue...) -> Query {
    var query = self
    query.after = key
    return query
  }
}

extension Record {
  /// Returns the query of the records that meet a condition.
  ///
  /// ```swift
  /// let cheap = Item.where { $0.price < 20 }.sorted(by: .ascending(\.name)).limit(20)
  /// ```
  @inlinable
  public static func `where`(_ condition: Condition<Self>) -> Query<Self> {
    Query(where: condition)
  }

  /// Returns the query of the records that meet a condition that a closure makes of the fields: `{ $0.price < 20 }`.
  @inlinable @_disfavoredOverload
  public static func `where`(_ condition: (Fields<Self>) -> Condition<Self>) -> Query<Self> {
    Query(where: condition(Fields()))
  }

  /// Returns the query of all records, sorted by these properties.
  @inlinable
  public static func sorted(by order: Query<Self>.Order...) -> Query<Self> {
    var query = Query<Self>()
    query.order = order
    return query
  }
}

extension Query {
  /// The query of the fields that the properties are stored in. Only records of the kind meet it if the type is one.
  ///
  /// - Throws: `.invalidQuery` where a property is not stored, or cannot be asked so.
  func resolved(
    in type: RecordType<Subject>, _ entities: Entities
  ) throws(StoreError) -> FieldQuery {
    var query = try resolved(inAnyKindOf: type, entities)
    query.condition = type.restricted(query.condition)
    return query
  }

  /// The same without the condition that records are of the type's kind.
  func resolved(
    inAnyKindOf type: RecordType<Subject>, _ entities: Entities
  ) throws(StoreError) -> FieldQuery {
    var query = FieldQuery(limit: limit, offset: offset)
    try query.checkWindow(of: type.record)
    if !condition.tree.isAlways { query.condition = try condition.fields(in: type, entities) }
    for order in order { query.order.append(try order.resolved(in: type, entities)) }
    if let after { query.after = .key(after) }
    return query
  }
}

// MARK: - Order

extension Query {
  /// A property, or a value computed of properties, by which records are sorted: nil first, false before true, strings by
  /// their UTF-8 bytes, NaN after all numbers.
  public struct Order: Hashable, Sendable {
    @usableFromInline let value: PropertyExpression
    let isDescending: Bool
    /// True if strings are sorted by Unicode's simple case folding of them.
    let isCaseInsensitive: Bool
    /// The collation by which strings are sorted.
    let collation: Collation?

    @usableFromInline
    init(
      _ property: PropertyReference, isDescending: Bool, isCaseInsensitive: Bool,
      collation: Collation?
    ) {
      self.init(
        .property(property), isDescending: isDescending, isCaseInsensitive: isCaseInsensitive,
        collation: collation)
    }

    @usableFromInline
    init(_ value: PropertyExpression, isDescending: Bool) {
      self.init(value, isDescending: isDescending, isCaseInsensitive: false, collation: nil)
    }

    init(
      _ value: PropertyExpression, isDescending: Bool, isCaseInsensitive: Bool,
      collation: Collation?
    ) {
      self.value = value
      self.isDescending = isDescending
      self.isCaseInsensitive = isCaseInsensitive
      self.collation = collation
    }

    /// Creates an order by properties of one by their names, such as `address.street`. A name without a property is an error
    /// when the query is run.
    public init(_ order: FieldOrder) {
      self.init(
        PropertyExpression(order.value, by: NamedProperties(of: Subject.self)),
        isDescending: order.isDescending, isCaseInsensitive: order.isCaseInsensitive,
        collation: order.collation)
    }

    /// Sorts from the lowest value of a property to the highest: `.ascending(\.name)`, `.ascending(\.name, collation: .german)`.
    ///
    /// - Parameters:
    ///   - caseInsensitive: True if strings are sorted by Unicode's simple case folding of them.
    ///   - collation: The collation by which strings are sorted, which decides about case as well; nil for the order of their
    ///     UTF-8 bytes.
    /// - Complexity: Records come from an index in that order, if there is one; else all records of the query are found and
    ///   sorted, and a collation computes a sort key for each.
    @inlinable
    public static func ascending<Value>(
      _ field: KeyPath<Subject, Value>, caseInsensitive: Bool = false, collation: Collation? = nil
    ) -> Order {
      Order(
        PropertyReference(field), isDescending: false,
        isCaseInsensitive: caseInsensitive && collation == nil, collation: collation)
    }

    /// Sorts from the highest value of a property to the lowest, as `ascending(_:caseInsensitive:collation:)`.
    @inlinable
    public static func descending<Value>(
      _ field: KeyPath<Subject, Value>, caseInsensitive: Bool = false, collation: Collation? = nil
    ) -> Order {
      Order(
        PropertyReference(field), isDescending: true,
        isCaseInsensitive: caseInsensitive && collation == nil, collation: collation)
    }

    /// Sorts from the lowest to the highest of the values that a closure computes of the fields:
    /// `.ascending { $0.price * $0.quantity }`, `.ascending { $0.author.name }`, `.ascending { $0.books.count() }`. Null comes
    /// first.
    ///
    /// - Complexity: All records of the query are found, and the value is computed for each. With a limit, only the keys of so
    ///   many are kept.
    @inlinable @_disfavoredOverload
    public static func ascending<Operand: FieldOperand>(
      _ value: (Fields<Subject>) -> Operand
    ) -> Order where Operand.Subject == Subject, Operand.Value: OrderedFieldValue {
      Order(value(Fields()).computed.tree, isDescending: false)
    }

    /// Sorts from the highest to the lowest of the values that a closure computes of the fields. Null comes last.
    ///
    /// - Complexity: as `ascending(_:)` of a closure.
    @inlinable @_disfavoredOverload
    public static func descending<Operand: FieldOperand>(
      _ value: (Fields<Subject>) -> Operand
    ) -> Order where Operand.Subject == Subject, Operand.Value: OrderedFieldValue {
      Order(value(Fields()).computed.tree, isDescending: true)
    }
  }
}

extension Query.Order {
  /// - Throws: `.invalidQuery` where the property is not stored.
  func resolved(
    in type: RecordType<Subject>, _ entities: Entities
  ) throws(StoreError) -> FieldOrder {
    FieldOrder(
      try value.fields(in: type, entities), isDescending: isDescending,
      isCaseInsensitive: isCaseInsensitive, collation: collation)
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

extension Query: CustomStringConvertible {
  /// The query as text, with the properties' names: `age >= 18 sorted by name descending limit 20`.
  public var description: String {
    var text = condition.tree.isAlways ? "all" : "\(condition)"
    if !order.isEmpty { text += " sorted by " + order.map { "\($0)" }.joined(separator: ", ") }
    if let limit { text += " limit \(limit)" }
    if offset != 0 { text += " offset \(offset)" }
    if let after { text += " after \(after.map { "\($0)" }.joined(separator: ", "))" }
    return text
  }
}

extension Query: Codable {
  public init(from decoder: any Decoder) throws {
    let coded = try CodedQuery<Condition<Subject>, Order>(from: decoder)
    self.init(
      where: coded.condition ?? .always, limit: coded.limit, offset: coded.offset ?? 0,
      after: coded.after?.map(\.value))
    order = coded.order ?? []
  }

  public func encode(to encoder: any Encoder) throws {
    try CodedQuery(
      condition: condition.tree.isAlways ? nil : condition, order: order, limit: limit,
      offset: offset, after: after
    ).encode(to: encoder)
  }
}

extension Query.Order {
  private static func value(
    in container: KeyedDecodingContainer<CodingKeys>
  ) throws -> PropertyExpression {
    guard let text = try container.decodeIfPresent(String.self, forKey: .expression) else {
      let path = try container.decode(String.self, forKey: .property)
      return PropertyExpression(.field(path), by: NamedProperties(of: Subject.self))
    }
    do {
      return PropertyExpression(
        try FieldExpression(parsing: text), by: NamedProperties(of: Subject.self))
    } catch {
      throw DecodingError.dataCorruptedError(
        forKey: .expression, in: container, debugDescription: "\(error)")
    }
  }
}

/// A query as it is encoded. Empty parts are left out.
struct CodedQuery<ConditionForm: Codable, OrderForm: Codable>: Codable {
  var condition: ConditionForm?
  var order: [OrderForm]?
  let limit: Int?
  let offset: Int?
  let after: [CodedValue]?

  init(
    condition: ConditionForm?, order: [OrderForm], limit: Int?, offset: Int, after: [FieldValue]?
  ) {
    self.condition = condition
    self.order = order.isEmpty ? nil : order
    self.limit = limit
    self.offset = offset == 0 ? nil : offset
    self.after = after?.map { CodedValue($0) }
  }
}

extension Query.Order: CustomStringConvertible {
  /// The order as text, with the property's name: `name descending`.
  public var description: String {
    value.text(of: Subject.self) + (isDescending ? " descending" : "")
      + (isCaseInsensitive ? " [c]" : "")
      + (collation.map { " by \($0)" } ?? "")
  }
}

extension Query.Order: Codable {
  private enum CodingKeys: String, CodingKey {
    case property, expression, isDescending, isCaseInsensitive, collation
  }

  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    // A name that is no property's is noticed when the query is checked.
    self.init(
      try Self.value(in: container),
      isDescending: try container.decodeIfPresent(Bool.self, forKey: .isDescending) ?? false,
      isCaseInsensitive:
        try container.decodeIfPresent(Bool.self, forKey: .isCaseInsensitive) ?? false,
      collation: try container.decodeIfPresent(CodedCollation.self, forKey: .collation)?.collation)
  }

  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    if let property = value.property {
      guard let path = PropertyPaths.of(Subject.self).path(of: property) else {
        throw EncodingError.invalidValue(
          self, .init(codingPath: encoder.codingPath, debugDescription: "It has no name."))
      }
      try container.encode(path, forKey: .property)
    } else {
      guard !value.isTooDeep else {
        throw EncodingError.invalidValue(
          self, .init(codingPath: encoder.codingPath, debugDescription: "It is nested too deep."))
      }
      try container.encode(value.text(of: Subject.self), forKey: .expression)
    }
    if isDescending { try container.encode(true, forKey: .isDescending) }
    if isCaseInsensitive { try container.encode(true, forKey: .isCaseInsensitive) }
    try container.encodeIfPresent(collation.map { CodedCollation($0) }, forKey: .collation)
  }
}

/// A collation as it is encoded, without its function.
struct CodedCollation: Codable {
  let name: String
  let version: String

  init(_ collation: Collation) { (name, version) = (collation.name, collation.version) }

  var collation: Collation { Collation(named: name, version: version) }
}

/// A value as conditions are written with it.
struct CodedValue: Codable {
  let value: FieldValue

  init(_ value: FieldValue) {
    self.value = value
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    let text = try container.decode(String.self)
    guard let value = try? FieldValue(parsing: text) else {
      throw DecodingError.dataCorruptedError(
        in: container, debugDescription: "\(text) is no value.")
    }
    self.value = value
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(value.literal)
  }
}

/// A question about the records of one type, by the stored names of its fields: typed queries become one.
///
/// Records come by `order`, and by primary key where that says nothing: the order is always complete, so
/// pages neither overlap nor leave anything out.
struct FieldQuery: Hashable, Sendable {
  /// Nil for all records.
  var condition: FieldCondition?
  var order: [FieldOrder] = []
  /// The highest number of records.
  var limit: Int?
  /// The number of records that are left out at the beginning; after `after`, if there is one.
  var offset = 0
  /// The record after which the first comes.
  var after: Place?

  init(
    condition: FieldCondition? = nil, order: [FieldOrder] = [], limit: Int? = nil, offset: Int = 0,
    after: Place? = nil
  ) {
    self.condition = condition
    self.order = order
    self.limit = limit
    self.offset = offset
    self.after = after
  }

  /// Creates the query that is a part of a condition.
  init(_ query: FieldSubquery) {
    self.init(
      condition: query.condition == .and([]) ? nil : query.condition,
      order: query.order.map { FieldOrder($0) }, limit: query.limit, offset: query.offset,
      after: query.after.map { .key($0) })
  }

  /// - Throws: `.invalidQuery` for a negative limit or offset.
  func checkWindow(of record: RecordSchema) throws(StoreError) {
    for (name, value) in [("limit", limit ?? 0), ("offset", offset)] where value < 0 {
      throw .invalidQuery(
        record: record.name, field: nil, reason: "its \(name) is negative: \(value)")
    }
  }

  /// The number of records that must be found: those that are left out, and those that are returned. Nil for all.
  var foundCount: Int? {
    guard let limit else { return nil }
    let (count, isTooMuch) = limit.addingReportingOverflow(offset)
    return isTooMuch ? nil : count
  }

  /// The query of which only the number of records is asked: as many, without the parts that only decide which they
  /// are.
  var uncounted: FieldQuery {
    // Which come after another, the order says.
    FieldQuery(
      condition: condition, order: after.map { _ in order } ?? [], after: after)
  }

  /// A record's place in the order.
  enum Place: Hashable, Sendable {
    /// The place of the record with this primary key, which must exist unless records are sorted by primary key.
    case key([FieldValue])
    /// The place of this record, whether or not it exists.
    case record(key: [UInt8], row: [UInt8])
  }
}

/// A value by which records are sorted: a field, by its stored name, or an expression of fields. Null is first, strings are
/// sorted by their UTF-8 bytes, NaN is last.
public struct FieldOrder: Hashable, Sendable {
  /// The field or expression.
  package let value: FieldExpression
  /// True if the whole order is reversed.
  package let isDescending: Bool
  /// True if strings are sorted by Unicode's simple lowercase mapping of them.
  package let isCaseInsensitive: Bool
  /// The collation by which strings are sorted.
  package let collation: Collation?

  public init(
    field: String, isDescending: Bool = false, isCaseInsensitive: Bool = false,
    collation: Collation? = nil
  ) {
    self.init(
      .field(field), isDescending: isDescending, isCaseInsensitive: isCaseInsensitive,
      collation: collation)
  }

  /// Creates the order of an expression, such as `try FieldExpression(parsing: "books.count()")`.
  package init(_ expression: FieldExpression, isDescending: Bool = false) {
    self.init(
      expression, isDescending: isDescending, isCaseInsensitive: false, collation: nil)
  }

  init(
    _ value: FieldExpression, isDescending: Bool, isCaseInsensitive: Bool, collation: Collation?
  ) {
    self.value = value
    self.isDescending = isDescending
    self.isCaseInsensitive = isCaseInsensitive
    self.collation = collation
  }

  /// Creates a part of an order from one that was parsed, such as `try FieldSubquery.Order(parsing: "price descending")`.
  package init(_ order: FieldSubquery.Order) {
    self.init(
      order.value, isDescending: order.isDescending, isCaseInsensitive: order.isCaseInsensitive,
      collation: order.collation)
  }

  /// The name of the field; nil for an expression.
  var field: String? {
    if case .field(let name) = value { name } else { nil }
  }
}
