/// The numbers of entries and rows that one query reads of related records: to find their keys first, and to look them up for
/// each record. One query has it, on one thread.
final class RelatedReads: @unchecked Sendable {
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private(set) var entryCount = 0
  @exclusivity(unchecked) private(set) var rowCount = 0

  func note(entries: Int = 0, rows: Int = 0) {
    unsafe entryCount += entries
    unsafe rowCount += rows
  }
}
