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
    while try source.next() {
      let row = try source.row()
      if type.has(row) { return try type.load(key: source.key, row: row, blobs: blobs) }
    }
    return nil
  }

  @usableFromInline
  func takeKeys() -> KeySource {
    // Each key is looked up.
    let source = unsafe KeySource(
      keys, nil, FoundRow(of: type, in: trees, nil), isChanging: true, entryCount: 0)
    unsafe keys.removeAll()
    return source
  }
}
