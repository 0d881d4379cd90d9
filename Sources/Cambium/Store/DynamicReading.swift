// Records without their Swift types: whatever the store's own schema says there is.

extension RecordReading where Self: ~Copyable {
  /// Returns the record of the type stored as `name` with a primary key, as its fields' values; nil if there is none.
  ///
  /// ```swift
  /// let item = try store.fetch(record: "Item", key: id)
  /// ```
  ///
  /// - Throws: `StoreError.unknownRecord`, `.invalidQuery` if the key is of other types, `.corrupt`, `.io`,
  ///   `.closed`.
  public func fetch(
    record name: String, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws(StoreError) -> DynamicRecord? {
    try recordReader().fetch(record: name, key: keyParts(part, others))
  }
}

extension RecordReader {
  func fetch(
    record name: String, key parts: [any FieldValueConvertible]
  ) throws(StoreError) -> DynamicRecord? {
    let entity = try entities.entity(named: name)
    let key = KeyEncoder()
    try key.encode(primaryKey: parts, of: entity)
    var row: [UInt8] = []
    guard try trees.copyValue(of: key.key, in: entity.rows, to: &row) else { return nil }
    return try DynamicRecord(
      try entity.row(key: key.key, row: row.rawSpan, blobs: blobs(of: entity)))
  }
}

extension WriteTransaction {
  /// Writes a record: adds it, or replaces the one with its primary key. A field that it does not name gets the
  /// default that the model describes. Neither validation nor hooks of a Swift type run.
  ///
  /// ```swift
  /// try transaction.save(DynamicRecord("Item", ["id": 1, "name": "Lamp"]))
  /// ```
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
  /// ```swift
  /// try transaction.delete(record: "Item", key: id)
  /// ```
  ///
  /// - Throws: as `save`.
  @discardableResult
  public mutating func delete(
    record name: String, key part: any FieldValueConvertible,
    _ others: any FieldValueConvertible...
  ) throws(StoreError) -> Bool {
    try delete(record: name, keyParts: keyParts(part, others))
  }

  /// Deletes the record with a primary key, whose parts are in an array.
  package mutating func delete(
    record name: String, keyParts: [any FieldValueConvertible]
  ) throws(StoreError) -> Bool {
    let entity = try entities.entity(named: name)
    let key = buffers.key
    try key.encode(primaryKey: keyParts, of: entity)
    return try writer.delete(key.key, of: entity)
  }
}

// Reading on past records that cannot be read.

/// A record that could not be read, and was skipped.
public struct SkippedRecord: Hashable, Sendable {
  /// The stored name of its type.
  public let record: String
  /// Its primary key as text; nil if the page that holds the key cannot be read either.
  public let key: String?
  /// The number of records before it, by primary key.
  public let offset: Int
  /// The reason for which it could not be read.
  public let error: StoreError
}

extension SkippedRecord: CustomStringConvertible {
  /// The record and the reason, as a sentence.
  public var description: String {
    "\(record) \(key ?? "number \(offset + 1)"): \(error)"
  }
}

extension RecordReading where Self: ~Copyable {
  /// Returns all records of a type that can be read, by primary key, and the records that were skipped.
  ///
  /// ```swift
  /// let (items, skipped) = try store.fetchReadable(Item.self)
  /// ```
  ///
  /// - Complexity: as `fetch(_:)`; O(log records) for each record that is skipped.
  /// - Throws: as `forEach(_:skipping:_:)`.
  public func fetchReadable<Subject: Record>(
    _ type: Subject.Type
  ) throws -> (records: [Subject], skipped: [SkippedRecord]) {
    var (records, skipped): ([Subject], [SkippedRecord]) = ([], [])
    try forEach(type, skipping: { skipped.append($0) }, { records.append($0) })
    return (records, skipped)
  }

  /// Calls `body` with each record of a type that can be read, by primary key, in constant memory.
  ///
  /// ```swift
  /// try store.forEach(Item.self, skipping: { print($0) }) { item in names.append(item.name) }
  /// ```
  ///
  /// - Parameter skip: Called with each record that cannot be read: its bytes are damaged, or the type has no such value.
  /// - Throws: `StoreError.unknownRecord`, `.closed`, `.io`; errors of the type's hook after loading, `skip` and
  ///   `body`.
  package func forEach<Subject: Record>(
    _ type: Subject.Type, skipping skip: (SkippedRecord) throws -> Void,
    _ body: (Subject) throws -> Void
  ) throws {
    let reader = try recordReader()
    let type = try reader.entities.type(type)
    let blobs = reader.blobs(of: type)
    try reader.forEach(of: type, skipping: skip) { key, row in
      type.has(row) ? try type.load(key: key, row: row, blobs: blobs) : nil
    } with: { record in
      if let record { try body(record) }
    }
  }

  /// Calls `body` with each record of the type stored as `name` that can be read, as `forEach(_:skipping:_:)` does.
  ///
  /// - Parameters:
  ///   - stringsAsBlobs: As for `forEach(record:where:sortedBy:limit:offset:after:fields:stringsAsBlobs:_:)`.
  ///   - skip: Called with each record whose bytes are damaged.
  /// - Throws: `StoreError.unknownRecord`, `.closed`, `.io`; errors of `skip` and `body`.
  package func forEach(
    record name: String, stringsAsBlobs: Bool = false,
    skipping skip: (SkippedRecord) throws -> Void, _ body: (DynamicRecord) throws -> Void
  ) throws {
    let reader = try recordReader()
    let entity = try reader.entities.entity(named: name)
    let blobs = reader.blobs(of: entity)
    try reader.forEach(of: entity, skipping: skip) { key, row in
      try DynamicRecord(
        try entity.row(key: key, row: row, blobs: blobs), stringsAsBlobs: stringsAsBlobs)
    } with: {
      try body($0)
    }
  }
}

extension RecordReading where Self: ~Copyable {
  /// Calls `body` with each value under a name, as JSON, in the order of the names.
  ///
  /// - Parameter skip: Called with the name of each value that cannot be read, or its number where that cannot be read
  ///   either, and the error.
  /// - Throws: `StoreError.closed`, `.io`; errors of `skip` and `body`.
  package func forEachMetadata(
    skipping skip: (String, any Error) throws -> Void, _ body: (String, JSONValue) throws -> Void
  ) throws {
    let reader = try recordReader()
    let tree = reader.entities.metadata
    let cursor = try reader.trees.cursor(in: tree)
    var isOn = false
    for offset in 0..<(try reader.trees.count(in: tree)) {
      let (name, value): (String, JSONValue)
      do {
        if !isOn { isOn = try cursor.seek(toOffset: offset) }
        guard isOn else { return }
        let bytes = cursor.key.array()
        if let reason = MetadataCheck.reason(against: bytes, try cursor.value().array()) {
          throw StoreError.corrupt(
            .entry(tree: Entities.metadataName, key: bytes), invariant: .metadata, reason: reason)
        }
        name = String(decoding: bytes, as: UTF8.self)
        value = try JSONCodec().decode(JSONValue.self, from: try cursor.value().array())
      } catch {
        if let error = error as? StoreError, !error.isOfOneRecord { throw error }
        let name = isOn ? String(validating: cursor.key.array(), as: UTF8.self) : nil
        try skip(name ?? "number \(offset + 1)", error)
        isOn = isOn && ((try? cursor.next()) ?? false)
        continue
      }
      try body(name, value)
      isOn = (try? cursor.next()) ?? false
    }
  }
}

extension RecordReader {
  /// Goes from record to record. After one on a page that cannot be read, it looks for the next by the counts that
  /// the pages above it have.
  fileprivate func forEach<Made>(
    of record: Entity, skipping skip: (SkippedRecord) throws -> Void,
    _ make: (_ key: RawSpan, _ row: RawSpan) throws -> Made, with body: (Made) throws -> Void
  ) throws {
    let cursor = try trees.cursor(in: record.rows)
    let count = try trees.count(in: record.rows)
    var isOn = false
    for offset in 0..<count {
      let made: Made
      do {
        if !isOn { isOn = try cursor.seek(toOffset: offset) }
        guard isOn else { return }
        made = try make(cursor.key, try cursor.value())
      } catch let error as StoreError where error.isOfOneRecord {
        let key = isOn ? record.text(ofKey: cursor.key) : nil
        try skip(
          SkippedRecord(record: record.record.name, key: key, offset: offset, error: error))
        isOn = false
        continue
      }
      try body(made)
      // A move that fails is tried again from the counts, and reported there.
      isOn = (try? cursor.next()) ?? false
    }
  }
}

extension StoreError {
  /// True if other records may be readable.
  fileprivate var isOfOneRecord: Bool {
    switch self {
    case .io, .full, .closed, .forked, .unknownRecord: false
    default: true
    }
  }
}
