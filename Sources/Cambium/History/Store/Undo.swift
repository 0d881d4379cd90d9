// Commits are undone by a commit that restores the values that the history has kept.

extension WriteTransaction {
  /// The place in the history before this transaction.
  public var historyCursor: HistoryCursor {
    HistoryCursor(writer.trees.sequence - 1, of: writer.trees.identity)
  }

  /// Undoes commits: the records that they changed return to their states at a place in the history. Changes that this
  /// transaction has made to those records are undone as well. Neither hooks nor delete rules run. Values that are stored outside of
  /// rows come back too, and tracked properties stay as they are. Fields that are computed from other records are computed again:
  /// if nothing else of a record has changed, nothing of it is undone, and another author's commit is not in the way.
  ///
  /// The store keeps a history with old values: `HistoryOptions(keepsOldValues: true)`.
  ///
  /// - Parameters:
  ///   - place: The place in the history after which commits are undone.
  ///   - author: The author whose commits are undone; nil for all commits.
  /// - Complexity: Linear in the changes after the place; the rows that are brought back are in memory, without the values that are
  ///   stored outside of them.
  /// - Throws: `StoreError.historyExpired` if the history does not reach back to the place, or has commits of another version
  ///   of the model; `.changesNotKept` if it has no old values; `.staleRecord` if another author has changed a record after
  ///   the commits that are undone; `.uniqueConflict` if another author's record has a value that would come back: then
  ///   nothing has changed. `.corrupt`, `.full`, `.io`. At the
  ///   commit, `.danglingReference` if another author's record leads to one that would be gone.
  public mutating func undo(
    since place: HistoryCursor, by author: String? = nil
  ) throws(StoreError) {
    try writer.checkUsable()
    let history = try StoreHistory(HistorySource(writer), since: place)
    let undone = try firstChanges(in: history, by: author)
    var restored: [RestoredRecord] = []
    for (place, change) in undone where change.change.kind != .inserted {
      guard let old = change.change.old else {
        throw .changesNotKept(record: place.entity.record.name)
      }
      let (entity, key) = (place.entity, place.key)
      let layout = entity.layout
      try RowReader(key: key.rawSpan, row: old.rawSpan, layout: layout).check()
      let tracked =
        entity.isTracked ? writer.trees.unstored.entry(of: key.rawSpan, in: entity.rows) : nil
      restored.append(RestoredRecord(place: place, row: old, tracked: tracked))
    }
    try writer.atomically { writer throws(StoreError) in
      // All of them first: two may have exchanged a value that only one can have.
      for (place, _) in undone {
        _ = try writer.deleteRow(place.key.rawSpan, of: place.entity)
        writer.keeper?.leaveOpen(place.key, of: place.entity)
      }
      for record in restored {
        try writer.write(
          record.place.key.rawSpan, record.row.rawSpan, tracked: record.tracked,
          of: record.place.entity, presence: .isNew, onConflict: .refuse)
      }
    }
  }

  /// A record that gets its old values again.
  private struct RestoredRecord {
    let place: UndonePlace
    let row: [UInt8]
    /// The values of its tracked properties, which are no part of the history; nil if it has none.
    let tracked: UnstoredEntry?
  }

  /// A record that is undone.
  private struct UndonePlace {
    let entity: Entity
    let key: [UInt8]
  }

  /// Returns the first change of each record by an author, by record and primary key, without those that only change fields
  /// that are computed from other records.
  private func firstChanges(
    in history: StoreHistory, by author: String?
  ) throws(StoreError) -> [(UndonePlace, StoreHistory.PlacedChange)] {
    var first: [UInt32: [[UInt8]: StoreHistory.PlacedChange]] = [:]
    // Changes of records with such fields: the next row of each says what has changed.
    var open: [UInt32: [[UInt8]: (placed: StoreHistory.PlacedChange, isUndone: Bool)]] = [:]
    func note(_ placed: StoreHistory.PlacedChange, isUndone: Bool) throws(StoreError) {
      let change = placed.change
      let known = first[change.record]?[change.key]
      if isUndone {
        if known == nil { first[change.record, default: [:]][change.key] = placed }
      } else if known != nil, let entity = entities.entity(number: change.record) {
        throw .staleRecord(
          record: entity.record.name, key: entity.text(ofKey: change.key.rawSpan))
      }
    }
    while let commit = try history.nextStored() {
      let isUndone = author == nil || commit.author == author
      for placed in commit.changes {
        let change = placed.change
        guard let entity = computed(change) else {
          try note(placed, isUndone: isUndone)
          continue
        }
        if let before = open[change.record]?[change.key],
          try !entity.isSameButComputed(before.placed.change, change.old, entities)
        {
          try note(before.placed, isUndone: before.isUndone)
        }
        open[change.record, default: [:]][change.key] = (placed, isUndone)
      }
    }
    for (number, records) in open {
      guard let entity = entities.entity(number: number) else { continue }
      for (key, last) in records {
        var row: [UInt8] = []
        let isThere = try writer.trees.copyValue(of: key.rawSpan, in: entity.rows, to: &row)
        if try !entity.isSameButComputed(last.placed.change, isThere ? row : nil, entities) {
          try note(last.placed, isUndone: last.isUndone)
        }
      }
    }
    var changes: [(UndonePlace, StoreHistory.PlacedChange)] = []
    for (number, records) in first.sortedRarely(by: { $0.key < $1.key }) {
      for (key, placed) in records.sortedRarely(by: { $0.key.rawSpan.compare($1.key.rawSpan) < 0 })
      {
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

  /// Returns the record type of a change if it has fields that are computed from other records.
  private func computed(_ change: StoredChange) -> Entity? {
    guard let derivations = entities.derivations,
      let entity = entities.entity(number: change.record),
      !derivations.aggregates(entity).isEmpty
    else { return nil }
    return entity
  }
}

extension Entity {
  /// Returns true if an update has changed nothing but fields that are computed from other records.
  ///
  /// - Parameter new: The row after the change; nil if that is not known.
  fileprivate func isSameButComputed(
    _ change: StoredChange, _ new: [UInt8]?, _ entities: Entities
  ) throws(StoreError) -> Bool {
    guard change.kind == .updated, let old = change.old, let new, let map = entities.derivations,
      change.version == layout.version
    else { return false }
    let computed = Set(map.aggregates(self).map(\.column))
    let layout = layout
    let key = change.key.rawSpan
    let (one, other) = (
      try RowReader(key: key, row: old.rawSpan, layout: layout),
      try RowReader(key: key, row: new.rawSpan, layout: layout)
    )
    for (index, column) in layout.columns.enumerated() where !computed.contains(index) {
      let place = column.place
      guard one.isNull(place) == other.isNull(place) else { return false }
      switch place.kind {
      case .fixed:
        let width = column.field.type.fixedWidth ?? 0
        guard one.row.part(place.index, width).equals(other.row.part(place.index, width)) else {
          return false
        }
      case .variable:
        guard one.bytes(place.index).equals(other.bytes(place.index)) else { return false }
      case .key, .composite: break
      }
    }
    return true
  }
}

extension PersistentStore {
  /// Undoes commits by a new commit: the records that they changed return to their states at a place in the history.
  /// Places that a program remembers divide its commits into groups.
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
