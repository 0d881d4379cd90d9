/// The work that is left of a migration by `MigrationMode.deferred`.
public struct PendingMigration: Hashable, Sendable {
  /// The lowest version that rows may have.
  public let from: Int
  /// The version of the store.
  public let to: Int
  /// The number of records of each type that are still of an older version, by its stored name; types without any are left
  /// out. Changes since the last fold are not counted yet.
  public let records: [String: Int]
  /// The indexes that are not complete, and not used by queries.
  public let indexes: [String]

  public var recordCount: Int { records.values.reduce(0, +) }
}

extension StoreSnapshot {
  /// Returns the work that was left of a deferred migration; nil if there was none.
  ///
  /// - Complexity: O(branches above records of older versions).
  /// - Throws: `StoreError.corrupt`, `.io`.
  public func pendingMigration() throws(StoreError) -> PendingMigration? {
    let trees = trees
    guard let upgrades = trees.upgrades else { return nil }
    var (records, indexes): ([String: Int], [String]) = ([:], [])
    for record in entities.all {
      if let upgrade = upgrades[record.rows] {
        let count = try trees.count(below: upgrade.version, in: record.rows)
        if count > 0 { records[record.record.name] = count }
      }
      for index in record.indexes {
        if try !trees.isWhole(index.slot) { indexes.append(index.layout.schema.name) }
      }
    }
    if records.isEmpty, indexes.isEmpty, try !isSaid(upgrades) { return nil }
    return PendingMigration(
      from: Int(upgrades.from), to: schema.version, records: records,
      indexes: indexes.sortedRarely()
    )
  }

  /// Returns true if the store still states pending work.
  private func isSaid(_ upgrades: TreeUpgrades) throws(StoreError) -> Bool {
    if upgrades.isUnpublished { return true }
    return try trees.count(in: upgrades.pending) > 0
  }
}

extension PersistentStore {
  /// The work that is left of a deferred migration; nil if there is none.
  ///
  /// - Complexity: O(branches above records of older versions); constant if there is nothing left.
  /// - Throws: `StoreError.corrupt`, `.io`, `.closed`, `.forked`.
  public var pendingMigration: PendingMigration? {
    get throws(StoreError) { try snapshot().pendingMigration() }
  }

  /// Does the work that is left of a deferred migration, or a part of it: rewrites rows of older versions, and completes
  /// indexes.
  ///
  /// The work is done in slices, each committed wholly or not at all, from any thread; others read and write meanwhile. No
  /// record changes.
  ///
  /// - Returns: True if anything is left.
  /// - Throws: `StoreError.corrupt`, `.limitExceeded` for a row that cannot be upgraded; `.full`, `.io`, `.poisoned`,
  ///   `.readOnly`, `.reentrant`, `.closed`, `.forked`. Slices that were committed stay so.
  @discardableResult
  public func finishMigration(
    budget: WorkBudget = .unlimited
  ) throws(StoreError) -> Bool {
    var finishing = DeferredFinishing(backend, entities, budget) { body throws(StoreError) in
      try self.commit(body)
    }
    defer { if hub.isObserved { hub.publish(backend.progress) } }
    return try finishing.run()
  }
}
