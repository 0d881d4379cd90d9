/// The numbers of sources that an import has read, by their outcome.
public struct ImportReport: Hashable, Sendable {
  /// Sources of which new records were made.
  public var inserted = 0
  /// Sources that changed an existing record.
  public var updated = 0
  /// Sources that left an existing record as it is, so nothing was written.
  public var unchanged = 0
  /// Sources of which nothing was made, as the caller decided.
  public var skipped = 0
  /// Sources that were passed over, since a later one has the same identifier.
  public var duplicates = 0

  /// Creates a report of no sources.
  @usableFromInline package init() {}

  /// Adds the numbers of another import.
  package static func += (report: inout ImportReport, other: ImportReport) {
    report.inserted += other.inserted
    report.updated += other.updated
    report.unchanged += other.unchanged
    report.skipped += other.skipped
    report.duplicates += other.duplicates
  }
}

extension ImportReport: CustomStringConvertible {
  /// The numbers of records, as a sentence.
  public var description: String {
    "\(inserted) inserted, \(updated) updated, \(unchanged) unchanged, \(skipped) skipped, \(duplicates) duplicates"
  }
}
