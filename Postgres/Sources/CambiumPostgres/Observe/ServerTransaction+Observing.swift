import Cambium

/// The place of an observer in the outbox: the snapshot of the server up to which it knows the changes.
struct OutboxPlace: Sendable {
  /// As the server writes it.
  fileprivate let snapshot: String

  fileprivate var sql: String { "\(SQL.literal(snapshot))::txid_snapshot" }
}

extension ServerTransaction {
  /// The place of the transaction's snapshot.
  func place() throws -> OutboxPlace {
    OutboxPlace(snapshot: try text(try run("SELECT txid_current_snapshot()::text").rows.first?[0]))
  }

  /// The stored names of the records that a query reads.
  func records<Subject: Record>(readBy query: Query<Subject>) throws -> Set<String> {
    let rows = try rows(try mapping.stored(query))
    let columns = RecordColumns(rows.scope.table, dates: dates)
    _ = columns.list(in: rows.scope, rows.translation)
    return rows.translation.records
  }

  /// The results of a query, unless they are those of before, by their hash.
  func results<Subject: Record>(
    of query: Query<Subject>, unless hash: [UInt8]?
  ) throws -> (records: [Subject], hash: [UInt8])? {
    let rows = try rows(try mapping.stored(query))
    let columns = RecordColumns(rows.scope.table, dates: dates)
    let result = try run(
      "SELECT \(columns.list(in: rows.scope, rows.translation))\(rows.from)\(rows.order)",
      rows.translation.parameters)
    let newHash = SHA256.hash(result.bytes)
    if newHash == hash { return nil }
    return (
      try result.rows.map { try mapping.record(Subject.self, of: try columns.record($0)) }, newHash
    )
  }

  /// The changes of the records of a type between a place and the transaction's snapshot.
  func changes<Subject: Record>(
    of type: Subject.Type, since place: OutboxPlace
  ) throws -> (changes: RecordChanges<Subject>, place: OutboxPlace) {
    let found = try run(
      "SELECT s.s::text, (SELECT \(Outbox.hasAll(since: place.sql)))"
        + " AND txid_snapshot_xmin(\(place.sql)) <= txid_snapshot_xmax(s.s)"
        + " FROM txid_current_snapshot() AS s (s)")
    let here = OutboxPlace(snapshot: try text(found.rows.first?[0]))
    // Null if a program has removed the marks.
    guard found.rows.first?[1] == [1] else { return (RecordChanges(isComplete: false), here) }
    let notes = try notes(of: try table(of: type), since: place)
    if notes.isEmpty { return (RecordChanges(), here) }
    return (try changes(of: type, notes), here)
  }

  private func text(_ bytes: [UInt8]??) throws -> String {
    guard let bytes, let bytes else {
      throw PostgresStoreError.unsuitableDatabase(reason: "the outbox cannot be read")
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

// MARK: - Notes

/// The rows of the outbox about one record.
private struct OutboxNote {
  /// True if the record existed before.
  let wasThere: Bool
  /// The kinds of which it was; nil if no transaction has changed them.
  var kinds: [FieldValue]?
}

extension ServerTransaction {
  /// The records that transactions have changed since a place, by primary key.
  private func notes(
    of table: TablePlan, since place: OutboxPlace
  ) throws -> [[FieldValue]: OutboxNote] {
    let found = try run(
      "SELECT key, change, kinds FROM \(Outbox.table) WHERE xid >= txid_snapshot_xmin(\(place.sql))"
        + " AND NOT txid_visible_in_snapshot(xid, \(place.sql))"
        + " AND record = \(SQL.literal(table.record.name)) ORDER BY number")
    let decoder = ValueDecoder(dates: dates)
    let scalars = table.keyScalars
    var notes: [[FieldValue]: OutboxNote] = [:]
    for row in found.rows {
      let key = try key(row[0], scalars, decoder)
      var kinds: [FieldValue]?
      if case .array(let names) = decoder.array(row[2], of: .string) { kinds = names }
      if let known = notes[key] {
        if known.kinds == nil { notes[key]?.kinds = kinds }
      } else {
        let change = try text(row[1])
        notes[key] = OutboxNote(wasThere: change == "update" || change == "delete", kinds: kinds)
      }
    }
    return notes
  }

  private func key(
    _ bytes: [UInt8]?, _ scalars: [ScalarType], _ decoder: ValueDecoder
  ) throws -> [FieldValue] {
    var values: [FieldValue] = []
    if case .array(let parts) = decoder.array(bytes, of: .binaryData) {
      for (part, scalar) in zip(parts, scalars) {
        guard case .data(let bytes) = part, let value = decoder.value(Array(bytes), of: scalar)
        else { continue }
        values.append(value)
      }
    }
    guard values.count == scalars.count else {
      throw PostgresStoreError.unsuitableDatabase(reason: "the outbox has a key that is none")
    }
    return values
  }

  /// Reads the records that have changed, and compares which there are with which there were.
  private func changes<Subject: Record>(
    of type: Subject.Type, _ notes: [[FieldValue]: OutboxNote]
  ) throws -> RecordChanges<Subject> {
    let table = try table(of: type)
    let kind = try mapping.kind(of: type)?.name
    let keys = Array(notes.keys)
    let columns = RecordColumns(table, dates: dates)
    var (inserted, updated, deleted): ([Subject], [Subject], [[FieldValue]]) = ([], [], [])
    for row in try rows(withKeys: keys, kind, columns).rows {
      guard let number = row[0].flatMap({ ValueDecoder.integer($0) }),
        let note = notes[keys[Int(number) - 1]]
      else { continue }
      let isThere = row[1] == [1]
      // Without a change of kinds they are those of now.
      let wasOfKind =
        kind.map { kind in note.kinds.map { $0.contains(.string(kind)) } ?? isThere } ?? true
      switch (note.wasThere && wasOfKind, isThere) {
      case (true, false): deleted.append(keys[Int(number) - 1])
      case (false, false): break
      case (let wasThere, true):
        let record = try mapping.record(type, of: try columns.record(Array(row.dropFirst(2))))
        if wasThere { updated.append(record) } else { inserted.append(record) }
      }
    }
    return RecordChanges(inserted: inserted, updated: updated, deleted: deleted)
  }

  /// The rows of records with primary keys, by these: each after the number of the key, and true if there is such a record.
  private func rows(
    withKeys keys: [[FieldValue]], _ kind: String?, _ columns: RecordColumns
  ) throws -> SQLResult {
    let table = columns.table
    var translation = QueryTranslation(plan)
    let scope = translation.scope(of: table)
    var (names, order): ([String], [String]) = ([], [])
    var isSame: [String] = []
    for (place, scalar) in table.keyScalars.enumerated() {
      let values = FieldValue.array(keys.map { $0[place] })
      guard let parameter = SQLParameter(array: values, of: scalar, dates: dates) else {
        throw PostgresStoreError.unsuitableDatabase(reason: "the outbox has a key that is none")
      }
      let (part, name) = (table.key[place], "k\(place)")
      names.append(translation.add(parameter))
      isSame.append("\(scope.column(part.name)) = k.\(name)")
      let collation = SQLType(scalar, dates: dates) == .text ? " COLLATE \"C\"" : ""
      order.append("k.\(name)\(collation)\(part.isDescending ? " DESC" : "")")
    }
    let aliases = table.key.indices.map { "k\($0)" } + ["number"]
    let isThere = "\(scope.column(table.key[0].name)) IS NOT NULL"
    return try run(
      "SELECT k.number, \(isThere), \(columns.list(in: scope, translation))"
        + " FROM unnest(\(names.joined(separator: ", "))) WITH ORDINALITY AS k"
        + " (\(aliases.joined(separator: ", "))) LEFT JOIN \(plan.qualified(table.name)) AS"
        + " \(scope.alias) ON \(isSame.joined(separator: " AND "))\(scope.isOfKind(kind))"
        + " ORDER BY \(order.joined(separator: ", "))", translation.parameters)
  }
}

extension TablePlan {
  /// The types of the parts of the primary key.
  fileprivate var keyScalars: [ScalarType] {
    key.compactMap { part in
      columns.first { $0.name == part.name }.flatMap { column in
        if case .value(_, let scalar) = column.source { scalar } else { nil }
      }
    }
  }
}

extension SQLResult {
  /// All values, each after its length.
  fileprivate var bytes: [UInt8] {
    var bytes: [UInt8] = []
    for value in rows.joined() {
      let length = value.map { UInt64($0.count) } ?? .max
      for place in 0..<8 { bytes.append(UInt8(truncatingIfNeeded: length >> (8 * UInt64(place)))) }
      bytes += value ?? []
    }
    return bytes
  }
}
