// Queries under names, kept in the store as data: for those that users make, or that several programs share.
// One that the program knows is better a `static` in an extension of `Query`.

extension RecordReading where Self: ~Copyable {
  /// Returns the query that is kept as `name`; nil if there is none.
  ///
  /// - Throws: `StoreError.invalidQuery` if it names a field that no longer exists; `.corrupt`, `.io`, `.closed`;
  ///   errors of decoding if it is a query of another type.
  public func query<Subject: Record>(
    _ type: Subject.Type, named name: String
  ) throws -> Query<Subject>? {
    let entities = try recordReader().entities
    switch try metadata(KeptQuery<Subject>.self, for: try entities.name(ofQuery: name, type)) {
    case nil: return nil
    case .ofProperties(let query): return query
    case .ofFields(let fields): return try fields.query(in: try entities.type(type), entities)
    }
  }

  /// Returns the names of the queries that are kept of a type.
  ///
  /// - Throws: `StoreError.unknownRecord`, `.corrupt`, `.io`, `.closed`.
  package func queryNames<Subject: Record>(_ type: Subject.Type) throws -> [String] {
    let start = try recordReader().entities.name(ofQuery: "", type)
    // By bytes: a name may begin with a mark that joins the letter before it.
    return try allMetadataNames().filter { $0.utf8.starts(with: start.utf8) }
      .map { String(decoding: $0.utf8.dropFirst(start.utf8.count), as: UTF8.self) }
  }
}

extension WriteTransaction {
  /// Keeps a query as `name`, in place of an earlier one; nil removes it. The query is kept by the stored names of fields:
  /// it is not affected when properties are renamed, and follows when a migration renames fields.
  ///
  /// - Throws: `StoreError.invalidQuery` if a property is not stored; as `setMetadata(_:for:)`.
  public mutating func setQuery<Subject: Record>(
    _ query: Query<Subject>?, named name: String
  ) throws {
    let type = try entities.type(Subject.self)
    let kept = try query.map { query throws(StoreError) in
      KeptQuery<Subject>.ofFields(try KeptFieldQuery(query, in: type, entities))
    }
    try setMetadata(kept, for: try entities.name(ofQuery: name, Subject.self))
  }
}

// Without Swift types: in the hooks of a migration, say.

extension WriteTransaction {
  /// Keeps a query of the type stored as `record` as `name`, in place of an earlier one. A program reads it as the query of
  /// the Swift type that the record has then.
  ///
  /// ```swift
  /// try transaction.setQuery(record: "Item", where: .comparison(field: "stock", .equal, 0), named: "sold out")
  /// ```
  ///
  /// - Parameters:
  ///   - condition: On fields by their stored names; nil for all records.
  ///   - order: The fields by which the records are sorted.
  ///   - limit: The greatest number of records; nil for all.
  /// - Throws: `StoreError.unknownRecord`; `.invalidQuery` if the query does not fit the record; as `setMetadata(_:for:)`.
  public mutating func setQuery(
    record: String, where condition: FieldCondition? = nil, sortedBy order: [FieldOrder] = [],
    limit: Int? = nil, named name: String
  ) throws {
    _ = try explain(record: record, where: condition, sortedBy: order, limit: limit)
    let query = KeptFieldQuery(
      condition: KeptCondition(fields: condition?.description), order: order.map { KeptOrder($0) },
      limit: limit, offset: 0, after: nil)
    try setMetadata(query, for: try entities.name(ofQuery: name, record: record))
  }

  /// Removes the query that is kept as `name` of the type stored as `record`, if there is one.
  ///
  /// - Throws: `StoreError.unknownRecord`; as `setMetadata(_:for:)`.
  public mutating func removeQuery(record: String, named name: String) throws {
    let none: KeptFieldQuery? = nil
    try setMetadata(none, for: try entities.name(ofQuery: name, record: record))
  }
}

extension Entities {
  /// Under which name metadata has a query of the type with a stored name.
  fileprivate func name(ofQuery name: String, record: String) throws(StoreError) -> String {
    Self.queryPrefix + "\(try entity(named: record).record.number).\(name)"
  }

  /// The prefix of queries among the names of metadata.
  static var queryPrefix: String { "cambium.query." }

  /// Under which name metadata has a query: one of its own for each record.
  func name<Subject: Record>(
    ofQuery name: String, _ type: Subject.Type
  ) throws(StoreError) -> String {
    Self.queryPrefix + "\(try self.type(type).record.number).\(name)"
  }
}

// MARK: As they are kept

/// A query as a store keeps it.
enum KeptQuery<Subject: Record>: Codable {
  case ofFields(KeptFieldQuery)
  /// With the names of properties, as versions before this one kept it.
  case ofProperties(Query<Subject>)

  init(from decoder: any Decoder) throws {
    if let query = try? KeptFieldQuery(from: decoder), query.condition != nil {
      self = .ofFields(query)
    } else {
      self = .ofProperties(try Query(from: decoder))
    }
  }

  func encode(to encoder: any Encoder) throws {
    switch self {
    case .ofFields(let query): try query.encode(to: encoder)
    case .ofProperties(let query): try query.encode(to: encoder)
    }
  }
}

/// A query by the stored names of fields, which stay when properties are renamed.
typealias KeptFieldQuery = CodedQuery<KeptCondition, KeptOrder>

/// An object where queries of properties have a text, so that who knows only those refuses it.
struct KeptCondition: Codable {
  /// Nil for all records.
  var fields: String?
}

struct KeptOrder: Codable {
  /// The name of a field, or the text of an expression.
  let field: String?
  let expression: String?
  let isDescending: Bool?
  let isCaseInsensitive: Bool?
  let collation: CodedCollation?
}

extension KeptOrder {
  init(_ order: FieldOrder) {
    self.init(
      field: order.field, expression: order.field == nil ? order.value.description : nil,
      isDescending: order.isDescending ? true : nil,
      isCaseInsensitive: order.isCaseInsensitive ? true : nil,
      collation: order.collation.map { CodedCollation($0) })
  }

  /// - Throws: Errors of parsing the expression.
  func value() throws(ConditionSyntaxError) -> FieldExpression {
    if let expression { return try FieldExpression(parsing: expression) }
    return .field(field ?? "")
  }
}

extension KeptFieldQuery {
  /// - Throws: `.invalidQuery` if a property is not stored.
  init<Subject: Record>(
    _ query: Query<Subject>, in type: RecordType<Subject>, _ entities: Entities
  ) throws(StoreError) {
    let resolved = try query.resolved(inAnyKindOf: type, entities)
    self.init(
      condition: KeptCondition(fields: resolved.condition?.description),
      order: resolved.order.map { KeptOrder($0) },
      limit: query.limit, offset: query.offset, after: query.after)
  }

  /// - Throws: `StoreError.invalidQuery` if a field no longer exists; errors of parsing the condition.
  func query<Subject: Record>(
    in type: RecordType<Subject>, _ entities: Entities
  ) throws -> Query<Subject> {
    let names = StoredProperties(entity: type, entities: entities)
    var query = Query<Subject>(
      where: .always, limit: limit, offset: offset ?? 0, after: after?.map(\.value))
    if let fields = condition?.fields {
      query.condition = Condition(
        try PropertyCondition(try FieldCondition(parsing: fields), by: names))
    }
    query.order = try (order ?? []).map { order in
      Query<Subject>.Order(
        try PropertyExpression(try order.value(), by: names),
        isDescending: order.isDescending ?? false,
        isCaseInsensitive: order.isCaseInsensitive ?? false,
        collation: order.collation?.collation)
    }
    return query
  }

  /// Returns the query by other names of fields.
  ///
  /// - Parameter names: All change at once, so two fields can exchange theirs.
  /// - Throws: Errors of parsing the condition.
  func renamed<Naming: FieldNaming>(
    by names: Naming
  ) throws -> KeptFieldQuery where Naming.Field == String, Naming.Name == String {
    var renamed = self
    renamed.condition?.fields = try condition?.fields.map { text in
      try FieldCondition(parsing: text).named(by: names).description
    }
    renamed.order = try order?.map { order in
      KeptOrder(
        FieldOrder(
          try order.value().named(by: names), isDescending: order.isDescending ?? false,
          isCaseInsensitive: order.isCaseInsensitive ?? false,
          collation: order.collation?.collation))
    }
    return renamed
  }
}
