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

  /// Calls `body` with each record of the type stored as `name`, by primary key, in constant memory.
  ///
  /// - Parameter stringsAsBlobs: Whether a string that lies outside its row, as those of external fields do above their
  ///   threshold, comes as a blob with the bytes of its UTF-8, so that it can be read in pieces.
  /// - Throws: as `fetch(record:key:)`, and what `body` throws, which ends it.
  public func forEach(
    record name: String, stringsAsBlobs: Bool = false, _ body: (DynamicRecord) throws -> Void
  ) throws {
    let reader = try recordReader()
    let entity = try reader.entities.entity(named: name)
    let blobs = reader.blobs(of: entity)
    let cursor = try reader.trees.cursor(in: entity.rows)
    while try cursor.advance() {
      let row = try entity.row(key: cursor.key, row: try cursor.value(), blobs: blobs)
      try body(try DynamicRecord(row, stringsAsBlobs: stringsAsBlobs))
    }
  }

  /// Returns the number of records of the type stored as `name`, in constant time.
  ///
  /// - Throws: `StoreError.unknownRecord`, `.closed`.
  public func count(record name: String) throws(StoreError) -> Int {
    let reader = try recordReader()
    return try reader.trees.count(in: try reader.entities.entity(named: name).rows)
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
