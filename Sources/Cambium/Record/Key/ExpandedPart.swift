/// The part of an index that makes several values of a field's, so that a record has an entry for each different one.
struct ExpandedPart: Hashable, Sendable {
  /// The place in the index's parts.
  let place: Int
  let expansion: KeyPart.Expansion

  /// Calls `body` with each value that a record's field makes, as a row has it. Some may be the same.
  ///
  /// - Parameter column: The part; its field is not null.
  /// - Throws: `.corrupt` for a damaged record; rethrows errors of `body`.
  fileprivate func forEachValue(
    of record: RowReader, _ column: KeyColumn, _ body: (RawSpan) throws(StoreError) -> Void
  ) throws(StoreError) {
    switch expansion {
    case .none: preconditionFailure("the part has one value")
    case .elements:
      guard let array = ArrayReader(record.bytes(column.place.index), of: column.type) else {
        throw record.fault(.rowValues, "an array is not whole elements")
      }
      for index in 0..<array.count { try body(array.element(index)) }
    case .words where column.place.kind == .key:
      guard case .string(let text) = try record.keyValue(column.place.index) else { return }
      try Self.forEachWord(in: Array(text.utf8).rawSpan, body)
    case .words: try Self.forEachWord(in: record.bytes(column.place.index), body)
    }
  }

  private static func forEachWord(
    in text: RawSpan, _ body: (RawSpan) throws(StoreError) -> Void
  ) throws(StoreError) {
    var reader = WordReader(text)
    while reader.next() { try body(reader.word) }
  }

  /// Returns the different values that a record's field makes, in the form and the order that they have in keys.
  fileprivate func differentValues(
    of record: RowReader, _ column: KeyColumn, _ encoder: KeyEncoder
  ) throws(StoreError) -> SortedKeys {
    var values = SortedKeys(of: record.layout.record.name)
    try forEachValue(of: record, column) { value throws(StoreError) in
      encoder.begin()
      try encoder.append(value, column, of: record)
      try values.add(encoder.key, keyLength: 0)
    }
    values.sort()
    values.removeDuplicates()
    return values
  }
}

extension IndexLayout {
  /// Calls `body` with each entry of a record, in the order of the expanded part's values.
  ///
  /// - Complexity: O(values × log values).
  /// - Throws: as `forEachEntry(of:in:_:)`.
  @inline(never)
  func forEachEntry(
    of record: RowReader, by expanded: ExpandedPart, in encoder: KeyEncoder,
    _ body: (_ key: RawSpan, _ value: RawSpan, _ isSole: Bool) throws(StoreError) -> Void
  ) throws(StoreError) {
    if let condition, try !condition.holds(for: record) { return }
    if record.isNull(parts.columns[expanded.place].place) { return }
    let isWhole = schema.isUnique && !parts.columns.contains { record.isNull($0.place) }
    let columns = (isWhole ? wholeParts : parts).columns
    let values = try expanded.differentValues(of: record, columns[expanded.place], encoder)
    for index in 0..<values.count {
      encoder.begin()
      for (place, column) in columns.enumerated() {
        if place == expanded.place {
          encoder.appendRaw(values.whole(index))
        } else {
          try encoder.append(column, from: record)
        }
      }
      let isRecord = finish(encoder, of: record, isWhole: isWhole) == .primaryKey
      try body(encoder.key, isRecord ? record.key : RawSpan(), isRecord && schema.isUnique)
    }
  }

  /// Returns true if two rows of one record have the same entries for certain, because all that entries are made of is the
  /// same bytes.
  func hasSameEntries(_ one: RowReader, _ other: RowReader) throws(StoreError) -> Bool {
    if let condition {
      guard try condition.holds(for: one) == condition.holds(for: other) else { return false }
    }
    return parts.columns.allSatisfy { column in
      one.isNull(column.place) == other.isNull(column.place)
        && one.bytes(of: column).equals(other.bytes(of: column))
    }
  }
}

extension RowReader {
  /// The bytes of an index's column in the row; empty for a part of the primary key.
  @_lifetime(copy self)
  fileprivate func bytes(of column: KeyColumn) -> RawSpan {
    switch column.place.kind {
    case .key, .composite: RawSpan()
    case .fixed: row.part(column.place.index, column.type.fixedWidth ?? 0)
    case .variable: bytes(column.place.index)
    }
  }
}
