/// Gives numbers to the records of a type that have none, in the order of their primary keys: in a migration, after which the
/// index of the numbers is built.
struct SequenceNumbering {
  private let columns: [SequenceColumn]
  private let layout: RowLayout
  /// The last number of each sequence.
  private var last: [UInt64] = []

  /// - Complexity: O(records) for each sequence.
  /// - Throws: `.corrupt`, `.io`.
  init(
    _ sequences: [SequenceColumn], of record: Entity, in trees: TreeAccess
  ) throws(StoreError) {
    // A primary key that is 0 stays so: others may lead to the record.
    columns = sequences.filter { !$0.isKey }
    layout = record.layout
    for column in columns {
      last.append(try column.greatest(of: record, in: trees, bySearching: true))
    }
  }

  /// Returns the numbers that the next record gets, by their places among the columns.
  ///
  /// - Throws: `.invalidValue` if a sequence is used up; `.corrupt`.
  mutating func values(of row: RowReader) throws(StoreError) -> [Int: FieldValue] {
    var values: [Int: FieldValue] = [:]
    for (place, column) in columns.enumerated() where column.isThere(in: row) {
      guard try row.value(column.column).isOpen else { continue }
      let (number, value) = try column.next(after: last[place], in: layout)
      last[place] = number
      values[column.column] = value
    }
    return values
  }
}
