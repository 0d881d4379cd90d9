// Derived fields in a migration: they are computed, and sequences number records, once those of a version have been made.

extension MigrationTask {
  /// Computes the derived fields of all records of a type, and gives numbers to those that have none.
  struct Deriving: Sendable {
    let record: RecordSchema
    let world: World
  }
}

extension Migrator {
  /// Computes the derived fields of all records of a type, and gives numbers to those that have none, in the order of their keys, in
  /// slices. A run that was interrupted begins with the first again.
  ///
  /// - Throws: `.invalidValue` for a sum or a number that its field cannot hold, and an expression without a result; `.migrationCancelled`, `.corrupt`, `.full`, `.io`.
  func derive(_ task: MigrationTask.Deriving) throws(StoreError) {
    let entities = try entities(of: task.world)
    guard let record = entities.entity(number: task.record.number),
      let derivations = entities.derivations
    else { return }
    var numbering = try SequenceNumbering(
      derivations.sequences(record), of: record, in: try backend.trees())
    var start: [UInt8] = []
    var isOn = true
    while isOn {
      try backend.commit { trees throws(StoreError) in
        isOn = try derive(record, derivations, &numbering, behind: &start, to: trees)
      }
    }
  }

  /// - Parameter start: The key of the last record that is done.
  /// - Returns: False after the last record.
  private func derive(
    _ record: Entity, _ derivations: DerivationMap, _ numbering: inout SequenceNumbering,
    behind start: inout [UInt8], to trees: TransactionTrees
  ) throws(StoreError) -> Bool {
    let old = try backend.trees()
    let cursor = try old.cursor(in: record.rows)
    let changed = RowWriter()
    var isOn = try cursor.seek(behind: start)
    var left = sliceCount
    while isOn, left > 0 {
      let row = try record.row(key: cursor.key, row: try cursor.value())
      var values = try numbering.values(of: row)
      for (column, value) in try derivations.values(of: row, record, in: old)
      where try !row.value(column).isSame(as: value) {
        values[column] = value
      }
      if !values.isEmpty {
        try row.copy(to: changed, replacing: values)
        try trees.put(
          cursor.key, changed.row, schemaVersion: record.layout.version, in: record.rows)
      }
      try monitor.step()
      left -= 1
      start.assign(cursor.key)
      isOn = try cursor.next()
    }
    return isOn
  }
}
