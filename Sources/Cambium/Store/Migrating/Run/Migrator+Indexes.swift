extension Migrator {
  /// Makes an index anew from the rows, which are sorted by what the transaction spills.
  func build(_ build: MigrationTask.IndexBuild) throws(StoreError) {
    let entities = try entities(of: build.world)
    guard let record = entities.entity(number: build.record),
      let index = record.indexes.first(where: { $0.layout.schema.number == build.index })
    else { return }
    var count = 0
    try backend.commit { trees throws(StoreError) in
      try trees.removeAll(in: index.slot)
      let key = KeyEncoder()
      let cursor = try backend.trees().cursor(in: record.rows)
      while try cursor.advance() {
        let row = try record.row(key: cursor.key, row: try cursor.value())
        try index.layout.forEachEntry(of: row, in: key) { key, value, _ throws(StoreError) in
          count += 1
          try trees.put(key, value, schemaVersion: Entity.indexVersion, in: index.slot)
        }
        try monitor.step()
      }
    }
    guard try backend.trees().count(in: index.slot) == count else {
      throw try conflict(in: record, index, of: build.world.schema.version)
    }
  }

  /// Counts the records that have the same values as another: one of them has the entry, the others have none.
  private func conflict(
    in record: Entity, _ index: Entity.IndexTree, of version: UInt32
  ) throws(StoreError) -> StoreError {
    let trees = try backend.trees()
    let key = KeyEncoder()
    let cursor = try trees.cursor(in: record.rows)
    var (holder, other): ([UInt8], [UInt8]) = ([], [])
    var count = 0
    var first: (key: [UInt8], other: [UInt8])?
    while try cursor.advance() {
      let row = try record.row(key: cursor.key, row: try cursor.value())
      try index.layout.forEachEntry(of: row, in: key) { key, _, isSole throws(StoreError) in
        guard isSole, try trees.copyValue(of: key, in: index.slot, to: &holder),
          holder.rawSpan.compare(cursor.key) != 0
        else { return }
        count += 1
        other.assign(cursor.key)
        if first == nil { first = (holder, other) }
      }
    }
    let name = record.record.name
    let pair = first.map {
      ": \(record.text(ofKey: $0.other.rawSpan)) as \(record.text(ofKey: $0.key.rawSpan)), for one"
    }
    return .stepFailed(
      version: Int(version), source: name,
      reason:
        "\(count) record\(count == 1 ? " has" : "s have") the same \(index.layout.schema.name) as another, which has to be"
        + " unique\(pair ?? ""). Change or delete all but one of each in a `Before` of the step")
  }
}
