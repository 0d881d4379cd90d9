// Writing values of types that are kinds, or have kinds.

extension WriteTransaction {
  /// Writes the row in the buffers. Over a record that is of a kind of the type, only the fields of the type are
  /// written: the record stays of its kind, and keeps the fields of that.
  ///
  /// - Throws: as `RecordWriter.write`.
  @usableFromInline
  func writeKind(
    of entity: Entity, _ presence: RecordWriter.Presence, _ policy: ConflictPolicy
  ) throws(StoreError) {
    let (key, row) = (buffers.key, buffers.row)
    var old: [UInt8] = []
    let isThere = try writer.trees.copyValue(of: key.key, in: entity.rows, to: &old)
    try writer.check(isThere, of: entity, old, presence, key.key)
    if isThere, let kinds = entity.layout.kinds {
      let oldRow = try entity.row(key: key.key, row: old.rawSpan)
      if let kept = kinds.kind(of: oldRow.row, below: entity.kind) {
        let whole = RowWriter()
        let newRow = try entity.row(key: key.key, row: row.row)
        try newRow.copy(to: whole, keeping: kinds.all[kept], of: oldRow)
        if policy == .replaceOther,
          let others = try writer.conflicts(of: key.key, whole.row, of: entity)
        {
          return try writer.atomically { writer throws(StoreError) in
            try writer.clear(others, of: entity)
            // Their deletion may have changed what is kept of the record, or deleted it with them.
            try writeKind(of: entity, .any, .refuse)
          }
        }
        return try writer.write(
          key.key, whole.row, row.waiting, tracked: row.tracked, of: entity, over: old,
          presence: presence,
          onConflict: policy)
      }
    }
    try writer.write(
      key.key, row.row, row.waiting, tracked: row.tracked, of: entity,
      over: isThere ? old : nil, presence: presence, onConflict: policy)
  }
}

extension RecordWriter {
  /// Returns true unless there is a record with a key that is of another kind than a type stands for.
  @usableFromInline
  func has(_ key: [UInt8], of entity: Entity) throws(StoreError) -> Bool {
    try has(key.rawSpan, of: entity)
  }

  func has(_ key: RawSpan, of entity: Entity) throws(StoreError) -> Bool {
    if entity.kind == nil { return true }
    var row: [UInt8] = []
    guard try trees.copyValue(of: key, in: entity.rows, to: &row) else { return true }
    return entity.has(row.rawSpan)
  }

  /// Throws where a record that is there, or is not, is in the way of a write. One of another kind is not there for an
  /// update.
  func check(
    _ isThere: Bool, of entity: Entity, _ row: [UInt8], _ presence: Presence, _ key: RawSpan
  ) throws(StoreError) {
    let isOfKind = isThere && entity.has(row.rawSpan)
    try check(presence == .isThere ? isOfKind : isThere, presence, key, of: entity)
  }
}
