/// Which commits a store's history keeps.
///
/// A history records for every commit when it was made, by whom, and which records it inserted, updated and
/// deleted. It is part of the commit: after a crash both exist or neither does. It costs a commit two lookups for each
/// record that it changes, and the bytes of their keys; until the commit is made, those keys and the old rows are
/// in memory.
public struct HistoryOptions: Hashable, Sendable {
  /// The number of commits that are kept; nil for all.
  public var commitCount: Int?
  /// The time that a commit is kept; nil for ever.
  public var age: Duration?
  /// Keeps the values that records had before they were updated or deleted.
  public var keepsOldValues: Bool

  public init(commitCount: Int? = nil, age: Duration? = nil, keepsOldValues: Bool = false) {
    self.commitCount = commitCount
    self.age = age
    self.keepsOldValues = keepsOldValues
  }

  /// Keeps commits for a time. Later commits remove the expired ones, a few each.
  public static func kept(for age: Duration, oldValues: Bool = false) -> HistoryOptions {
    HistoryOptions(age: age, keepsOldValues: oldValues)
  }

  /// Keeps the newest `count` commits.
  public static func keptCommits(_ count: Int, oldValues: Bool = false) -> HistoryOptions {
    HistoryOptions(commitCount: count, keepsOldValues: oldValues)
  }

  /// Keeps all commits, until `WriteTransaction.purgeHistory` removes them.
  public static var keptForever: HistoryOptions { HistoryOptions() }

  var retention: HistoryWriter.Retention {
    HistoryWriter.Retention(commits: commitCount.map { UInt64(max(1, $0)) }, age: age?.seconds)
  }
}

extension Duration {
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
