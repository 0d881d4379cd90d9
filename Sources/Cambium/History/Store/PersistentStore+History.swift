#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

extension PersistentStore {
  /// Returns the history after a place, up to the newest commit that is on the disk.
  ///
  /// ```swift
  /// let history = try store.history()
  /// while let commit = try history.next() { print(commit.date, commit.changes.count) }
  /// ```
  ///
  /// - Parameter start: The place to begin after; nil for the oldest commit that is kept.
  /// - Complexity: O(log commits), and a wait for a flush if commits were not flushed yet: the commits returned
  ///   are never lost in a crash.
  /// - Throws: `StoreError.historyExpired` if commits after the place are no longer kept or were made without a history,
  ///   or if the place is of another store or of a later state of this one; `.corrupt`, `.io`, `.closed`, `.forked`,
  ///   `.outcomeUnknown`, `.poisoned`.
  public func history(since start: HistoryCursor? = nil) throws(StoreError) -> StoreHistory {
    let snapshot = try snapshot()
    try flush()
    return try snapshot.history(since: start)
  }
}

extension StoreSnapshot {
  /// Returns the history after a place, up to this state. Its last commits may be lost in a crash if they are relaxed
  /// ones.
  ///
  /// - Throws: as `PersistentStore.history(since:)`.
  public func history(since start: HistoryCursor? = nil) throws(StoreError) -> StoreHistory {
    try StoreHistory(HistorySource(self), since: start)
  }

  /// The place in the history after this state, from which to read the commits that follow.
  public var historyCursor: HistoryCursor { HistoryCursor(sequence, of: identity) }

  /// The extent of the history; nil if the store keeps none.
  ///
  /// - Complexity: O(1).
  /// - Throws: `StoreError.corrupt`, `.io`.
  public var historyExtent: HistoryExtent? {
    get throws(StoreError) {
      guard let floor = try HistoryFloor.state(trees, entities.history) else { return nil }
      let oldValues = floor.oldRows == .max ? nil : Swift.max(floor.oldRows, floor.commit)
      return HistoryExtent(
        start: HistoryCursor(floor.commit, of: identity), end: historyCursor,
        oldValuesStart: oldValues.map { HistoryCursor($0, of: identity) })
    }
  }
}

/// The extent of a store's history: how far back it reaches, and from where on commits can be undone.
public struct HistoryExtent: Hashable, Sendable {
  /// The place before the oldest commit that is kept. `history(since:)` of an earlier place throws `.historyExpired`.
  public let start: HistoryCursor
  /// The place after the newest commit.
  public let end: HistoryCursor
  /// The place from which on all commits are kept with the values that records had before them, so that they can be undone; nil
  /// if the newest commit is kept without.
  public let oldValuesStart: HistoryCursor?
}

extension WriteTransaction {
  /// Removes the commits that are older than `date` from the history.
  ///
  /// ```swift
  /// try transaction.purgeHistory(before: Date(timeIntervalSinceNow: -30 * 86_400))
  /// ```
  ///
  /// - Complexity: linear in their number.
  /// - Throws: `StoreError.corrupt`, `.full`, `.io`.
  public mutating func purgeHistory(before date: Date) throws(StoreError) {
    let limit = date.timeIntervalSinceReferenceDate
    try purgeHistory { _, date in date < limit }
  }

  /// Removes the commits up to a place from the history.
  ///
  /// ```swift
  /// try transaction.purgeHistory(through: cursor)
  /// ```
  ///
  /// - Throws: as `purgeHistory(before:)`; `StoreError.historyExpired` if the place is of another store, or of a later
  ///   state of this one. Nothing has changed then.
  public mutating func purgeHistory(through cursor: HistoryCursor) throws(StoreError) {
    let last = cursor.sequence
    guard cursor.isOf(writer.trees.identity), last < writer.trees.sequence else {
      let floor = try HistoryFloor.find(.transaction(writer.trees), entities.history)
      throw .historyExpired(since: last, kept: floor ?? writer.trees.sequence - 1)
    }
    try purgeHistory { sequence, _ in sequence <= last }
  }

  private func purgeHistory(_ isOld: (UInt64, Double) -> Bool) throws(StoreError) {
    try writer.checkUsable()
    try HistoryWriter(writer, entities).purge(isOld)
  }
}

extension HistoryWriter {
  fileprivate init(_ writer: RecordWriter, _ entities: Entities) {
    self.init(
      writer.trees, in: entities.history,
      HistoryReferences(entities, in: .transaction(writer.trees)))
  }
}

extension HistoryReferences {
  /// Creates the references of the history of a state, whose present records are `entities`.
  convenience init(_ entities: Entities, in trees: TreeAccess) {
    self.init(entities) { () throws(StoreError) in
      try StoredSchemas(trees, entities.schemas, path: "").all()
    }
  }
}

/// Writes the history of an open store. Requires the writer's turn.
final class HistoryKeeping: @unchecked Sendable {
  private let options: HistoryOptions
  /// The commit that was written last, by this process.
  private var last: UInt64?

  init(_ options: HistoryOptions) {
    self.options = options
  }

  /// Writes the changes of a transaction, if there are any.
  ///
  /// - Throws: `.corrupt`, `.full`, `.io`.
  func write(_ writer: RecordWriter, of entities: Entities, author: String?) throws(StoreError) {
    guard let changes = writer.history, !writer.trees.isEmpty else { return }
    let history = HistoryWriter(writer, entities)
    let now = Date.now.timeIntervalSinceReferenceDate
    let sequence = writer.trees.sequence
    let count = try history.write(
      changes, of: entities, after: last, date: now, author: author,
      keepsOld: options.keepsOldValues)
    try history.purge(options.retention, now: now, added: count)
    last = sequence
  }
}

/// Which commits a store's history keeps.
///
/// A history records for every commit when it was made, by whom, and which records it inserted, updated and
/// deleted. It is part of the commit: after a crash both exist or neither does. It costs a commit two lookups for each
/// record that it changes, and the bytes of their keys; until the commit is made, those keys and the old rows are
/// in memory.
public struct HistoryOptions: Hashable, Sendable {
  /// The number of commits that are kept; nil for all.
  package var commitCount: Int?
  /// The time that a commit is kept; nil for ever.
  package var age: Duration?
  /// Keeps the values that records had before they were updated or deleted.
  package var keepsOldValues: Bool

  /// Creates options that keep a number of commits, or commits for a time; without either, all of them.
  package init(commitCount: Int? = nil, age: Duration? = nil, keepsOldValues: Bool = false) {
    self.commitCount = commitCount
    self.age = age
    self.keepsOldValues = keepsOldValues
  }

  /// Keeps commits for a time. Later commits remove the expired ones, a few each.
  ///
  /// ```swift
  /// options.history = .kept(for: .seconds(30 * 86_400), oldValues: true)
  /// ```
  public static func kept(for age: Duration, oldValues: Bool = false) -> HistoryOptions {
    HistoryOptions(age: age, keepsOldValues: oldValues)
  }

  /// Keeps the newest `count` commits.
  ///
  /// ```swift
  /// options.history = .keptCommits(10_000)
  /// ```
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
