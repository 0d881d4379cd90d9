/// Writes the changes of a transaction into the history, within the transaction, and purges old entries.
///
/// Every commit has its entry, also one that changes no record: so it shows where commits were made by whom
/// keeps no history. The history then starts again after them.
struct HistoryWriter {
  private let trees: TransactionTrees
  private let slot: TreeSlot
  /// The blobs of old rows; nil if the store has none.
  private let references: HistoryReferences?
  /// The commit that is being made.
  private let sequence: UInt64

  /// The highest number of entries that one commit removes, besides as many as it adds.
  private static var slice: Int { 16 }

  init(_ trees: TransactionTrees, in slot: TreeSlot, _ references: HistoryReferences? = nil) {
    self.trees = trees
    self.slot = slot
    self.references = trees.blobSession == nil ? nil : references
    sequence = trees.sequence
  }

  /// The commits that a history keeps. A commit is removed if either limit says so.
  struct Retention: Hashable, Sendable {
    /// The number of commits; nil for all.
    var commits: UInt64?
    /// In seconds; nil for ever.
    var age: Double?
  }
}

// MARK: Writing

extension HistoryWriter {
  /// Writes the commit's parts.
  ///
  /// - Parameters:
  ///   - last: The commit that was written last, if that is known.
  ///   - date: In seconds since 2001-01-01 00:00:00 UTC.
  /// - Returns: how many parts.
  /// - Complexity: a lookup for each record that was changed.
  /// - Throws: `.corrupt`, `.full`, `.io`.
  func write(
    _ changes: ChangedRecords, of entities: Entities, after last: UInt64?, date: Double,
    author: String?, keepsOld: Bool
  ) throws(StoreError) -> Int {
    try noteBeginning(after: last, keepsOld: keepsOld)
    var part = HistoryPart(date: date, author: author)
    var count: UInt32 = 0
    func end() throws(StoreError) {
      try put(part, count)
      count += 1
      part = HistoryPart()
    }
    for number in changes.before.keys.sortedRarely() {
      guard let record = entities.entity(number: number) else { continue }
      let rows = changes.before[number] ?? [:]
      for key in rows.keys.sortedRarely(by: { $0.rawSpan.compare($1.rawSpan) < 0 }) {
        let old = rows[key] ?? nil
        guard let kind = try kind(of: key, from: old, in: record) else { continue }
        if part.bytes.count >= HistoryPart.sizeMax { try end() }
        let kept = keepsOld ? old : nil
        let pieces = part.append(
          kind, record: number, version: record.layout.version, key: key, old: kept)
        if let kept { try references?.retain(key, kept, of: record, in: trees) }
        if pieces.isEmpty { continue }
        try end()
        for piece in pieces {
          part = piece
          try end()
        }
      }
    }
    if count == 0 || !part.bytes.isEmpty { try end() }
    return Int(count)
  }

  /// Returns the kind of a record's change; nil if it is unchanged.
  private func kind(
    of key: [UInt8], from old: [UInt8]?, in record: Entity
  ) throws(StoreError) -> HistoryKind? {
    var new: [UInt8] = []
    let isThere = try trees.copyValue(of: key.rawSpan, in: record.rows, to: &new)
    guard let old else { return isThere ? .inserted : nil }
    if !isThere { return .deleted }
    return old.rawSpan.equals(new.rawSpan) ? nil : .updated
  }

  private func put(_ part: HistoryPart, _ number: UInt32) throws(StoreError) {
    let key = HistoryKey(sequence: sequence, part: number)
    try put(key.bytes, part.bytes)
  }

  private func put(_ key: [UInt8], _ value: [UInt8]) throws(StoreError) {
    try trees.put(key.rawSpan, value.rawSpan, in: slot)
  }

  /// Has the history begin after the commit, if there is one: entries before it lead to another state.
  func beginAnew() throws(StoreError) {
    guard var floor = try HistoryFloor.state(TreeAccess.transaction(trees), slot) else { return }
    floor.commit = sequence
    try put([], floor.encoded)
  }

  /// Writes where the history begins, and from which commit on it has old rows, if this commit changes that.
  private func noteBeginning(after last: UInt64?, keepsOld: Bool) throws(StoreError) {
    let trees = TreeAccess.transaction(trees)
    let known = try HistoryFloor.state(trees, slot)
    var floor = known ?? HistoryFloor(commit: sequence - 1, oldRows: .max)
    if last != sequence - 1 {
      let cursor = try trees.cursor(in: slot)
      var isThere = false
      if try cursor.last(), cursor.key.byteCount > 0 {
        isThere = try HistoryKey(cursor.key).sequence == sequence - 1
      }
      if !isThere { floor.commit = sequence - 1 }
    }
    if !keepsOld {
      floor.oldRows = .max
    } else if floor.oldRows == .max {
      floor.oldRows = sequence - 1
    }
    if floor != known { try put([], floor.encoded) }
  }
}

// MARK: Taking out

extension HistoryWriter {
  /// Purges some of the entries that are too old.
  ///
  /// - Parameter added: How many entries the commit has added.
  /// - Complexity: A lookup, and O(entries that it purges).
  func purge(_ retention: Retention, now: Double, added: Int) throws(StoreError) {
    try purge(atMost: Self.slice + 2 * added) { sequence, date in
      if let commits = retention.commits, self.sequence - sequence >= commits { return true }
      if let age = retention.age, now - date > age { return true }
      return false
    }
  }

  /// Takes out commits from the oldest on, as long as they are too old.
  ///
  /// - Parameter isOld: Is handed the commit's number and date.
  func purge(
    atMost limit: Int = .max, _ isOld: (_ sequence: UInt64, _ date: Double) -> Bool
  ) throws(StoreError) {
    guard var beginning = try HistoryFloor.state(TreeAccess.transaction(trees), slot) else {
      return
    }
    var floor = beginning.commit
    var keys: [HistoryKey] = []
    var released: [BlobReference] = []
    let cursor = try TreeAccess.transaction(trees).cursor(in: slot)
    var isOn = try cursor.seek(to: HistoryKey(sequence: 1, part: 0).bytes.rawSpan)
    while isOn, keys.count < limit {
      let key = try HistoryKey(cursor.key)
      if key.sequence > floor {
        var reader = HistoryPartReader(try cursor.value(), key: key)
        guard key.sequence < sequence, isOld(key.sequence, try reader.commit().date) else { break }
        floor = key.sequence
      }
      guard let references else {
        keys.append(key)
        isOn = try cursor.next()
        continue
      }
      let part = try cursor.readHistoryPart(&isOn)
      keys += part.keys
      for change in part.changes {
        try references.forEachReference(of: change) { released.append($0) }
      }
    }
    for key in keys { _ = try trees.remove(key.bytes.rawSpan, in: slot) }
    try references?.release(released, in: trees)
    if floor == beginning.commit { return }
    beginning.commit = floor
    try put([], beginning.encoded)
  }
}

/// Where a history begins.
struct HistoryFloor: Hashable {
  /// The last commit that the history does not have.
  var commit: UInt64
  /// The last commit that is there without old rows, or not at all; `UInt64.max` if the newest commit is.
  var oldRows: UInt64

  var encoded: [UInt8] {
    var value: [UInt8] = []
    value.append(integer: commit)
    value.append(integer: oldRows)
    return value
  }

  /// Returns the floor of a state's history; nil if no history is kept.
  ///
  /// - Throws: `.corrupt` (H1).
  static func find(_ trees: TreeAccess, _ slot: TreeSlot) throws(StoreError) -> UInt64? {
    try state(trees, slot)?.commit
  }

  /// Returns where a state's history begins; nil if no history is kept.
  ///
  /// - Throws: `.corrupt` (H1).
  static func state(_ trees: TreeAccess, _ slot: TreeSlot) throws(StoreError) -> HistoryFloor? {
    var value: [UInt8] = []
    let key: [UInt8] = []
    guard try trees.copyValue(of: key.rawSpan, in: slot, to: &value) else { return nil }
    guard value.count == 16 else {
      throw .historyFault(key.rawSpan, "it is \(value.count) bytes")
    }
    return HistoryFloor(
      commit: value.rawSpan.load(0, as: UInt64.self),
      oldRows: value.rawSpan.load(8, as: UInt64.self))
  }
}
