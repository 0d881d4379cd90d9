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

  /// The words of the elements at some places of a record's list.
  fileprivate static func differentElements(
    of array: ArrayReader, at places: Range<Int>, of record: RowReader, _ column: KeyColumn,
    _ encoder: KeyEncoder
  ) throws(StoreError) -> SortedKeys {
    var values = SortedKeys(of: record.layout.record.name)
    for index in places {
      encoder.begin()
      try encoder.append(array.element(index), column, of: record)
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
  // Dynamic, as `forEachDifference(from:to:in:_:)`.
  dynamic func forEachEntry(
    of record: RowReader, by expanded: ExpandedPart, in encoder: KeyEncoder,
    _ body: (_ key: RawSpan, _ value: RawSpan, _ isSole: Bool) throws(StoreError) -> Void
  ) throws(StoreError) {
    if let condition, try !condition.holds(for: record) { return }
    if record.isNull(parts.columns[expanded.place].place) { return }
    let isWhole = schema.isUnique && !parts.columns.contains { record.isNull($0.place) }
    let columns = (isWhole ? wholeParts : parts).columns
    let values = try expanded.differentValues(of: record, columns[expanded.place], encoder)
    for index in 0..<values.count {
      let isRecord = try encode(
        values.whole(index), of: expanded, columns, isWhole: isWhole, of: record, to: encoder)
      try body(encoder.key, isRecord ? record.key : RawSpan(), isRecord && schema.isUnique)
    }
  }

  /// Puts the key of the entry of one value together. Returns true if the entry's value is the primary key.
  private func encode(
    _ value: RawSpan, of expanded: ExpandedPart, _ columns: [KeyColumn], isWhole: Bool,
    of record: RowReader, to encoder: KeyEncoder
  ) throws(StoreError) -> Bool {
    encoder.begin()
    for (place, column) in columns.enumerated() {
      if place == expanded.place {
        encoder.appendRaw(value)
      } else {
        try encoder.append(column, from: record)
      }
    }
    return finish(encoder, of: record, isWhole: isWhole) == .primaryKey
  }

  /// Calls `body` with the entries that only one of two rows of a record has, if these differ in no part but in elements of a list.
  ///
  /// - Parameter body: Is given the entry's key and value, and true if it is one of the new row; some of those the old row may
  ///   have too.
  /// - Returns: False if they differ in more, or in words: then `body` was not called.
  /// - Complexity: A pass over the bytes of both rows, and O(n × log n) for n elements that are not at the same places, counted
  ///   from the beginning or from the end.
  /// - Throws: as `forEachEntry(of:in:_:)`.
  // Dynamic, so that it is compiled once: the optimizer would make a copy for every closure that it is called with.
  dynamic func forEachDifference(
    from old: RowReader, to new: RowReader, in encoder: KeyEncoder,
    _ body: (_ key: RawSpan, _ value: RawSpan, _ isNew: Bool) throws(StoreError) -> Void
  ) throws(StoreError) -> Bool {
    guard let expanded, expanded.expansion == .elements else { return false }
    for (place, column) in parts.columns.enumerated() {
      guard old.isNull(column.place) == new.isNull(column.place),
        place == expanded.place || old.bytes(of: column).equals(new.bytes(of: column))
      else { return false }
    }
    if let condition {
      let holds = try condition.holds(for: new)
      guard try condition.holds(for: old) == holds else { return false }
      if !holds { return true }
    }
    let isWhole = schema.isUnique && !parts.columns.contains { new.isNull($0.place) }
    let columns = (isWhole ? wholeParts : parts).columns
    let column = columns[expanded.place]
    guard let oldList = ArrayReader(old.bytes(of: column), of: column.type),
      let newList = ArrayReader(new.bytes(of: column), of: column.type)
    else { throw new.fault(.rowValues, "an array is not whole elements") }
    let places = newList.difference(from: oldList)
    let gone = try ExpandedPart.differentElements(
      of: oldList, at: places.old, of: old, column, encoder)
    let come = try ExpandedPart.differentElements(
      of: newList, at: places.new, of: new, column, encoder)
    var kept: Set<Int> = []
    for index in 0..<come.count {
      if let place = gone.place(of: come.whole(index)) {
        kept.insert(place)
        continue
      }
      let isRecord = try encode(
        come.whole(index), of: expanded, columns, isWhole: isWhole, of: new, to: encoder)
      try body(encoder.key, isRecord ? new.key : RawSpan(), true)
    }
    if gone.count == kept.count { return true }
    // A removed element may still be elsewhere in the list.
    for others in [0..<places.new.lowerBound, places.new.upperBound..<newList.count] {
      for index in others {
        encoder.begin()
        try encoder.append(newList.element(index), column, of: new)
        if let place = gone.place(of: encoder.key) { kept.insert(place) }
      }
    }
    for index in 0..<gone.count where !kept.contains(index) {
      let isRecord = try encode(
        gone.whole(index), of: expanded, columns, isWhole: isWhole, of: old, to: encoder)
      try body(encoder.key, isRecord ? old.key : RawSpan(), false)
    }
    return true
  }

  /// Calls `body` with each entry of a record that the row stored of it may not have.
  ///
  /// - Parameter old: The stored row; empty if there is none.
  /// - Throws: as `forEachEntry(of:in:_:)`.
  func forEachNewEntry(
    of record: RowReader, over old: RawSpan, in encoder: KeyEncoder,
    _ body: (_ key: RawSpan, _ value: RawSpan, _ isSole: Bool) throws(StoreError) -> Void
  ) throws(StoreError) {
    if expanded != nil, old.byteCount > 0 {
      let layout = record.layout
      let before = try RowReader(key: record.key, row: old, layout: layout, blobs: record.blobs)
      if try hasSameEntries(before, record) { return }
      let isDone = try forEachDifference(from: before, to: record, in: encoder) {
        key, value, isNew throws(StoreError) in
        if isNew { try body(key, value, value.byteCount > 0 && schema.isUnique) }
      }
      if isDone { return }
    }
    try forEachEntry(of: record, in: encoder, body)
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
