/// Marks of related rows, by which observers notice changes: a hash of 128 bits of each row, and of the rows that are
/// included with it.
///
/// Inclusions nest, so that each one leaves the marks of its records here for the one around it.
@usableFromInline
final class RowMarks {
  /// The marks of the records that are loaded now, of those around them before.
  private var levels: [[Mark]] = []
  /// The marks of the last inclusion, by the record that it was for.
  private var last: [Mark] = []

  typealias Mark = SipHash128

  private static func combined(_ marks: some Sequence<Mark>) -> Mark {
    var bytes: [UInt8] = []
    for mark in marks {
      bytes.append(integer: mark.low)
      bytes.append(integer: mark.high)
    }
    return Mark(of: bytes.rawSpan)
  }

  /// Begins with records that others lead to, or that a query has.
  @usableFromInline
  func begin(_ count: Int) {
    levels.append([Mark](repeating: Mark(low: 0, high: 0), count: count))
  }

  /// Adds the marks of the last inclusion to those of the records that it was for.
  @usableFromInline
  func addLast() {
    let level = levels.count - 1
    for place in last.indices {
      levels[level][place] = Self.combined([levels[level][place], last[place]])
    }
  }

  /// Ends with the records, whose marks are those of all that is included with them.
  @usableFromInline
  func end() { last = levels.removeLast() }

  /// Leaves the marks of the lists of related records.
  ///
  /// - Parameters:
  ///   - rows: The related rows.
  ///   - lists: The places of those that each record leads to.
  @usableFromInline
  func divide(_ rows: WantedRows, among lists: [[Int]]) {
    let marks = unsafe zip(rows.marks, last).map { Self.combined([$0, $1]) }
    last = lists.map { list in Self.combined(list.map { marks[$0] }) }
  }

  /// Returns the marks of the records of a query.
  func taken() -> [Mark] {
    defer { last = [] }
    return last
  }
}
