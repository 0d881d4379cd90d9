/// The names that fields and inverses have in one version and no longer in another: for the queries that a store keeps by
/// them.
struct FieldRenames {
  private let old: Schema
  /// The new names by the old ones, by the numbers of records. A field keeps its number, and so does an inverse.
  private let names: [UInt32: [String: String]]

  init(from old: Schema, to new: Schema) {
    self.old = old
    var names: [UInt32: [String: String]] = [:]
    for record in old.records {
      guard let newRecord = new.record(number: record.number) else { continue }
      let newNames = Dictionary(
        uniqueKeysWithValues: newRecord.fields.map { ($0.number, $0.name) }
          + newRecord.inverses.map { ($0.number, $0.name) })
      let oldNames =
        record.fields.map { ($0.number, $0.name) } + record.inverses.map { ($0.number, $0.name) }
      for (number, name) in oldNames {
        guard let newName = newNames[number], newName != name else { continue }
        names[record.number, default: [:]][name] = newName
      }
    }
    self.names = names
  }

  /// The new names of a record's fields, and of those that its relations lead to.
  struct Names: FieldNaming {
    fileprivate let renames: FieldRenames
    fileprivate let record: RecordSchema

    func name(of field: String) -> String {
      if record.field(named: field) == nil, let (name, rest) = record.divided(field) {
        let relation = relation(name)
        return "\(relation.name).\(relation.fields.name(of: rest))"
      }
      return renames.names[record.number]?[field] ?? field
    }

    func kind(_ name: String) -> String {
      guard let composite = record.kind(named: name)?.name else { return name }
      return renames.names[record.number]?[composite] ?? name
    }

    func relation(_ name: String) -> (name: String, fields: Names) {
      if let related = record.related(by: name), let other = renames.old.record(named: related) {
        return (
          renames.names[record.number]?[name] ?? name, Names(renames: renames, record: other)
        )
      }
      guard let (first, rest) = record.divided(name) else { return (name, self) }
      let outer = relation(first)
      let inner = outer.fields.relation(rest)
      return ("\(outer.name).\(inner.name)", inner.fields)
    }
  }

  /// Renames the fields in the queries that are kept of each record. A query that cannot be read stays as it is: whoever
  /// asks for it is told.
  ///
  /// - Parameters:
  ///   - metadata: The new version's tree of metadata.
  ///   - old: The old version's. A query that it has differently is a hook's, which knows the names.
  /// - Throws: As reading and writing a tree.
  func apply(
    to trees: TransactionTrees, in metadata: TreeSlot, since old: TreeSlot
  ) throws(StoreError) {
    if names.isEmpty { return }
    var before: [UInt8] = []
    for (key, bytes) in try queries(in: trees, metadata) {
      guard let record = self.old.record(number: key.record),
        try trees.copyValue(of: key.bytes.rawSpan, in: old, to: &before), before == bytes,
        let query = try? JSONCodec().decode(KeptFieldQuery.self, from: bytes),
        let renamed = try? JSONCodec().encode(
          query.renamed(by: Names(renames: self, record: record))), renamed != bytes
      else { continue }
      try trees.put(key.bytes.rawSpan, renamed.rawSpan, in: metadata)
    }
  }

  private func queries(
    in trees: TransactionTrees, _ metadata: TreeSlot
  ) throws(StoreError) -> [(key: QueryKey, value: [UInt8])] {
    var queries: [(QueryKey, [UInt8])] = []
    let cursor = try trees.cursor(in: metadata)
    while try cursor.advance() {
      guard let key = QueryKey(cursor.key.array()) else { continue }
      queries.append((key, try cursor.value().array()))
    }
    return queries
  }
}

/// The name under which metadata has a query.
private struct QueryKey {
  let bytes: [UInt8]
  /// The number of the query's record.
  let record: UInt32

  /// Fails if it is the name of something else.
  init?(_ bytes: [UInt8]) {
    let prefix = Entities.queryPrefix.utf8
    guard bytes.starts(with: prefix) else { return nil }
    let number = bytes.dropFirst(prefix.count).prefix { $0 != UInt8(ascii: ".") }
    guard let record = UInt32(String(decoding: number, as: UTF8.self)) else { return nil }
    self.bytes = bytes
    self.record = record
  }
}
