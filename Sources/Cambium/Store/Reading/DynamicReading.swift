// Records without their Swift types: whatever the store's own schema says there is.

extension RecordReading where Self: ~Copyable {
  /// Returns the record of the type stored as `name` with a primary key, as its fields' values; nil if there is none.
  ///
  /// - Throws: `StoreError.unknownRecord`, `.invalidQuery` if the key is of other types, `.corrupt`, `.io`,
  ///   `.closed`.
  public func fetch(
    record name: String, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws(StoreError) -> DynamicRecord? {
    let reader = try recordReader()
    let entity = try reader.entities.entity(named: name)
    let key = KeyEncoder()
    try key.encode(primaryKey: keyParts(part, others), of: entity)
    var row: [UInt8] = []
    guard try reader.trees.copyValue(of: key.key, in: entity.rows, to: &row) else { return nil }
    return try DynamicRecord(
      try entity.row(key: key.key, row: row.rawSpan, blobs: reader.blobs(of: entity)))
  }
}

extension WriteTransaction {
  /// Writes a record: adds it, or replaces the one with its primary key. A field that it does not name gets the
  /// default that the model describes. Neither validation nor hooks of a Swift type run.
  ///
  /// - Throws: `StoreError.unknownRecord`, `.invalidValue`, `.uniqueConflict`, `.limitExceeded`: then nothing
  ///   has changed. `.corrupt`, `.full`, `.io`.
  public mutating func save(
    _ record: DynamicRecord, onConflict policy: ConflictPolicy = .refuse
  ) throws(StoreError) {
    let entity = try entities.entity(named: record.name)
    let (key, row) = (buffers.key, buffers.row)
    try record.encode(to: row, key: key, layout: entity.layout, defaults: entity.defaults)
    try writeRow(of: entity, .any, policy)
  }

  /// Deletes the record of the type stored as `name` with a primary key. Returns false if there is none.
  ///
  /// - Throws: as `save`.
  @discardableResult
  public mutating func delete(
    record name: String, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws(StoreError) -> Bool {
    let entity = try entities.entity(named: name)
    let key = buffers.key
    try key.encode(primaryKey: keyParts(part, others), of: entity)
    return try writer.delete(key.key, of: entity)
  }
}
