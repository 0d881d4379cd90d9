/// What opening a store found, repaired and left out, and why.
public struct OpenReport: Hashable, Sendable {
  /// Whether the store was made by this open.
  public var isNew = false
  /// The commits read from the log that the trees did not hold yet.
  public var replayedCommits = 0
  /// The last commit that is served.
  public var sequence: UInt64 = 0
  /// Why the log's tail was left out; nil where it ended as a log ends. What was acknowledged as
  /// durable is never in a tail.
  public var discardedTail: String?
  /// Damage that a second copy made good; a copy that a crash left half written looks the same.
  public var healed: [StoreError] = []
  /// Files that belonged to nothing, and were removed.
  public var removedFiles: [String] = []

  /// Where the store is that was there before, and that the model described otherwise; see
  /// `StoreOptions.onMismatch`. Nil where none was moved.
  public var setAside: String?

  public init() {}
}
