/// Which commits a store's history keeps.
///
/// A history says of every commit when it was made, by whom, and which records it inserted, updated and
/// deleted. It is written with the commit: what a crash leaves of one, it leaves of both. It costs a commit
/// two lookups for each record that it changes, and the bytes of their keys; until the commit is made, those keys and
/// the rows that were there before are in memory.
public struct HistoryOptions: Hashable, Sendable {
  /// How many commits are kept; nil for all.
  public var commitCount: Int?
  /// How long a commit is kept; nil for ever.
  public var age: Duration?
  /// Whether the values are kept that records had before they were updated or deleted.
  public var keepsOldValues: Bool

  public init(commitCount: Int? = nil, age: Duration? = nil, keepsOldValues: Bool = false) {
    self.commitCount = commitCount
    self.age = age
    self.keepsOldValues = keepsOldValues
  }

  /// Keeps commits for so long. They are taken out by later commits, some by each.
  public static func kept(for age: Duration, oldValues: Bool = false) -> HistoryOptions {
    HistoryOptions(age: age, keepsOldValues: oldValues)
  }

  /// Keeps so many commits.
  public static func keptCommits(_ count: Int, oldValues: Bool = false) -> HistoryOptions {
    HistoryOptions(commitCount: count, keepsOldValues: oldValues)
  }

  /// Keeps all commits, but for those that are taken out by `WriteTransaction.purgeHistory`.
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
