/// A reader of the records of one state. It has no members for programs, which use those of `RecordReading`.
public struct RecordReader {
  @usableFromInline let entities: Entities
  let trees: TreeAccess
}

extension RecordReader {
  /// Makes the record with a primary key, if there is one.
  @inlinable
  func fetch<Subject: Record>(
    _ type: Subject.Type, key parts: [any FieldValueConvertible]
  ) throws -> Subject? {
    let type = try entities.type(type)
    var record: Subject?
    let blobs = blobs(of: type)
    try withRow(of: type, key: parts) { key, row in
      record = try type.load(key: key, row: row, blobs: blobs)
    }
    // Moved, which saves counting all that is in it.
    return record.take()
  }

  /// Returns a finder of the blobs of a record's rows; nil if it has none.
  @usableFromInline
  func blobs(of record: Entity) -> BlobFinder? {
    record.blobs == nil ? nil : trees.blobFinder(of: record)
  }

  /// Lends `body` the key and the row of the record with a primary key, if there is one.
  @usableFromInline
  func withRow(
    of record: Entity, key parts: [any FieldValueConvertible],
    _ body: (_ key: RawSpan, _ row: RawSpan) throws -> Void
  ) throws {
    if let short = ShortKey(parts, of: record.layout.key) {
      return try trees.withValue(of: short.key, in: record.rows) { row in try body(short.key, row) }
    }
    let key = KeyEncoder()
    try key.encode(primaryKey: parts, of: record)
    try trees.withValue(of: key.key, in: record.rows) { row in try body(key.key, row) }
  }
}

/// The parts of a primary key: one at least.
@inlinable
func keyParts(
  _ first: any FieldValueConvertible, _ others: [any FieldValueConvertible]
) -> [any FieldValueConvertible] {
  others.isEmpty ? [first] : [first] + others
}
