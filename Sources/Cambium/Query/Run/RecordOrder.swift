/// The order of a query's records, and the record behind which the first comes.
final class RecordOrder {
  let columns: BoundOrder
  private let record: Entity
  private let encoder: KeyEncoder
  // One owner on one thread uses them, so accesses cannot overlap.
  /// The primary key of the record to come after, behind what it is sorted by.
  @exclusivity(unchecked) private var start: [UInt8] = []
  /// The record itself; its row is empty where the order asks for none.
  @exclusivity(unchecked) private(set) var startKey: [UInt8] = []
  @exclusivity(unchecked) private(set) var startRow: [UInt8] = []
  /// True if the records that come now differ in nothing but the primary key; without a start.
  var isByKey = false
  /// True if there is such a record, and what comes next may be before it.
  var hasStart = false

  /// - Parameter encoder: For this alone, from now on.
  init(_ columns: BoundOrder, of record: Entity, _ encoder: KeyEncoder) {
    self.encoder = encoder
    self.columns = columns
    self.record = record
  }
}

// MARK: Sorting

extension RecordOrder {
  /// Adds the record at a source's place to keys that are to be sorted, unless it comes before the start.
  ///
  /// - Throws: `.corrupt`, `.io`, `.sortTooLarge`.
  func add(_ source: RecordSource, to keys: inout SortedKeys) throws(StoreError) {
    if columns.columns.isEmpty || isByKey {
      if hasStart, !isBehindStart(source.key) { return }
      return try keys.add(source.key, keyLength: source.key.byteCount)
    }
    let (layout, encoder) = (record.layout, encoder)
    let reader = try RowReader(key: source.key, row: try source.row(), layout: layout)
    try columns.encode(reader, to: encoder)
    if hasStart, !isBehindStart(encoder.key) { return }
    try keys.add(encoder.key, keyLength: source.key.byteCount)
  }

  /// Returns true if the record at a source's place comes behind the start.
  func isBehindStart(_ source: RecordSource) throws(StoreError) -> Bool {
    if !hasStart { return true }
    if columns.columns.isEmpty { return isBehindStart(source.key) }
    let (layout, encoder) = (record.layout, encoder)
    let reader = try RowReader(key: source.key, row: try source.row(), layout: layout)
    try columns.encode(reader, to: encoder)
    return isBehindStart(encoder.key)
  }

  private func isBehindStart(_ key: RawSpan) -> Bool {
    let start = unsafe start
    return key.compare(start.rawSpan) > 0
  }
}

// MARK: Starting

extension RecordOrder {
  /// Lets the first record be the one behind a place.
  ///
  /// - Throws: `.noSuchRecord` where the order asks for a record that is not there; `.invalidQuery` where its
  ///   key is of other types; `.corrupt`, `.io`.
  func begin(after place: FieldQuery.Place, in trees: TreeAccess) throws(StoreError) {
    hasStart = true
    switch place {
    case .record(let key, let row):
      unsafe startKey = key
      unsafe startRow = row
    case .key(let parts):
      unsafe startKey = try primaryKey(parts)
      if !columns.columns.isEmpty { try findRow(in: trees) }
    }
    guard !columns.columns.isEmpty else {
      unsafe start = startKey
      return
    }
    let (key, row, layout) = unsafe (startKey, startRow, record.layout)
    let encoder = encoder
    try columns.encode(
      try RowReader(key: key.rawSpan, row: row.rawSpan, layout: layout), to: encoder)
    unsafe start = encoder.key.array()
  }

  private func primaryKey(_ parts: [FieldValue]) throws(StoreError) -> [UInt8] {
    let encoder = encoder
    try encoder.encode(primaryKey: parts, of: record)
    return encoder.key.array()
  }

  private func findRow(in trees: TreeAccess) throws(StoreError) {
    let key = unsafe startKey
    guard try unsafe trees.copyValue(of: key.rawSpan, in: record.rows, to: &startRow) else {
      throw .noSuchRecord(record: record.record.name, key: record.text(ofKey: key.rawSpan))
    }
  }

  /// The bytes that the first parts of a tree's keys have where the start is. Nil where it would be elsewhere,
  /// since a part can have only another value.
  ///
  /// - Throws: `.corrupt`, `.invalidQuery`.
  func startPrefix(
    _ parts: [KeyColumn], fixed: [FieldValue?]
  ) throws(StoreError) -> [UInt8]? {
    let layout = record.layout
    let (key, row) = unsafe (startKey, startRow)
    let encoder = encoder
    var known = columns.fixed
    for (part, value) in zip(parts, fixed) { if let value { known.append((part, value)) } }
    for (part, value) in known where value != .null || part.form.contains(.isOptional) {
      let reader = try RowReader(key: key.rawSpan, row: row.rawSpan, layout: layout)
      encoder.begin()
      try encoder.append(part, from: reader)
      let own = encoder.key.array()
      encoder.begin()
      try encoder.append(value, part, of: layout)
      if !own.rawSpan.equals(encoder.key) { return nil }
    }
    encoder.begin()
    for part in parts {
      let reader = try RowReader(key: key.rawSpan, row: row.rawSpan, layout: layout)
      try encoder.append(part, from: reader)
    }
    return encoder.key.array()
  }
}
