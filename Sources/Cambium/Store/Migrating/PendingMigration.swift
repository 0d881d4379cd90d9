/// What a store that was migrated by `MigrationMode.deferred` has still to do.
public struct PendingMigration: Hashable, Sendable {
  /// The lowest version that rows may be of.
  public let from: Int
  /// The version of the store.
  public let to: Int
  /// How many records of each type are still of an older version, by its stored name; types without any are not
  /// here. What was committed since the last fold counts as it was before.
  public let records: [String: Int]
  /// The indexes that are not whole, and not planned with.
  public let indexes: [String]

  public var recordCount: Int { records.values.reduce(0, +) }
}

extension StoreSnapshot {
  /// What was still to be done of a deferred migration; nil if nothing was.
  ///
  /// - Complexity: O(branches above records of older versions).
  /// - Throws: `StoreError.corrupt`, `.io`.
  public func pendingMigration() throws(StoreError) -> PendingMigration? {
    let trees = trees
    guard let upgrades = trees.upgrades else { return nil }
    var (records, indexes): ([String: Int], [String]) = ([:], [])
    for record in types.schema.records {
      guard let record = types.trees(number: record.number) else { continue }
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
      from: Int(upgrades.from), to: Int(schema.version), records: records,
      indexes: indexes.sortedRarely()
    )
  }

  /// Whether the store still says that something is to be done.
  private func isSaid(_ upgrades: TreeUpgrades) throws(StoreError) -> Bool {
    if upgrades.isUnpublished { return true }
    return try trees.count(in: upgrades.pending) > 0
  }
}

extension PersistentStore {
  /// What is still to be done of a migration that was deferred; nil if nothing is.
  ///
  /// - Complexity: O(branches above records of older versions); constant where there is nothing.
  /// - Throws: `StoreError.corrupt`, `.io`, `.closed`, `.forked`.
  public var pendingMigration: PendingMigration? {
    get throws(StoreError) { try snapshot().pendingMigration() }
  }

  /// Does what is still to be done of a migration that was deferred, or some of it: rows of older versions are
  /// made new, and indexes whole.
  ///
  /// It is done in slices, each whole or not there, from any thread; others read and write meanwhile. Nothing that
  /// can be read changes by it.
  ///
  /// - Returns: whether anything is left.
  /// - Throws: `StoreError.corrupt`, `.limitExceeded` for a row that cannot be made new; `.full`, `.io`,
  ///   `.poisoned`, `.readOnly`, `.reentrant`, `.closed`, `.forked`: what was done until then stays done.
  @discardableResult
  public func finishMigration(
    budget: WorkBudget = .unlimited
  ) throws(StoreError) -> Bool {
    var finishing = DeferredFinishing(backend, types, budget) { body throws(StoreError) in
      try self.commit(body)
    }
    defer { if hub.isObserved { hub.publish(backend.progress) } }
    return try finishing.run()
  }
}
