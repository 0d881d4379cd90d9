// Commits are undone by a commit that brings back what the history has kept.

extension WriteTransaction {
  /// The place in the history before this transaction.
  public var historyCursor: HistoryCursor {
    HistoryCursor(writer.trees.sequence - 1, of: writer.trees.identity)
  }

  /// Undoes commits: the records that they changed become what they were at a place in the history. Changes that this
  /// transaction has made to those records are undone as well. Neither hooks nor delete rules run.
  ///
  /// The store keeps a history with old values: `HistoryOptions(keepsOldValues: true)`.
  ///
  /// - Parameters:
  ///   - place: The place in the history after which commits are undone.
  ///   - author: The author whose commits are undone; nil for all commits.
  /// - Complexity: Linear in the changes after the place; what is brought back is in memory.
  /// - Throws: `StoreError.historyExpired` if the history does not reach back to the place, or has commits of another version
  ///   of the model; `.changesNotKept` if it has no old values; `.staleRecord` if another author has changed a record after
  ///   the commits that are undone; `.uniqueConflict` if another author's record has a value that would come back; `.missing`
  ///   if a large value was in no other record and is gone: then nothing has changed. `.corrupt`, `.full`, `.io`. At the
  ///   commit, `.danglingReference` if another author's record leads to one that would be gone.
  public mutating func undo(
    since place: HistoryCursor, by author: String? = nil
  ) throws(StoreError) {
    try writer.checkUsable()
    let history = try StoreHistory(HistorySource(writer), since: place)
    let undone = try firstChanges(in: history, by: author)
    var restored: [(entity: Entity, record: DynamicRecord)] = []
    for (place, change) in undone where change.change.kind != .inserted {
      let value = try history.read(change)
      guard let old = value.old else { throw .changesNotKept(record: place.entity.record.name) }
      restored.append((place.entity, old))
    }
    let (key, row) = (buffers.key, buffers.row)
    try writer.atomically { writer throws(StoreError) in
      // All of them first: two may have exchanged what only one can have.
      for (place, _) in undone {
        _ = try writer.deleteRow(place.key.rawSpan, of: place.entity)
        writer.keeper?.leaveOpen(place.key, of: place.entity)
      }
      for (entity, record) in restored {
        try record.encode(to: row, key: key, layout: entity.layout, defaults: entity.defaults)
        try writer.write(
          key.key, row.row, row.waiting, of: entity, presence: .isNew, onConflict: .refuse)
      }
    }
  }

  /// A record that is undone.
  private struct UndonePlace {
    let entity: Entity
    let key: [UInt8]
  }

  /// Returns the first change of each record by an author, by record and primary key.
  private func firstChanges(
    in history: StoreHistory, by author: String?
  ) throws(StoreError) -> [(UndonePlace, StoreHistory.PlacedChange)] {
    var first: [UInt32: [[UInt8]: StoreHistory.PlacedChange]] = [:]
    while let commit = try history.nextStored() {
      let isUndone = author == nil || commit.author == author
      for placed in commit.changes {
        let change = placed.change
        let known = first[change.record]?[change.key]
        if isUndone {
          if known == nil { first[change.record, default: [:]][change.key] = placed }
        } else if known != nil, let entity = entities.entity(number: change.record) {
          throw .staleRecord(
            record: entity.record.name, key: entity.text(ofKey: change.key.rawSpan))
        }
      }
    }
    var changes: [(UndonePlace, StoreHistory.PlacedChange)] = []
    for (number, records) in first.sorted(by: { $0.key < $1.key }) {
      for (key, placed) in records.sorted(by: { $0.key.rawSpan.compare($1.key.rawSpan) < 0 }) {
        guard let entity = entities.entity(number: number),
          placed.change.version == entity.layout.version
        else {
          throw .historyExpired(since: placed.place.sequence - 1, kept: writer.trees.sequence - 1)
        }
        changes.append((UndonePlace(entity: entity, key: key), placed))
      }
    }
    return changes
  }
}

extension PersistentStore {
  /// Undoes commits by a new commit: the records that they changed become what they were at a place in the history. Places
  /// that a program remembers divide its commits into groups.
  ///
  /// ```swift
  /// let start = try store.snapshot().historyCursor
  /// try rename(chapter, in: store)
  /// let undone = try store.undo(since: start)
  /// try store.undo(since: undone)  // renamed again
  /// ```
  ///
  /// - Parameter author: The author whose commits are undone, and of the new commit; nil for all commits.
  /// - Returns: The place before the new commit. To redo, undo since there.
  /// - Throws: as `write` and `WriteTransaction.undo(since:by:)`.
  @discardableResult
  public func undo(
    since place: HistoryCursor, by author: String? = nil, durability: Durability? = nil
  ) throws -> HistoryCursor {
    try write(durability: durability, author: author) { transaction in
      let before = transaction.historyCursor
      try transaction.undo(since: place, by: author)
      return before
    }
  }
}
