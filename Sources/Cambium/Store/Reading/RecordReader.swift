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

// MARK: Many at once

extension RecordReader {
  @usableFromInline
  func rows<Subject: Record>(of type: Subject.Type) throws(StoreError) -> KeyedRows<Subject> {
    let type = try entities.type(type)
    return KeyedRows(type, trees, blobs(of: type))
  }
}

/// Records of given primary keys, which are looked up several at a time.
@usableFromInline
final class KeyedRows<Subject: Record> {
  @usableFromInline let type: RecordType<Subject>
  @usableFromInline let blobs: BlobFinder?
  private let trees: TreeAccess
  private let encoder = KeyEncoder()
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private var keys: SortedKeys

  fileprivate init(_ type: RecordType<Subject>, _ trees: TreeAccess, _ blobs: BlobFinder?) {
    self.type = type
    self.trees = trees
    self.blobs = blobs
    unsafe keys = SortedKeys(of: type.record.name)
  }

  /// True if so many keys are waiting that their records are to be loaded.
  @usableFromInline var isFull: Bool { unsafe keys.count >= 1 << 10 }

  @usableFromInline
  func append(key: any FieldValueConvertible) throws(StoreError) {
    let encoder = encoder
    try encoder.encode(primaryKey: [key], of: type)
    try unsafe keys.add(encoder.key, keyLength: encoder.key.byteCount)
  }

  /// Calls `body` with the records of the keys that are waiting, in the order of the keys.
  @inlinable
  func load(_ body: (Subject) throws -> Void) throws {
    let source = takeKeys()
    while let record = try next(of: source) { try body(record) }
  }

  @inlinable
  func next(of source: KeySource) throws -> Subject? {
    guard try source.next() else { return nil }
    return try type.load(key: source.key, row: try source.row(), blobs: blobs)
  }

  @usableFromInline
  func takeKeys() -> KeySource {
    // Whether there is a record is asked of each key.
    let source = unsafe KeySource(
      keys, nil, FoundRow(of: type, in: trees), isChanging: true, entryCount: 0)
    unsafe keys.removeAll()
    return source
  }
}
