extension Migrator {
  /// Makes an index anew from the rows, which are sorted by what the transaction spills.
  func build(_ build: MigrationTask.IndexBuild) throws(StoreError) {
    let types = try types(of: build.world)
    guard let record = types.trees(number: build.record),
      let index = record.indexes.first(where: { $0.layout.schema.number == build.index })
    else { return }
    var count = 0
    try backend.commit { trees throws(StoreError) in
      trees.removeAll(in: index.slot)
      let layout = record.layout
      let key = KeyEncoder()
      let cursor = try backend.trees().cursor(in: record.rows)
      var isOn = try cursor.first()
      while isOn {
        let reader = try RowReader(key: cursor.key, row: try cursor.value(), layout: layout)
        if let value = try index.layout.encode(reader, to: key) {
          count += 1
          try trees.put(
            key.key, value == .primaryKey ? cursor.key : RawSpan(),
            schemaVersion: RecordTrees.indexVersion, in: index.slot)
        }
        try monitor.step()
        isOn = try cursor.next()
      }
    }
    guard try backend.trees().count(in: index.slot) == count else {
      throw try conflict(in: record, index)
    }
  }

  /// Two records with the same values: one of them has the entry, the other has none.
  private func conflict(
    in record: RecordTrees, _ index: RecordTrees.IndexTree
  ) throws(StoreError) -> StoreError {
    let trees = try backend.trees()
    let layout = record.layout
    let key = KeyEncoder()
    let cursor = try trees.cursor(in: record.rows)
    var holder: [UInt8] = []
    var isOn = try cursor.first()
    while isOn {
      let reader = try RowReader(key: cursor.key, row: try cursor.value(), layout: layout)
      if try index.layout.encode(reader, to: key) == .primaryKey,
        try trees.copyValue(of: key.key, in: index.slot, to: &holder),
        holder.rawSpan.compare(cursor.key) != 0
      {
        break
      }
      isOn = try cursor.next()
    }
    return .uniqueConflict(
      record: record.record.name, constraint: index.layout.schema.name,
      key: record.text(ofKey: holder.rawSpan))
  }
}
