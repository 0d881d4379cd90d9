// Queries under names, kept in the store as data: for those that users make, or that several programs share.
// One that the program knows is better a `static` in an extension of `Query`.

extension RecordReading where Self: ~Copyable {
  /// The query that was kept as `name`; nil if there is none.
  ///
  /// - Throws: `StoreError.corrupt`, `.io`, `.closed`; what decoding throws where it is of another type.
  public func query<Subject: Record>(
    _ type: Subject.Type, named name: String
  ) throws -> Query<Subject>? {
    let types = try recordReader().types
    return try metadata(Query<Subject>.self, for: try types.name(ofQuery: name, type))
  }

  /// The names of the queries that were kept of a type.
  ///
  /// - Throws: `StoreError.unknownRecord`, `.corrupt`, `.io`, `.closed`.
  public func queryNames<Subject: Record>(_ type: Subject.Type) throws -> [String] {
    let start = try recordReader().types.name(ofQuery: "", type)
    return try metadataNames().filter { $0.utf8.starts(with: start.utf8) }
      .map { String($0.dropFirst(start.count)) }
  }
}

extension WriteTransaction {
  /// Keeps a query as `name`, instead of the one that was; nil takes it out.
  ///
  /// - Throws: as `setMetadata(_:for:)`.
  public mutating func setQuery<Subject: Record>(
    _ query: Query<Subject>?, named name: String
  ) throws {
    try setMetadata(query, for: try types.name(ofQuery: name, Subject.self))
  }
}

extension RecordTypes {
  /// Under which name metadata has a query: one of its own for each record.
  fileprivate func name<Subject: Record>(
    ofQuery name: String, _ type: Subject.Type
  ) throws(StoreError) -> String {
    "cambium.query.\(try self.type(type).trees.record.number).\(name)"
  }
}
