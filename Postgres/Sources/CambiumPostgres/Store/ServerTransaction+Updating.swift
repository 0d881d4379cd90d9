import Cambium

// MARK: - Updates of the records of a query

extension ServerTransaction {
  /// Changes the records of a query, by primary key.
  ///
  /// A record whose unique values stay as they are cannot conflict with another, so such records are written together.
  func update<Subject: Record>(
    _ query: Query<Subject>, _ policy: ConflictPolicy, _ change: (inout Subject) throws -> Void
  ) throws -> Int {
    try Self.check(policy)
    let table = try table(of: Subject.self)
    let found = try values(of: query, table)
    var batch = UpdateBatch(table)
    do {
      for values in found {
        let old = try RecordRow(values, table, dates: dates)
        var record = try mapping.record(Subject.self, of: values)
        try change(&record)
        let new = try RecordRow(
          try mapping.values(of: record, over: values), table, dates: dates)
        guard new.keys == old.keys else {
          throw StoreError.invalidValue(
            record: table.record.name, field: nil,
            reason: "an update has changed the primary key of \(Self.text(old.key))")
        }
        let keepsUnique = batch.uniquePlaces.allSatisfy { new.columns[$0] == old.columns[$0] }
        if keepsUnique, !table.hasPartialConstraints, table.division == nil {
          batch.rows.append((new, old))
          if batch.isFull { try write(&batch) }
        } else {
          try write(&batch)
          try put(new, over: values, isChecked: keepsUnique, table)
        }
      }
    } catch {
      // Those before it are changed, as in an embedded store.
      if failure == nil { try write(&batch) }
      throw error
    }
    try write(&batch)
    return found.count
  }

  /// The values of the records of a query, by primary key.
  func values<Subject: Record>(
    of query: Query<Subject>, _ table: TablePlan
  ) throws -> [DynamicRecord] {
    let rows = try rows(try mapping.stored(query))
    let columns = RecordColumns(table, dates: dates)
    let keys = table.key.map { rows.scope.column($0.name) + ($0.isDescending ? " DESC" : "") }
    let result = try run(
      "SELECT \(columns.list(in: rows.scope, rows.translation)) FROM \(self.table(of: rows))"
        + " ORDER BY \(keys.joined(separator: ", "))", rows.translation.parameters)
    return try result.rows.map { try columns.record($0) }
  }

  /// Writes the rows of a batch by one statement, and the lists that have changed.
  private func write(_ batch: inout UpdateBatch) throws {
    guard !batch.rows.isEmpty else { return }
    defer { batch.rows = [] }
    let table = batch.table
    let names = table.written.map { SQL.name($0.name) }
    let keys = table.key.map { SQL.name($0.name) }
    let changes = names.filter { !keys.contains($0) }.map { "\($0) = v.\($0)" }
    changed.noteWrite(to: table)
    if !changes.isEmpty {
      let values = batch.rows.indices.map { place in
        let first = place * names.count
        return "(" + names.indices.map { "$\(first + $0 + 1)" }.joined(separator: ", ") + ")"
      }
      try run(
        "UPDATE \(plan.qualified(table.name)) AS r SET \(changes.joined(separator: ", ")) FROM (VALUES"
          + " \(values.joined(separator: ", "))) AS v (\(names.joined(separator: ", "))) WHERE "
          + keys.map { "r.\($0) = v.\($0)" }.joined(separator: " AND "),
        batch.rows.flatMap(\.new.columns))
    }
    for (new, old) in batch.rows {
      noteKinds(new, over: old.values, table)
      for (place, list) in table.lists.enumerated() where new.lists[place] != old.lists[place] {
        try put(new.lists[place], new.keys, list)
      }
    }
  }
}

/// Rows that are written together.
private struct UpdateBatch {
  let table: TablePlan
  var rows: [(new: RecordRow, old: RecordRow)] = []
  /// The places of the columns that are parts of unique constraints.
  let uniquePlaces: [Int]
  private let countMax: Int

  init(_ table: TablePlan) {
    self.table = table
    let written = table.written
    let unique = table.record.indexes.filter(\.isUnique).flatMap(\.parts)
      .compactMap { table.record.field($0.field)?.name }
    uniquePlaces = written.indices.filter { place in
      written[place].field.map { unique.contains($0) } ?? false
    }
    // A statement has at most 65535 parameters.
    countMax = max(1, min(500, 65_000 / max(1, written.count)))
  }

  var isFull: Bool { rows.count >= countMax }
}
