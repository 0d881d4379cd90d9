// Records that a relation of a type to itself leads to, again and again: the parts of parts, the manager of the manager.

extension RecordReading where Self: ~Copyable {
  /// Returns the records that lead to a record over a reference, those that lead to these, and so on.
  ///
  /// ```swift
  /// for folder in try store.descendants(of: root, along: Folder.folders) {
  ///   print(String(repeating: " ", count: folder.depth), folder.record.name)
  /// }
  /// ```
  ///
  /// Each record comes once, at its least depth, however many ways lead to it, so cycles end; the record itself is left out. The
  /// depth is the number of steps on the shortest way: 1 for a record that leads to it directly.
  /// Records come by depth, and those of one depth by primary key.
  ///
  /// - Parameters:
  ///   - record: The record with which the first ones begin. It need not be stored.
  ///   - inverse: The other end of a reference of the type to itself.
  ///   - depth: The greatest depth; nil for any.
  /// - Complexity: A seek for each record that is returned, and a step for each way to it. All are in memory.
  /// - Throws: `StoreError.unknownRecord`, `.invalidQuery` if the depth is negative, `.corrupt`, `.io`, `.closed`; errors of the
  ///   type's hook after loading.
  public func descendants<Subject: Record & Identifiable>(
    of record: Subject, along inverse: Inverse<Subject, Subject>, upTo depth: Int? = nil
  ) throws -> [(record: Subject, depth: Int)] {
    try recordReader().reached(
      from: .record(record), over: inverse.relation.relationProperty, upTo: depth)
  }

  /// Returns the records that lead to records of a query over a reference, those that lead to these, and so on. Records of the
  /// query are left out.
  ///
  /// - Throws: As `descendants(of:along:upTo:)` of a record; as `fetch(_:after:)`.
  public func descendants<Subject: Record & Identifiable>(
    of query: Query<Subject>, along inverse: Inverse<Subject, Subject>, upTo depth: Int? = nil
  ) throws -> [(record: Subject, depth: Int)] {
    try recordReader().reached(
      from: .query(query), over: inverse.relation.relationProperty, upTo: depth)
  }

  /// Returns the record that a reference leads to, the one that its reference leads to, and so on; of a list of references, all of
  /// them: `try store.ancestors(of: folder, along: \.parent)`.
  ///
  /// Each record comes once, at its least depth, so cycles end; the record itself is left out. Records come by depth, and those of
  /// one depth by primary key. References that lead nowhere are left out.
  ///
  /// - Parameters:
  ///   - record: The record whose references are followed first. It need not be stored.
  ///   - reference: The key path of a reference of the type to itself: optional or not, or a list.
  ///   - depth: The greatest depth; nil for any.
  /// - Complexity: A lookup for each reference that is followed. All records are in memory.
  /// - Throws: as `descendants(of:along:upTo:)`.
  public func ancestors<Subject: Record, Relation: ReferenceProperty>(
    of record: Subject, along reference: KeyPath<Subject, Relation>, upTo depth: Int? = nil
  ) throws -> [(record: Subject, depth: Int)] where Relation.Target == Subject {
    let relation = FieldReference<Subject, Relation>(PropertyReference(reference)).relation
    return try recordReader().reached(
      from: .record(record), over: relation.relationProperty, upTo: depth)
  }

  /// Returns the records that references of a query's records lead to, those that their references lead to, and so on. Records of
  /// the query are left out.
  ///
  /// - Throws: As `ancestors(of:along:upTo:)` of a record; as `fetch(_:after:)`.
  public func ancestors<Subject: Record, Relation: ReferenceProperty>(
    of query: Query<Subject>, along reference: KeyPath<Subject, Relation>, upTo depth: Int? = nil
  ) throws -> [(record: Subject, depth: Int)] where Relation.Target == Subject {
    let relation = FieldReference<Subject, Relation>(PropertyReference(reference)).relation
    return try recordReader().reached(
      from: .query(query), over: relation.relationProperty, upTo: depth)
  }
}

extension RecordReading where Self: ~Copyable {
  /// Calls `body` with the records that those of a query lead to over a relation of their type to itself, those that these lead
  /// to, and so on, and their depths. Records of the query are left out.
  ///
  /// - Parameters:
  ///   - name: The stored name of the type.
  ///   - relation: The stored name of a reference, for ancestors, or of an inverse, for descendants.
  ///   - depth: The greatest depth; nil for any.
  /// - Throws: As `descendants(of:along:upTo:)`; `StoreError.invalidQuery` if the relation leads to records of another type;
  ///   errors of `body`, which ends it.
  package func forEach(
    record name: String, where condition: FieldCondition?, along relation: String,
    upTo depth: Int?, stringsAsBlobs: Bool = false, _ body: (DynamicRecord, Int) throws -> Void
  ) throws {
    let reader = try recordReader()
    let record = try reader.runner(ofRecord: name).record
    let layout = record.layout
    let side = try reader.entities.relation(relation, of: record)
    guard side.other.place == record.place else {
      throw StoreError.invalidQuery(
        record: name, field: relation,
        reason: "it leads to \(side.other.record.name), not to records of the same type again")
    }
    let found = try QueryRunner(record, in: reader).find(FieldQuery(condition: condition))
    let level = try ReachedRow.all(of: found)
    try reader.forEachReached(from: level, over: relation, upTo: depth, record) { row, depth in
      let reached = try RowReader(
        key: row.key.rawSpan, row: row.row.rawSpan, layout: layout,
        blobs: reader.blobs(of: record))
      try body(try DynamicRecord(reached, stringsAsBlobs: stringsAsBlobs), depth)
    }
  }
}

// MARK: - Level by level

/// Where records are reached from.
private enum Beginning<Subject: Record> {
  case record(Subject)
  case query(Query<Subject>)
}

/// A record as it is stored.
private struct ReachedRow {
  let key: [UInt8]
  let row: [UInt8]

  static func all(of found: FoundRecords) throws(StoreError) -> [ReachedRow] {
    var rows: [ReachedRow] = []
    while try found.next() {
      rows.append(ReachedRow(key: found.key.array(), row: try found.row().array()))
    }
    return rows
  }
}

extension RecordReader {
  fileprivate func reached<Subject: Record>(
    from beginning: Beginning<Subject>, over relation: PropertyReference, upTo most: Int?
  ) throws -> [(record: Subject, depth: Int)] {
    let type = try entities.type(Subject.self)
    let name = try StoredNames(type, entities).relation(relation).name
    var records: [(record: Subject, depth: Int)] = []
    try forEachReached(from: try rows(of: beginning, type), over: name, upTo: most, type) {
      found, depth in
      let record = try type.load(
        key: found.key.rawSpan, row: found.row.rawSpan, blobs: blobs(of: type))
      records.append((record, depth))
    }
    return records
  }

  fileprivate func forEachReached(
    from rows: [ReachedRow], over name: String, upTo most: Int?, _ type: Entity,
    _ body: (ReachedRow, Int) throws -> Void
  ) throws {
    guard most ?? 0 >= 0 else {
      throw StoreError.invalidQuery(
        record: type.record.name, field: name, reason: "its depth is negative: \(most ?? 0)")
    }
    let relation = try RelatedRows(
      name, of: type, where: .and([]), in: RelatedScope(reader: self))
    var level = rows
    var known = KeyNumbers()
    for found in level { _ = known.number(of: found.key.rawSpan) }
    var depth = 0
    while !level.isEmpty, depth < most ?? .max {
      depth += 1
      level = try next(after: level, over: relation, type, &known)
      for found in level { try body(found, depth) }
    }
  }

  private func rows<Subject: Record>(
    of beginning: Beginning<Subject>, _ type: RecordType<Subject>
  ) throws(StoreError) -> [ReachedRow] {
    switch beginning {
    case .record(let record):
      let (key, row) = (KeyEncoder(), RowWriter())
      try type.encodeKey(record, to: key, row: row)
      return [ReachedRow(key: key.key.array(), row: row.row.array())]
    case .query(let query): return try ReachedRow.all(of: try find(query, of: type))
    }
  }

  /// Returns the records that those of a level lead to and that are not known yet, by primary key.
  private func next(
    after level: [ReachedRow], over relation: RelatedRows, _ type: Entity,
    _ known: inout KeyNumbers
  ) throws(StoreError) -> [ReachedRow] {
    let layout = type.layout
    var next: [ReachedRow] = []
    var all = known
    known = KeyNumbers()
    for found in level {
      let (key, row) = (found.key, found.row)
      let record = try RowReader(key: key.rawSpan, row: row.rawSpan, layout: layout)
      try relation.forEach(of: record) { related in
        if all.number(of: related.key).isNew {
          next.append(ReachedRow(key: related.key.array(), row: related.row.array()))
        }
        return true
      }
    }
    known = all
    return next.sorted { $0.key.rawSpan.compare($1.key.rawSpan) < 0 }
  }
}
