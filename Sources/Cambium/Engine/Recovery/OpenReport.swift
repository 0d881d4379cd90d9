/// A report of what opening a store found, repaired and left out.
public struct OpenReport: Hashable, Sendable {
  /// True if this open created the store.
  public var isNew = false
  /// The commits read from the log that the trees did not hold yet.
  public var replayedCommits = 0
  /// The number of the last commit.
  public var sequence: UInt64 = 0
  /// The reason for which the log's tail was left out; nil if the log ended properly. Commits that were acknowledged as
  /// durable are never in a tail.
  public var discardedTail: String?
  /// The damage that was repaired from a second copy; a copy that a crash left half written looks the same.
  public var healed: [StoreError] = []
  /// The files that belonged to nothing and were removed.
  public var removedFiles: [String] = []

  /// The path of the earlier store that was renamed because the model described it differently; nil if there is none. See
  /// `StoreOptions.schemaMismatchPolicy`.
  public var setAside: String?

  package init() {}
}
