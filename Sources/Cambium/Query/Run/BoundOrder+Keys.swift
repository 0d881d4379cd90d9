internal import FoundationEssentials

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
