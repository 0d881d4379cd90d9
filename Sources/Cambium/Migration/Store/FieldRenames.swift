/// The names that fields and inverses have in one version and no longer in another: for the queries that a store keeps by
/// them.
struct FieldRenames {
  private let old: Schema
  /// The new names by the old ones, by the numbers of records. A field keeps its number, and so does an inverse.
  private let names: [UInt32: [String: String]]
  /// The new names of records, by their numbers.
  private let recordNames: [UInt32: String]
  /// The numbers of the records among which the records of others are from now on.
  private var targets: [UInt32: UInt32] = [:]
  /// The kinds whose records are elsewhere from now on.
  private var leaving: [LeavingKind] = []

  /// A kind of a record that is among others, or a record, from now on.
  private struct LeavingKind {
    let record: UInt32
    /// The text that the names of its fields begin with.
    let prefix: String
    let target: UInt32
    let names: [String: String]
  }

  /// - Parameter moves: The records that are kept elsewhere in the new version.
  init(from old: Schema, to new: Schema, _ moves: [KindMove] = []) {
    self.old = old
    recordNames = Dictionary(
      uniqueKeysWithValues: new.records.map { ($0.number, $0.name) })
    var names: [UInt32: [String: String]] = [:]
    for move in moves {
      guard let before = old.record(number: move.source),
        let after = new.record(number: move.target)
      else { continue }
      var changed: [String: String] = [:]
      for (field, source) in move.fields {
        guard let name = after.field(field)?.name, let known = before.field(source)?.name,
          name != known
        else { continue }
        changed[known] = name
      }
      if let kind = move.kind.flatMap({ before.field($0)?.name }) {
        leaving.append(
          LeavingKind(
            record: move.source, prefix: kind + ".", target: move.target, names: changed))
      } else {
        names[move.source] = changed
        targets[move.source] = move.target
      }
    }
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
    /// The names of fields of a kind that is elsewhere.
    fileprivate var moved: [String: String]? = nil

    private var names: [String: String] { moved ?? renames.names[record.number] ?? [:] }

    func name(of field: String) -> String {
      if record.field(named: field) == nil, let (name, rest) = record.divided(field) {
        let relation = relation(name)
        return "\(relation.name).\(relation.fields.name(of: rest))"
      }
      return names[field] ?? field
    }

    func kind(_ name: String) -> String {
      guard let composite = record.kind(named: name)?.name else { return name }
      return names[composite] ?? name
    }

    func relation(_ name: String) -> (name: String, fields: Names) {
      if let related = record.related(by: name), let other = renames.old.record(named: related) {
        return (
          names[name] ?? name, Names(renames: renames, record: other)
        )
      }
      guard let (first, rest) = record.divided(name) else { return (name, self) }
      let outer = relation(first)
      let inner = outer.fields.relation(rest)
      return ("\(outer.name).\(inner.name)", inner.fields)
    }

    func record(_ name: String) -> (name: String, kind: String?, fields: Names) {
      guard let other = renames.old.record(named: name) else { return (name, nil, self) }
      return (
        renames.recordNames[other.number] ?? name, nil, Names(renames: renames, record: other)
      )
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
    if names.isEmpty, targets.isEmpty, leaving.isEmpty, !renamesRecords { return }
    var before: [UInt8] = []
    for (key, bytes) in try queries(in: trees, metadata) {
      guard let record = self.old.record(number: key.record),
        try trees.copyValue(of: key.bytes.rawSpan, in: old, to: &before), before == bytes,
        let query = try? JSONCodec().decode(KeptFieldQuery.self, from: bytes)
      else { continue }
      let mentioned = query.mentionedFields
      let kind = leaving.first { kind in
        kind.record == key.record && mentioned.contains { $0.utf8.starts(with: kind.prefix.utf8) }
      }
      let names = Names(renames: self, record: record, moved: kind?.names)
      guard let renamed = try? JSONCodec().encode(query.renamed(by: names)) else { continue }
      let place = (kind?.target ?? targets[key.record]).map { key.bytes(for: $0) } ?? key.bytes
      if place != key.bytes {
        // The kinds of a record share their names; one that is taken stays.
        if try trees.copyValue(of: place.rawSpan, in: metadata, to: &before) { continue }
        _ = try trees.remove(key.bytes.rawSpan, in: metadata)
      } else if renamed == bytes {
        continue
      }
      try trees.put(place.rawSpan, renamed.rawSpan, in: metadata)
    }
  }

  /// True if a record has another name, which conditions with queries of it have.
  private var renamesRecords: Bool {
    old.records.contains { record in
      recordNames[record.number].map { $0 != record.name } ?? false
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
  private let name: [UInt8]

  /// Fails if it is the name of something else.
  init?(_ bytes: [UInt8]) {
    let prefix = Entities.queryPrefix.utf8
    guard bytes.starts(with: prefix) else { return nil }
    let number = bytes.dropFirst(prefix.count).prefix { $0 != UInt8(ascii: ".") }
    guard let record = UInt32(String(decoding: number, as: UTF8.self)) else { return nil }
    self.bytes = bytes
    self.record = record
    name = Array(bytes.dropFirst(prefix.count + number.count))
  }

  /// The name of the same query of another record.
  func bytes(for record: UInt32) -> [UInt8] {
    Array(Entities.queryPrefix.utf8) + Array("\(record)".utf8) + name
  }
}

extension KeptFieldQuery {
  /// The names of the record's own fields that it is of.
  fileprivate var mentionedFields: Set<String> {
    let mentions = Mentions()
    _ = try? renamed(by: mentions)
    return mentions.found.names
  }
}

/// Takes down the names that something is of.
private struct Mentions: FieldNaming {
  final class Found {
    var names: Set<String> = []
  }

  let found = Found()

  func name(of field: String) -> String {
    found.names.insert(field)
    return field
  }

  func kind(_ name: String) -> String {
    found.names.insert(name + ".")
    return name
  }

  func relation(_ name: String) -> (name: String, fields: Mentions) {
    found.names.insert(name)
    return (name, Mentions())
  }

  func record(_ name: String) -> (name: String, kind: String?, fields: Mentions) {
    (name, nil, Mentions())
  }
}
