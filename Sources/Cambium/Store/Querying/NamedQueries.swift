// Queries under names, kept in the store as data: for those that users make, or that several programs share.
// One that the program knows is better a `static` in an extension of `Query`.

extension RecordReading where Self: ~Copyable {
  /// Returns the query that is kept as `name`; nil if there is none.
  ///
  /// - Throws: `StoreError.invalidQuery` if it names a field that no longer exists; `.corrupt`, `.io`, `.closed`; what
  ///   decoding throws if it is a query of another type.
  public func query<Subject: Record>(
    _ type: Subject.Type, named name: String
  ) throws -> Query<Subject>? {
    let entities = try recordReader().entities
    switch try metadata(KeptQuery<Subject>.self, for: try entities.name(ofQuery: name, type)) {
    case nil: return nil
    case .ofProperties(let query): return query
    case .ofFields(let fields): return try fields.query(in: try entities.type(type))
    }
  }

  /// Returns the names of the queries that are kept of a type.
  ///
  /// - Throws: `StoreError.unknownRecord`, `.corrupt`, `.io`, `.closed`.
  public func queryNames<Subject: Record>(_ type: Subject.Type) throws -> [String] {
    let start = try recordReader().entities.name(ofQuery: "", type)
    // By bytes: a name may begin with what joins the letter before it.
    return try allMetadataNames().filter { $0.utf8.starts(with: start.utf8) }
      .map { String(decoding: $0.utf8.dropFirst(start.utf8.count), as: UTF8.self) }
  }
}

extension WriteTransaction {
  /// Keeps a query as `name`, in place of an earlier one; nil removes it. The query is kept by the stored names of fields,
  /// and is not affected when properties are renamed.
  ///
  /// - Throws: `StoreError.invalidQuery` if a property is not stored; as `setMetadata(_:for:)`.
  public mutating func setQuery<Subject: Record>(
    _ query: Query<Subject>?, named name: String
  ) throws {
    let type = try entities.type(Subject.self)
    let kept = try query.map { query throws(StoreError) in
      KeptQuery<Subject>.ofFields(try KeptFieldQuery(query, in: type))
    }
    try setMetadata(kept, for: try entities.name(ofQuery: name, Subject.self))
  }
}

extension Entities {
  /// The prefix of queries among the names of metadata.
  static var queryPrefix: String { "cambium.query." }

  /// Under which name metadata has a query: one of its own for each record.
  func name<Subject: Record>(
    ofQuery name: String, _ type: Subject.Type
  ) throws(StoreError) -> String {
    Self.queryPrefix + "\(try self.type(type).record.number).\(name)"
  }
}
