public import FoundationEssentials

/// What one commit did, as the history has it.
public struct HistoryCommit: Hashable, Sendable {
  /// The place behind it, to go on from later.
  public let cursor: HistoryCursor
  public let date: Date
  /// As given to `PersistentStore.write`.
  public let author: String?
  /// Each record once, by type and primary key.
  public let changes: [HistoryChange]

  /// The commit's number.
  public var sequence: UInt64 { cursor.sequence }
}

/// What one commit did to one record.
public struct HistoryChange: Hashable, Sendable {
  /// The record's stored name, in the version of the model that the commit was made with.
  public let record: String
  public let kind: Kind
  /// The parts of the primary key, in its order.
  public let key: [FieldValue]
  /// The record as it was before, where the store keeps old values.
  public let old: DynamicRecord?

  public enum Kind: Hashable, Sendable {
    case inserted, updated, deleted
  }
}
