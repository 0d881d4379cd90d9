public import FoundationEssentials

/// The date and author of a commit, as the history has them.
public struct CommitSummary: Hashable, Sendable {
  /// The commit's number.
  public let sequence: UInt64
  public let date: Date
  /// The author given to `PersistentStore.write`.
  public let author: String?
}

extension StoreSnapshot {
  /// Returns the last commits of the history, newest first; none if no history is kept.
  ///
  /// - Complexity: O(limit × log commits).
  /// - Throws: `StoreError.corrupt`, `.io`.
  public func lastCommits(_ limit: Int) throws(StoreError) -> [CommitSummary] {
    let cursor = try trees.cursor(in: entities.history)
    var commits: [CommitSummary] = []
    var isOn = try cursor.last()
    // The entry with the empty key is no commit's.
    while isOn, commits.count < limit, cursor.key.byteCount > 0 {
      let sequence = try HistoryKey(cursor.key).sequence
      let first = HistoryKey(sequence: sequence, part: 0)
      guard try cursor.seek(to: first.bytes.rawSpan), cursor.key.equals(first.bytes.rawSpan) else {
        throw .historyFault(first.bytes.rawSpan, "parts of the commit are missing")
      }
      var reader = HistoryPartReader(try cursor.value(), key: first)
      let (date, author) = try reader.commit()
      commits.append(
        CommitSummary(
          sequence: sequence, date: Date(timeIntervalSinceReferenceDate: date), author: author))
      isOn = try cursor.previous()
    }
    return commits
  }
}
