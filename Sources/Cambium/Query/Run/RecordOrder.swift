internal import FoundationEssentials

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
  /// - Returns: False if it was not added, as there are enough before it.
  /// - Throws: `.corrupt`, `.io`, `.sortTooLarge`.
  @discardableResult
  func add(_ source: RecordSource, to keys: inout SortedKeys) throws(StoreError) -> Bool {
    if columns.columns.isEmpty || isByKey {
      if hasStart, !isBehindStart(source.key) { return false }
      return try keys.add(source.key, keyLength: source.key.byteCount)
    }
    let (layout, encoder) = (record.layout, encoder)
    let reader = try RowReader(key: source.key, row: try source.row(), layout: layout)
    try columns.encode(reader, to: encoder)
    if hasStart, !isBehindStart(encoder.key) { return false }
    return try keys.add(encoder.key, keyLength: source.key.byteCount)
  }

  /// Returns what rejects rows that come behind all of the keys; nil where each row has to be looked at.
  func limit(behind keys: SortedKeys) -> QuickTerm? {
    guard keys.isFull, keys.count > 0, let column = columns.columns.first else { return nil }
    let layout = record.layout
    var reader = KeyReader(keys.whole(0), layout: layout)
    guard let value = try? reader.value(column) else { return nil }
    return QuickTerm(notBehind: value, column, layout)
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
      let encoder = encoder
      try encoder.encode(primaryKey: parts, of: record)
      unsafe startKey = encoder.key.array()
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

extension BoundOrder {
  /// Puts together what a record is sorted by: bytes that sort as records do, of which the primary key is the
  /// end.
  ///
  /// - Throws: `.corrupt` for a damaged record, `.limitExceeded`.
  func encode(_ record: RowReader, to key: KeyEncoder) throws(StoreError) {
    key.begin()
    for column in columns { try key.appendSorted(column, from: record) }
    key.appendRaw(record.key)
  }
}

extension RowReader {
  /// Returns true if a column's value is of numbers and none; those come behind all.
  fileprivate func isNotANumber(_ column: KeyColumn) throws(StoreError) -> Bool {
    guard column.place.kind != .key, !isNull(column.place) else { return false }
    return switch column.type {
    case .double, .date: double(column.place.index).isNaN
    case .float: float(column.place.index).isNaN
    case .decimal: try decimal(column.place.index).isNaN
    default: false
    }
  }
}

extension KeyEncoder {
  /// Appends what a record has in a column, so that it sorts as the value does, also where it is not a number.
  ///
  /// - Throws: `.corrupt`.
  func appendSorted(_ column: KeyColumn, from record: RowReader) throws(StoreError) {
    if try record.isNotANumber(column) {
      appendNotANumber(column)
    } else {
      try append(column, from: record)
    }
  }

  /// Appends what sorts behind every number.
  fileprivate func appendNotANumber(_ column: KeyColumn) {
    let mask: UInt8 = column.isDescending ? 0xff : 0
    var bytes = [UInt8](repeating: 0xff ^ mask, count: column.type.fixedWidth ?? 1)
    if column.form.contains(.isOptional) { bytes.insert(1 ^ mask, at: 0) }
    appendRaw(bytes.rawSpan)
  }
}
