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

  /// The number of records of all types that are still of an older version.
  public var recordCount: Int { records.values.reduce(0, +) }
}

extension StoreSnapshot {
  /// Returns the work that was left of a deferred migration; nil if there was none.
  ///
  /// - Complexity: O(branches above records of older versions); O(these records) where a kind has left its hierarchy.
  /// - Throws: `StoreError.corrupt`, `.io`.
  public func pendingMigration() throws(StoreError) -> PendingMigration? {
    let trees = trees
    guard let upgrades = trees.upgrades else { return nil }
    var (records, indexes): ([String: Int], [String]) = ([:], [])
    for record in entities.all {
      if let upgrade = upgrades[record.rows] {
        let count = try trees.count(toUpgradeBy: upgrade, in: record.rows)
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
  /// - Complexity: O(branches above records of older versions); O(these records) where a kind has left its hierarchy; constant if
  ///   there is nothing left.
  /// - Throws: `StoreError.corrupt`, `.io`, `.closed`, `.forked`.
  public var pendingMigration: PendingMigration? {
    get throws(StoreError) { try snapshot().pendingMigration() }
  }

  /// Does the work that is left of a deferred migration, or a part of it: rewrites rows of older versions, and completes
  /// indexes.
  ///
  /// ```swift
  /// while try store.finishMigration(budget: .time(.milliseconds(50))) { rest() }
  /// ```
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
    try finishMigration(within: budget)
  }

  /// As the public one.
  ///
  /// - Parameter endsWhenCancelled: True if it ends when the task is cancelled, with something left.
  func finishMigration(
    within budget: WorkBudget, endsWhenCancelled: Bool = false
  ) throws(StoreError) -> Bool {
    var finishing = DeferredFinishing(
      backend, entities, budget, endsWhenCancelled: endsWhenCancelled
    ) { body throws(StoreError) in
      try self.commit(body)
    }
    defer { if hub.isObserved { hub.publish(backend.progress) } }
    return try finishing.run()
  }
}

/// Publishes steps whose rows are upgraded later, and opens stores that have such steps.
struct DeferredOpening {
  private let backend: any StoreBackend

  init(_ backend: any StoreBackend) {
    self.backend = backend
  }

  /// Has everything read through what the store says that is pending.
  ///
  /// - Throws: `.corrupt`, `.newerFormat`, `.io`.
  func usePending() throws(StoreError) {
    let slot = try backend.names.slot(of: PendingSteps.treeName)
    if try backend.trees().count(in: slot) == 0 { return backend.upgrades.set(nil) }
    let schemas = try StoredSchemas(backend).all()
    try use(try pending(schemas), schemas)
  }

  /// Returns the steps that are pending in the store.
  ///
  /// - Parameter schemas: Of all versions that it has.
  /// - Throws: `.corrupt`, `.io`.
  func pending(_ schemas: [Schema]) throws(StoreError) -> PendingSteps {
    try PendingSteps(
      reading: backend.trees(), backend.names.slot(of: PendingSteps.treeName), schemas)
  }

  /// Has everything read through what is pending from now on.
  ///
  /// - Parameter isUnpublished: True if the store itself is of a version before the last.
  /// - Throws: `.corrupt`.
  func use(
    _ pending: PendingSteps, _ schemas: [Schema], isUnpublished: Bool = false
  ) throws(StoreError) {
    if pending.isEmpty { return backend.upgrades.set(nil) }
    var rows: [TreeSlot: RowUpgrade] = [:]
    for (number, upgrade) in try pending.upgrades(schemas) {
      rows[try backend.names.slot(of: Entity.name(ofRows: number))] = upgrade
    }
    var unbuilt: [TreeSlot: [UInt8]] = [:]
    for index in pending.builds.keys {
      let slot = try backend.names.slot(of: Entity.name(ofIndex: index))
      unbuilt[slot] = PendingSteps.key(ofIndex: index)
    }
    let upgrades = TreeUpgrades(
      rows, unbuilt: unbuilt, pending: try backend.names.slot(of: PendingSteps.treeName),
      version: schemas.last?.storedVersion ?? 0, isUnpublished: isUnpublished)
    backend.upgrades.set(upgrades)
    try backend.foldThrough(upgrades)
  }

  /// Makes the store one of the last step's version, in one commit that rewrites no row.
  ///
  /// - Parameters:
  ///   - steps: In their order, each deferrable.
  ///   - schemas: Of all versions that the store has.
  /// - Complexity: O(branches), whatever the rows are.
  /// - Throws: `.invalidDescription`; what a commit throws: then nothing has changed.
  func publish(_ steps: [SchemaChange], after schemas: [Schema]) throws(StoreError) {
    guard let from = schemas.last else { return }
    let to = steps.last?.to ?? from
    let kept = TreePlaces(of: to).trees
    var emptied = TreePlaces(of: from).trees.subtracting(kept)
    for index in steps.flatMap(\.emptiedIndexes) { emptied.insert(Entity.name(ofIndex: index)) }
    let begins = LeavingTrees(steps)
    // A tree is emptied before others begin as it is, and one that goes to another is no longer there afterwards.
    emptied.subtract(begins.moved.map { Entity.name(ofRows: $0) })
    let operations = try self.operations(begins)
    var pending = try pending(schemas)
    pending.add(steps)
    let all = schemas + steps.map(\.to)
    let entries = try pending.entries(all)
    let names = backend.names
    let tree = try names.slot(of: PendingSteps.treeName)
    let schemaTree = try names.slot(of: Schema.treeName)
    let state = KeptStateChange.keep(version: from.storedVersion, label: from.label ?? "")
    let moves = try KindPlacing(from: from, to: to, through: steps).moves.filter(\.changesPlace)
    let renames = FieldRenames(from: from, to: to, moves)
    let metadata = try names.slot(of: Entities.metadataName)
    try MigrationMark.discard(in: backend)
    try backend.commit { trees throws(StoreError) in
      try renames.apply(to: trees, in: metadata, since: metadata)
      for name in emptied.sortedRarely() { try trees.removeAll(in: names.slot(of: name)) }
      for step in steps {
        let (key, bytes) = (Schema.key(of: step.to.storedVersion), try step.to.published())
        try trees.put(key.rawSpan, bytes.rawSpan, in: schemaTree)
      }
      try trees.removeAll(in: tree)
      for (key, value) in entries {
        try trees.put(key.rawSpan, value.rawSpan, in: tree)
      }
      if steps.contains(where: \.changesReferences) {
        try BlobRecount.markDue(in: trees, names)
      }
      trees.addWork {
        $0.keeping = [state]
        $0.operations = operations
      }
    }
    try use(pending, all)
  }

  private func operations(_ trees: LeavingTrees) throws(StoreError) -> [TreeOperation] {
    var operations: [TreeOperation] = []
    for begin in trees.begins {
      let source = try backend.names.slot(of: Entity.name(ofRows: begin.source))
      let target = try backend.names.slot(of: Entity.name(ofRows: begin.target))
      operations.append(begin.isMoved ? .move(source, to: target) : .copy(source, to: target))
    }
    return operations
  }
}

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
    endsWhenCancelled: Bool = false, sliceCount: Int = 10_000, commit: @escaping Commit
  ) {
    self.commit = commit
    self.backend = backend
    self.entities = entities
    self.budget = WorkBudget.Remaining(budget, endsWhenCancelled: endsWhenCancelled)
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
        try makeRowsNew(in: tree, upgrades)
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

  private mutating func makeRowsNew(
    in tree: TreeSlot, _ upgrades: TreeUpgrades
  ) throws(StoreError) {
    let trees = try backend.trees()
    let size = Int(trees.liveBytes(in: tree)) / max(1, try trees.estimatedCount(in: tree)) + 1
    let count = budget.slice(atMost: sliceCount, recordSize: size)
    if upgrades[tree]?.hidesRows ?? false {
      // Dropping hidden rows changes the count of the tree, so a commit does it: nothing was counted on top of one yet.
      let slice = upgrades.transform(tree, .first(count))
      try commit { trees throws(StoreError) in trees.addWork { $0.transforms[tree] = slice } }
    } else {
      try backend.upgrade(tree, first: count)
    }
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
