public import FoundationEssentials

/// The changes of one commit, as the history has them.
public struct HistoryCommit: Hashable, Sendable {
  /// The place after this commit, to resume from later.
  public let cursor: HistoryCursor
  public let date: Date
  /// The author given to `PersistentStore.write`.
  public let author: String?
  /// The changed records, each once, by type and primary key.
  public let changes: [HistoryChange]

  /// The commit's number.
  public var sequence: UInt64 { cursor.sequence }
}

/// The change of one record by one commit.
public struct HistoryChange: Hashable, Sendable {
  /// The record's stored name, in the version of the model that the commit was made with.
  public let record: String
  public let kind: Kind
  /// The parts of the primary key, in its order.
  public let key: [FieldValue]
  /// The record as it was before, if the store keeps old values.
  public let old: DynamicRecord?

  public enum Kind: Hashable, Sendable {
    case inserted, updated, deleted
  }
}
