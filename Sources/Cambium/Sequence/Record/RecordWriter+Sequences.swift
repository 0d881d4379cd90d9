// Numbers records as they are written.

extension RecordWriter {
  /// A record with the numbers that its sequences give it.
  struct NumberedRecord {
    var key: [UInt8]
    var row: [UInt8]
    /// The numbers above the last ones.
    var given: [SequenceIdentity: UInt64] = [:]
  }

  /// Gives a record the numbers that it leaves open. Numbers count as given once it is written: see `SequenceNumbers.note`.
  ///
  /// - Parameter old: The stored row; empty if there is none.
  /// - Throws: `.invalidValue` if a sequence is used up, or takes no such number; `.corrupt`, `.io`.
  func numbered(
    _ key: RawSpan, _ row: RawSpan, of record: Entity, over old: [UInt8],
    _ sequences: [SequenceColumn]
  ) throws(StoreError) -> NumberedRecord {
    let reader = try record.row(key: key, row: row)
    let stored = try storedNumbers(sequences, key, old, of: record)
    var numbered = NumberedRecord(key: key.array(), row: row.array())
    var values: [Int: FieldValue] = [:]
    for column in sequences where column.isThere(in: reader) {
      // A record with the key 0 may have been written before there was a sequence.
      if column.isKey, !old.isEmpty { continue }
      let last = try numbers.last(of: column, in: record, trees, keptIn: entities.sequences)
      switch try column.choice(
        for: try reader.value(column.column), stored: stored[column.column], after: last,
        in: record.layout)
      {
      case .keep(let value): values[column.column] = value
      case .give(let number, let value):
        values[column.column] = value
        numbered.given[column.identity] = number
      case .accept(let number): if number > last { numbered.given[column.identity] = number }
      case .ignore: break
      }
    }
    if let column = sequences.first(where: \.isKey)?.column, let value = values[column] {
      values[column] = nil
      let encoder = KeyEncoder()
      try encoder.encode(primaryKey: [value], of: record)
      numbered.key = encoder.key.array()
    }
    if values.isEmpty { return numbered }
    let changed = buffers.numberedRow
    try reader.copy(to: changed, replacing: values)
    numbered.row = changed.row.array()
    return numbered
  }

  /// The values that a stored row has in columns with sequences, by their places.
  private func storedNumbers(
    _ sequences: [SequenceColumn], _ key: RawSpan, _ old: [UInt8], of record: Entity
  ) throws(StoreError) -> [Int: FieldValue] {
    if old.isEmpty { return [:] }
    let row = try record.row(key: key, row: old.rawSpan)
    var values: [Int: FieldValue] = [:]
    for column in sequences where column.isThere(in: row) {
      values[column.column] = try row.value(column.column)
    }
    return values
  }

  /// Writes the last numbers that the transaction has given, before it commits.
  ///
  /// - Throws: `.full`, `.io`, `.corrupt`.
  func keepNumbers() throws(StoreError) {
    for (key, value) in numbers.changed {
      try trees.put(key.rawSpan, value.rawSpan, in: entities.sequences)
    }
  }
}

/// The effect of a sequence on a record that is written.
enum SequenceChoice: Equatable {
  /// The record leaves its number open, and keeps the one that it has in the store.
  case keep(FieldValue)
  /// The record leaves its number open, and gets the next one.
  case give(UInt64, FieldValue)
  /// The record has a number of its own.
  case accept(UInt64)
  /// The record has a value of its own that is below 1, so the sequence does not count it.
  case ignore
}

extension SequenceColumn {
  /// Decides on the number of a record.
  ///
  /// - Parameters:
  ///   - value: The value that the record is saved with.
  ///   - stored: The value that it has in the store; nil if it is new.
  ///   - last: The last number of the sequence.
  /// - Throws: `.invalidValue` if the sequence is used up, or would have a gap.
  func choice(
    for value: FieldValue, stored: FieldValue?, after last: UInt64, in layout: RowLayout
  ) throws(StoreError) -> SequenceChoice {
    if value.isOpen {
      if let stored, !stored.isOpen { return .keep(stored) }
      let (number, value) = try next(after: last, in: layout)
      return .give(number, value)
    }
    if rule.hasNoGaps {
      if let stored, !stored.isOpen {
        guard stored.isSame(as: value) else {
          throw gap("a record keeps its number, \(stored), and \(value) would leave a gap", layout)
        }
      } else if value.sequenceNumber.map({ $0 > rule.next(after: last) ?? .max }) ?? true {
        let next = rule.next(after: last).map { "\($0)" } ?? "none"
        throw gap("\(value) would leave a gap; the next number is \(next)", layout)
      }
    }
    return value.sequenceNumber.map { .accept($0) } ?? .ignore
  }

  private func gap(_ reason: String, _ layout: RowLayout) -> StoreError {
    .invalidValue(
      record: layout.record.name, field: layout.columns[column].field.name,
      reason: "\(reason). Save the record with 0 or nil to have it numbered")
  }
}
