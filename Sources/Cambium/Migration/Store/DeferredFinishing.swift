/// Does what was published before it was done: makes rows new and indexes whole, slice by slice. Each slice is
/// there as a whole or not at all; others commit between them.
struct DeferredFinishing {
  private let backend: any StoreBackend
  private let entities: Entities
  private var budget: WorkBudget.Remaining
  /// The highest number of records in a slice.
  private let sliceCount: Int
  private let commit: Commit

  typealias Commit = (_ body: (TransactionTrees) throws(StoreError) -> Void) throws(StoreError) ->
    Void

  /// - Parameter commit: Makes a durable commit.
  init(
    _ backend: any StoreBackend, _ entities: Entities, _ budget: WorkBudget = .unlimited,
    sliceCount: Int = 10_000, commit: @escaping Commit
  ) {
    self.commit = commit
    self.backend = backend
    self.entities = entities
    self.budget = WorkBudget.Remaining(budget)
    self.sliceCount = sliceCount
  }

  /// - Returns: whether anything is left to be done.
  /// - Throws: `.corrupt`, `.limitExceeded` where a row cannot be made new; `.full`, `.io`, `.readOnly`.
  mutating func run() throws(StoreError) -> Bool {
    guard let upgrades = backend.upgrades.current else { return false }
    if backend.isReadOnly { throw .readOnly(path: backend.path) }
    for tree in upgrades.trees {
      guard let upgrade = upgrades[tree] else { continue }
      while let lowest = try backend.trees().lowestVersion(in: tree), lowest < upgrade.version {
        if budget.isSpent { return true }
        try makeRowsNew(in: tree)
      }
    }
    for entity in entities.all {
      for index in entity.indexes {
        guard let key = upgrades.unbuilt[index.slot] else { continue }
        while try backend.trees().contains(key.rawSpan, in: upgrades.pending) {
          if budget.isSpent { return true }
          try build(index, of: entity, key, upgrades.pending)
        }
      }
    }
    try end(upgrades)
    return false
  }

  private mutating func makeRowsNew(in tree: TreeSlot) throws(StoreError) {
    let trees = try backend.trees()
    let size = Int(trees.liveBytes(in: tree)) / max(1, try trees.count(in: tree)) + 1
    let count = budget.slice(atMost: sliceCount, recordSize: size)
    try backend.upgrade(tree, first: count)
    budget.take(count, size: size)
  }

  /// Says that nothing is pending any more.
  private func end(_ upgrades: TreeUpgrades) throws(StoreError) {
    try commit { trees throws(StoreError) in try trees.removeAll(in: upgrades.pending) }
    upgrades.end()
  }
}

// MARK: Indexes

extension DeferredFinishing {
  /// Puts the entries of the next records into an index. Whoever writes records keeps it in step meanwhile.
  private mutating func build(
    _ index: Entity.IndexTree, of record: Entity, _ pendingKey: [UInt8],
    _ pending: TreeSlot
  ) throws(StoreError) {
    let limit = budget.slice(atMost: sliceCount, recordSize: 64)
    var count = 0
    try commit { trees throws(StoreError) in
      let reading = TreeAccess.transaction(trees)
      var done: [UInt8] = []
      guard try reading.copyValue(of: pendingKey.rawSpan, in: pending, to: &done) else { return }
      let (cursor, key) = (try reading.cursor(in: record.rows), KeyEncoder())
      // Nothing changes while rows are read.
      var (entries, last): ([(key: [UInt8], value: [UInt8])], [UInt8]?) = ([], nil)
      var isOn = try cursor.seek(behind: done)
      while isOn, count < limit {
        let row = try record.row(key: cursor.key, row: try cursor.value())
        try index.layout.forEachEntry(of: row, in: key) { key, value, _ throws(StoreError) in
          entries.append((key.array(), value.array()))
        }
        count += 1
        if count == limit { last = cursor.key.array() }
        isOn = try cursor.next()
      }
      for (key, value) in entries {
        try trees.put(key.rawSpan, value.rawSpan, in: index.slot)
      }
      if let last {
        try trees.put(pendingKey.rawSpan, last.rawSpan, in: pending)
      } else {
        _ = try trees.remove(pendingKey.rawSpan, in: pending)
      }
    }
    budget.take(count, size: 64)
  }
}
