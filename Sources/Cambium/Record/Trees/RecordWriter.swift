#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// Changes the records of one transaction, and keeps their indexes in step.
///
/// Every record that is written or deleted passes through it: here, others that depend on the record are found.
///
///     derived fields ─▶ all that can refuse: unique indexes ─▶ references ─▶ index entries ─▶ row ─▶ fields of others
///                                                                                                  that are derived of it
///
/// Reads come before writes. If a write fails in the middle nevertheless, for want of space or
/// because of damage, the transaction can only be rolled back: committing throws the same error again.
@usableFromInline
final class RecordWriter {
  @usableFromInline let entities: Entities
  let trees: TransactionTrees
  @usableFromInline let buffers: WriteBuffers
  /// The author that the program names; observers and the history see it.
  let author: String?
  /// Why the transaction cannot be committed any more.
  private(set) var failure: StoreError?
  /// The number of writes.
  private var writeCount = 0
  /// The number of savepoints when it failed.
  private var failureDepth = 0
  private var depth = 0
  /// The number of hooks that are running within one another.
  private var hookDepth = 0
  /// The records before their first changes, if the program keeps them.
  private(set) var changes: ChangedRecords?
  /// The records before their first changes in the transaction, if a history is kept.
  private(set) var history: ChangedRecords?
  /// Notes which records are changed, if they are observed.
  let notes: KeyNotes?
  /// The most that a query of the transaction may take; nil for no bound.
  let queryBudget: QueryBudget?
  /// The time of its writes.
  private(set) lazy var time = Date()
  /// The last numbers of sequences, with those that the transaction has given.
  var numbers = SequenceNumbers()
  /// The primary key of the last record that was written of those whose key is of a sequence.
  var numberedKey: [UInt8] = []
  /// Checks references when the transaction commits; `nil` if the schema has no checked reference.
  private(set) lazy var keeper = entities.relations.map { RelationKeeper($0, .transaction(trees)) }

  private var newKey: KeyEncoder { buffers.newEntry }
  private var oldKey: KeyEncoder { buffers.oldEntry }
  private var oldRow: [UInt8] = []
  private var holder: [UInt8] = []

  /// - Parameters:
  ///   - buffers: Memory that is the writer's alone while it is used.
  ///   - notes: Takes down which records are changed.
  ///   - keepsHistory: True if previous states are kept from the beginning.
  init(
    _ trees: TransactionTrees, _ entities: Entities, buffers: WriteBuffers = WriteBuffers(),
    author: String? = nil, notes: KeyNotes? = nil, keepsHistory: Bool = false,
    queryBudget: QueryBudget? = nil
  ) {
    self.queryBudget = queryBudget
    self.trees = trees
    self.entities = entities
    self.buffers = buffers
    self.author = author
    self.notes = notes
    history = keepsHistory ? ChangedRecords() : nil
  }

  /// The condition of a write on an existing record with its key.
  @usableFromInline
  enum Presence: Sendable {
    /// Replaces it, or adds one.
    case any
    /// There must be none.
    case isNew
    /// There must be one.
    case isThere
  }
}

// MARK: Writing

extension RecordWriter {
  /// Writes a record's row and its index entries, with the values that its derived fields have, and changes those that are
  /// derived of it.
  ///
  /// - Parameters:
  ///   - waiting: Values of external fields that the row only numbers.
  ///   - tracked: The values of tracked properties; nil if they stay as they are.
  ///   - known: The stored row, if the caller has looked it up: empty if there is none.
  /// - Complexity: a change in memory; with indexes, or a presence other than `.any`, a lookup, and for each
  ///   index that the record changes a lookup and two changes.
  /// - Throws: `.duplicateKey`, `.noSuchRecord`, `.uniqueConflict`, `.invalidValue`: then
  ///   nothing has changed. `.corrupt`, `.full`, `.io`.
  func write(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob] = [], tracked: UnstoredEntry? = nil,
    of record: Entity, over known: [UInt8]? = nil, presence: Presence,
    onConflict policy: ConflictPolicy
  ) throws(StoreError) {
    guard let derivations = entities.derivations else {
      try writeRow(
        key, row, waiting, tracked, of: record, over: known, presence: presence,
        onConflict: policy)
      return
    }
    let sequences = derivations.sequences(record)
    if sequences.isEmpty {
      try writeDerived(
        key, row, waiting, tracked, of: record, over: known, presence: presence,
        onConflict: policy, derivations)
      return
    }
    try checkUsable()
    var old = known ?? []
    if known == nil, try !trees.copyValue(of: key, in: record.rows, to: &old) { old = [] }
    let numbered = try numbered(key, row, of: record, over: old, sequences)
    let isWritten = try writeDerived(
      numbered.key.rawSpan, numbered.row.rawSpan, waiting, tracked, of: record, over: old,
      presence: presence, onConflict: policy, derivations,
      unnumbered: policy == .updateOther ? row.array() : nil)
    guard isWritten else { return }
    numbers.note(numbered.given)
    numberedKey = numbered.key
  }

  /// The same of a row whose sequences have their numbers.
  ///
  /// - Parameter unnumbered: The row without them, for a record that is written in the place of this one.
  /// - Returns: False if another record is kept or updated in the place of this one.
  @discardableResult
  private func writeDerived(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], _ tracked: UnstoredEntry?,
    of record: Entity, over known: [UInt8]?, presence: Presence,
    onConflict policy: ConflictPolicy, _ derivations: DerivationMap, unnumbered: [UInt8]? = nil
  ) throws(StoreError) -> Bool {
    guard derivations.derives(record) else {
      return try writeRow(
        key, row, waiting, tracked, of: record, over: known, presence: presence,
        onConflict: policy, unnumbered: unnumbered)
    }
    try checkUsable()
    var old = known ?? []
    var isThere = !old.isEmpty
    if known == nil { isThere = try trees.copyValue(of: key, in: record.rows, to: &old) }
    let derived = try derived(key, row, of: record, over: isThere ? old : nil, derivations)
    return try writeRow(
      key, derived.rawSpan, waiting, tracked, of: record, over: isThere ? old : [],
      presence: presence, onConflict: policy, unnumbered: unnumbered)
  }

  /// The same of a row whose derived fields are computed.
  @discardableResult
  private func writeRow(
    _ key: RawSpan, _ row: RawSpan, _ waiting: [Blob], _ tracked: UnstoredEntry?,
    of record: Entity, over known: [UInt8]?, presence: Presence,
    onConflict policy: ConflictPolicy, unnumbered: [UInt8]? = nil
  ) throws(StoreError) -> Bool {
    try checkUsable()
    try record.checkCollations()
    // Refused here, it leaves the transaction as it was; in the middle of the changes it could not.
    guard row.byteCount <= StoreError.Limit.valueLength.bound else {
      throw record.layout.rowTooLong(row, key: key)
    }
    try record.checkKinds(of: row, key: key)
    notes?.note(key, in: record.rows)
    let isChecked = entities.relations?.isChecked(record) ?? false
    let tracked = record.isTracked ? tracked : nil
    // A record of which others are derived has a checked reference to them.
    if record.indexes.isEmpty, record.blobs == nil, presence == .any, !keepsOld, !isChecked,
      tracked == nil
    {
      try change { writer throws(StoreError) in try writer.put(key, row, of: record) }
      return true
    }
    let isThere: Bool
    if let known {
      (oldRow, isThere) = (known, !known.isEmpty)
    } else {
      isThere = try trees.copyValue(of: key, in: record.rows, to: &oldRow)
    }
    try check(isThere, presence, key, of: record)
    if let tracked, isThere, waiting.isEmpty, row.equals(oldRow.rawSpan) {
      try keep(tracked, of: record, key)
      return true
    }
    if !record.indexes.isEmpty {
      if let others = try conflicts(of: key, row, of: record, over: isThere ? oldRow : []) {
        switch policy {
        case .refuse: throw others.refusal
        case .keepOther: return false
        case .updateOther:
          let other = try others.sole(isNew: !isThere)
          // It keeps its number.
          let whole = unnumbered ?? row.array()
          try write(
            other.rawSpan, whole.rawSpan, waiting, tracked: tracked, of: record,
            presence: .isThere, onConflict: .refuse)
          return false
        case .replaceOther:
          // This record may be among those that are deleted with them.
          try atomically { writer throws(StoreError) in
            try writer.clear(others, of: record)
            try writer.write(
              key, row, waiting, tracked: tracked, of: record, presence: .any, onConflict: .refuse)
          }
          return true
        }
      }
    }
    if isChecked {
      let old = isThere ? oldRow : []
      try keeper?.check(key, from: old.rawSpan, to: row, of: record)
    }
    let settled = try settled(key, row, waiting, over: isThere ? oldRow : [], of: record)
    let old = isThere ? oldRow : []
    try changeFeeding(key, from: old, to: row, of: record) { writer throws(StoreError) in
      writer.note(key, isThere ? old : nil, of: record)
      if let tracked { try writer.setTracked(tracked, of: record, key) }
      try writer.updateIndexes(of: record, key, from: old, to: row)
      guard record.blobs != nil else { return try writer.put(key, row, of: record) }
      let stored = settled ?? row.array()
      try writer.put(key, stored.rawSpan, of: record)
      try writer.count(key, from: old, to: stored.rawSpan, of: record)
    }
    return true
  }

  /// Replaces the values of tracked properties of a record whose row, in `oldRow`, stays as it is.
  private func keep(
    _ tracked: UnstoredEntry, of record: Entity, _ key: RawSpan
  ) throws(StoreError) {
    changes?.note(key.array(), of: record.record.number, before: oldRow)
    try setTracked(tracked, of: record, key)
  }

  private func setTracked(
    _ tracked: UnstoredEntry, of record: Entity, _ key: RawSpan
  ) throws(StoreError) {
    let old = trees.unstored.entry(of: key, in: record.rows)
    var new = old
    for name in record.trackedNames { new[name] = tracked[name] }
    if new.differs(from: old) { try trees.setUnstored(new, for: key, in: record.rows) }
  }

  /// Deletes a record and applies the delete rules, without hooks. Returns false if it does not exist.
  ///
  /// - Throws: `.corrupt`, `.full`, `.io`. The commit throws `.deleteDenied` if another record still denies it then.
  func delete(_ key: RawSpan, of record: Entity) throws(StoreError) -> Bool {
    hasRules(for: record)
      ? try delete([key.array()], of: record) > 0 : try deleteRow(key, of: record)
  }

  /// True if the deletion of such a record may do more than delete it.
  @usableFromInline
  func hasRules(for record: Entity) -> Bool { entities.relations?.hasRules(for: record) ?? false }

  /// Deletes a record and its index entries. False if there is none.
  ///
  /// - Throws: `.corrupt`, `.full`, `.io`.
  func deleteRow(_ key: RawSpan, of record: Entity) throws(StoreError) -> Bool {
    try checkUsable()
    try record.checkCollations()
    notes?.note(key, in: record.rows)
    if record.indexes.isEmpty, record.blobs == nil, !keepsOld, entities.relations == nil {
      return try change { writer throws(StoreError) in try writer.remove(key, in: record.rows) }
    }
    guard try trees.copyValue(of: key, in: record.rows, to: &oldRow) else { return false }
    note(key, oldRow, of: record)
    let old = oldRow
    try keeper?.noteDeletion(key, old.rawSpan, of: record)
    try changeFeeding(key, from: old, to: nil, of: record) { writer throws(StoreError) in
      try writer.updateIndexes(of: record, key, from: old, to: nil)
      _ = try writer.remove(key, in: record.rows)
      if record.blobs != nil { try writer.count(key, from: old, to: nil, of: record) }
    }
    return true
  }

  /// Deletes all records of a type.
  ///
  /// - Complexity: O(changes in memory); if the changes are kept or observed, O(records).
  func deleteAll(of record: Entity) throws(StoreError) {
    try checkUsable()
    notes?.noteAll(in: record.rows)
    if keepsOld || keeper?.isBound(record) ?? false { try noteAll(of: record) }
    keeper?.forgetKnown(record)
    if record.blobs != nil {
      try change { writer throws(StoreError) in
        writer.writeCount &+= 1
        try writer.releaseAll(of: record)
      }
    }
    try trees.removeAll(in: record.rows)
    for index in record.indexes { try trees.removeAll(in: index.slot) }
    try emptyAggregates(fedBy: record)
  }

  /// Replaces a row by one that only differs in derived fields.
  func replace(
    _ key: RawSpan, _ old: [UInt8], by row: [UInt8], of record: Entity
  ) throws(StoreError) {
    notes?.note(key, in: record.rows)
    try change { writer throws(StoreError) in
      writer.note(key, old, of: record)
      try writer.updateIndexes(of: record, key, from: old, to: row.rawSpan)
      try writer.put(key, row.rawSpan, of: record)
    }
  }

  /// Runs code that writes or deletes a record, and then changes the fields of others that are derived of it. If one of
  /// those cannot be, nothing has changed.
  private func changeFeeding(
    _ key: RawSpan, from old: [UInt8], to new: RawSpan?, of record: Entity,
    _ body: (RecordWriter) throws(StoreError) -> Void
  ) throws(StoreError) {
    guard let feeds = entities.derivations?.feeds(of: record), !feeds.isEmpty else {
      return try change(body)
    }
    try atomically { writer throws(StoreError) in
      try writer.change(body)
      try writer.feed(feeds, key, from: old, to: new, of: record)
    }
  }

  private func put(
    _ key: RawSpan, _ row: RawSpan, of record: Entity
  ) throws(StoreError) {
    try put(key, row, schemaVersion: record.layout.version, in: record.rows)
  }

  private func put(
    _ key: RawSpan, _ value: RawSpan, schemaVersion: UInt32 = Entities.systemVersion,
    in tree: TreeSlot
  ) throws(StoreError) {
    writeCount &+= 1
    try trees.put(key, value, schemaVersion: schemaVersion, in: tree)
  }

  private func remove(_ key: RawSpan, in tree: TreeSlot) throws(StoreError) -> Bool {
    writeCount &+= 1
    return try trees.remove(key, in: tree)
  }

  /// Throws where a record that is there, or is not, is in the way of a write.
  func check(
    _ isThere: Bool, _ presence: Presence, _ key: RawSpan, of record: Entity
  ) throws(StoreError) {
    switch presence {
    case .isNew where isThere:
      throw .duplicateKey(record: record.record.name, key: record.text(ofKey: key))
    case .isThere where !isThere:
      throw .noSuchRecord(record: record.record.name, key: record.text(ofKey: key))
    default: break
    }
  }
}

// MARK: Indexes

extension RecordWriter {
  /// Other records that have the same values as one where they have to be unique.
  struct Conflicts {
    /// The error that names the first of them.
    let refusal: StoreError
    /// The primary keys of those that have to go.
    var others: [[UInt8]] = []
    /// Those whose lists only have to do without an element, which then is in the list of this record.
    var moves: [(key: [UInt8], link: Link, element: FieldValue)] = []
  }

  /// Finds other records that have the same values as this one where they have to be unique; nil if there are none.
  ///
  /// - Parameter old: The stored row, whose entries are there already; empty if there is none, or it was not looked up.
  func conflicts(
    of key: RawSpan, _ row: RawSpan, of record: Entity, over old: [UInt8] = []
  ) throws(StoreError) -> Conflicts? {
    guard let derived = try derivedStrings(key, row, of: record) else {
      return try computedConflicts(of: key, row, of: record, over: old)
    }
    return try computedConflicts(of: key, derived.rawSpan, of: record, over: old)
  }

  /// The same of a row whose derived strings are computed.
  private func computedConflicts(
    of key: RawSpan, _ row: RawSpan, of record: Entity, over old: [UInt8]
  ) throws(StoreError) -> Conflicts? {
    var conflicts: Conflicts?
    var known: Set<[UInt8]> = []
    let reader = try record.row(key: key, row: row)
    for index in record.indexes {
      if index.layout.expanded != nil, !index.layout.canRefuse { continue }
      let link = listLink(of: index, record)
      // Every entry is put together once before anything is written, so that an impossible entry is refused.
      try index.layout.forEachNewEntry(of: reader, over: old.rawSpan, in: newKey) {
        entry, _, isSole throws(StoreError) in
        guard isSole, try trees.copyValue(of: entry, in: index.slot, to: &holder),
          holder.rawSpan.compare(key) != 0, link != nil || known.insert(holder).inserted
        else { return }
        let other = holder
        var found =
          conflicts
          ?? Conflicts(
            refusal: .uniqueConflict(
              record: record.record.name, constraint: index.layout.schema.name,
              key: record.text(ofKey: other.rawSpan)))
        if let link {
          if let element = try element(of: entry, in: index, of: reader, link) {
            found.moves.append((other, link, element))
          }
        } else {
          found.others.append(other)
        }
        conflicts = found
      }
    }
    conflicts?.moves.removeAll { known.contains($0.key) }
    return conflicts
  }

  /// The element that an entry of a record's unique list is of.
  private func element(
    of entry: RawSpan, in index: Entity.IndexTree, of record: RowReader, _ link: Link
  ) throws(StoreError) -> FieldValue? {
    let column = index.layout.wholeParts.columns[0]
    if entry.byteCount < IndexLayout.cutLength {
      var reader = KeyReader(entry, layout: record.layout, index: index.layout.place)
      return try reader.value(column)
    }
    // The key was cut, so the element's end is not in it.
    var element: FieldValue?
    let (key, own) = (KeyEncoder(), KeyEncoder())
    try link.forEachKey(of: record, in: key) { key throws(StoreError) in
      let value = try link.value(ofKey: key)
      own.begin()
      try own.append(value, column, of: record.layout)
      _ = index.layout.finish(own, of: record, isWhole: true)
      if own.key.equals(entry) { element = value }
    }
    return element
  }

  /// The checked references that an index keeps each element of, in one list at most.
  private func listLink(of index: Entity.IndexTree, _ record: Entity) -> Link? {
    let schema = index.layout.schema
    guard schema.isUnique, schema.parts.count == 1, schema.parts[0].expansion == .elements else {
      return nil
    }
    return entities.relations?.links(from: record).first {
      $0.field.number == schema.parts[0].field
    }
  }

  /// Replaces the index entries of a record's old row by those of its new one.
  ///
  /// - Parameter old: Empty if there is none.
  private func updateIndexes(
    of record: Entity, _ key: RawSpan, from old: [UInt8], to new: RawSpan?
  ) throws(StoreError) {
    if record.indexes.isEmpty { return }
    if let new, old.isEmpty {
      let newRow = try record.row(key: key, row: new)
      for index in record.indexes {
        try index.layout.forEachEntry(of: newRow, in: newKey) { key, value, _ throws(StoreError) in
          try put(key, value, in: index.slot)
        }
      }
      return
    }
    let oldRow = try record.row(key: key, row: old.rawSpan)
    guard let new else {
      for index in record.indexes {
        try index.layout.forEachEntry(of: oldRow, in: oldKey) { key, _, _ throws(StoreError) in
          _ = try remove(key, in: index.slot)
        }
      }
      return
    }
    let newRow = try record.row(key: key, row: new)
    let (oldKey, newKey) = (oldKey, newKey)
    for index in record.indexes {
      if index.layout.expanded != nil {
        try updateEntries(in: index, from: oldRow, to: newRow)
        continue
      }
      let oldValue = try index.layout.encode(oldRow, to: oldKey)
      let newValue = try index.layout.encode(newRow, to: newKey)
      if oldValue != nil, newValue != nil, oldKey.key.equals(newKey.key) { continue }
      if oldValue != nil { _ = try remove(oldKey.key, in: index.slot) }
      if let newValue {
        try put(newKey.key, newValue == .primaryKey ? key : RawSpan(), in: index.slot)
      }
    }
  }
}

extension RecordWriter {
  /// Replaces the entries of a record's old row by those of its new one, where there may be several: those that both have
  /// stay untouched.
  private func updateEntries(
    in index: Entity.IndexTree, from old: RowReader, to new: RowReader
  ) throws(StoreError) {
    let layout = index.layout
    if try layout.hasSameEntries(old, new) { return }
    let isDone = try layout.forEachDifference(from: old, to: new, in: newKey) {
      key, value, isNew throws(StoreError) in
      if isNew {
        try put(key, value, in: index.slot)
      } else {
        _ = try remove(key, in: index.slot)
      }
    }
    if isDone { return }
    var found = SortedKeys(of: layout.schema.name)
    try layout.forEachEntry(of: old, in: oldKey) { key, _, _ throws(StoreError) in
      try found.add(key, keyLength: 0)
    }
    found.sort()
    let oldKeys = found
    var kept: Set<Int> = []
    try layout.forEachEntry(of: new, in: newKey) { key, value, _ throws(StoreError) in
      if let place = oldKeys.place(of: key) {
        kept.insert(place)
      } else {
        try put(key, value, in: index.slot)
      }
    }
    for place in 0..<oldKeys.count where !kept.contains(place) {
      _ = try remove(oldKeys.whole(place), in: index.slot)
    }
  }
}

// MARK: Failing, and going back

extension RecordWriter {
  /// Throws the error that made the transaction unusable, if any.
  func checkUsable() throws(StoreError) {
    if let failure { throw failure }
  }

  /// Ends the transaction: a copy of it that escaped can do nothing any more.
  func end(path: String) {
    let error = StoreError.closed(path: path)
    failure = error
    trees.end(error)
  }

  /// Runs code that writes. If that fails when it has begun, entries and rows may not be in step any more.
  private func change<Result>(
    _ body: (RecordWriter) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let writesBefore = writeCount
    do throws(StoreError) { return try body(self) } catch {
      if writeCount == writesBefore { throw error }
      failure = error
      failureDepth = depth
      throw error
    }
  }

  /// Runs code that writes and throws only errors of stores.
  func atomically<Result>(
    _ body: (RecordWriter) throws(StoreError) -> Result
  ) throws(StoreError) -> Result {
    let savepoint = try begin()
    do throws(StoreError) {
      let result = try body(self)
      end(savepoint, rollingBack: false)
      return result
    } catch {
      end(savepoint, rollingBack: true)
      throw error
    }
  }

  /// Runs `body`, and undoes its changes if it throws.
  func savepoint<Result: ~Copyable>(_ body: () throws -> Result) throws -> Result {
    let savepoint = try begin()
    do {
      let result = try body()
      try checkUsable()
      end(savepoint, rollingBack: false)
      return result
    } catch {
      end(savepoint, rollingBack: true)
      throw error
    }
  }

  /// The previous states of records at the beginning of a savepoint.
  private struct Savepoint {
    let changeCount: Int?
    let historyCount: Int?
    let references: RelationKeeper.State?
    let numbers: SequenceNumbers
  }

  private func begin() throws(StoreError) -> Savepoint {
    try checkUsable()
    trees.makeSavepoint()
    depth += 1
    return Savepoint(
      changeCount: changes?.count, historyCount: history?.count, references: keeper?.state,
      numbers: numbers)
  }

  private func end(_ savepoint: Savepoint, rollingBack: Bool) {
    depth -= 1
    trees.endSavepoint(rollingBack: rollingBack)
    guard rollingBack else { return }
    if let count = savepoint.changeCount { changes?.truncate(to: count) } else { changes = nil }
    if let count = savepoint.historyCount { history?.truncate(to: count) }
    if let state = savepoint.references { keeper?.goBack(to: state) }
    numbers = savepoint.numbers
    if failureDepth > depth { failure = nil }
  }
}

// MARK: Hooks

extension RecordWriter {
  /// Runs a hook, and then the change that it comes before. If either throws, the changes of both are undone.
  ///
  /// - Throws: `.limitExceeded` where too many hooks run within one another; errors of the two.
  func run<Result>(_ hook: () throws -> Void, before change: () throws -> Result) throws -> Result {
    let most = StoreError.Limit.hookDepth.bound
    if hookDepth >= most { throw StoreError.limitExceeded(.hookDepth, found: hookDepth + 1) }
    let savepoint = try begin()
    do {
      hookDepth += 1
      defer { hookDepth -= 1 }
      try hook()
      try checkUsable()
    } catch {
      end(savepoint, rollingBack: true)
      throw error
    }
    // A change that is refused leaves nothing behind.
    if trees.isUnchangedSinceSavepoint {
      end(savepoint, rollingBack: false)
      return try change()
    }
    do {
      let result = try change()
      end(savepoint, rollingBack: false)
      return result
    } catch {
      end(savepoint, rollingBack: true)
      throw error
    }
  }

  /// Calls the hooks before a record is deleted: of the innermost kind that it is of, then of the parents.
  func willDelete(
    of entity: Entity, key: RawSpan, row: RawSpan, in writer: RecordWriter
  ) throws {
    guard let kinds = entity.layout.kinds else {
      return try entity.willDelete(key: key, row: row, in: writer)
    }
    for kind in kinds.kinds(of: row).map(Optional.some) + [nil] {
      let type = entities.type(ofKind: kind, of: entity)
      try type?.willDelete(key: key, row: row, in: writer)
    }
  }

  /// Deletes a record after the hook that comes before it. False if there is none.
  ///
  /// - Throws: as `delete(_:of:)`, and errors of the hook: then nothing has changed.
  func deleteWithHook(_ key: [UInt8], of entity: Entity) throws -> Bool {
    if hasRules(for: entity) { return try deleteWithHooks([key], of: entity) > 0 }
    guard entity.hasDeletionHook else { return try deleteRow(key.rawSpan, of: entity) }
    var row: [UInt8] = []
    guard try trees.copyValue(of: key.rawSpan, in: entity.rows, to: &row) else { return false }
    return try run {
      try willDelete(of: entity, key: key.rawSpan, row: row.rawSpan, in: self)
    } before: {
      _ = try deleteRow(key.rawSpan, of: entity)
      return true
    }
  }

  /// Deletes all records of an entity after their hooks, which run for the records that there are, by primary key.
  ///
  /// - Complexity: as `deleteAll`; linear in the records with a hook.
  /// - Throws: as `deleteAll`, and any error of a hook: then nothing has changed.
  func deleteAllWithHooks(of entity: Entity) throws {
    if try mayLeaveSomething(deletingAll: entity) {
      _ = try deleteWithHooks(try keys(of: entity), of: entity)
      return
    }
    guard entity.hasDeletionHook else { return try deleteAll(of: entity) }
    try savepoint {
      let cursor = try TreeAccess.transaction(trees).cursor(in: entity.rows)
      // Those that hooks add have none: else one that adds another each time would never end.
      var left = try trees.count(in: entity.rows)
      while left > 0, try cursor.advance() {
        let (key, row) = (cursor.key.array(), try cursor.value().array())
        try run {
          try willDelete(of: entity, key: key.rawSpan, row: row.rawSpan, in: self)
        } before: {
        }
        left -= 1
      }
      // A hook may have added records that lead to one of them.
      if try mayLeaveSomething(deletingAll: entity) {
        _ = try delete(try keys(of: entity), of: entity)
      } else {
        try deleteAll(of: entity)
      }
    }
  }
}

// MARK: Changes

extension RecordWriter {
  /// Keeps the states of records before they change, from now on.
  func keepChanges() {
    if changes == nil { changes = ChangedRecords(unstored: trees.unstored) }
  }

  /// True if the states of records before they change are kept.
  var keepsOld: Bool { changes != nil || history != nil }

  private func note(_ key: RawSpan, _ old: [UInt8]?, of record: Entity) {
    if !keepsOld { return }
    let (key, number) = (key.array(), record.record.number)
    changes?.note(key, of: number, before: old)
    history?.note(key, of: number, before: old)
  }

  private func noteAll(of record: Entity) throws(StoreError) {
    let cursor = try TreeAccess.transaction(trees).cursor(in: record.rows)
    while try cursor.advance() {
      let (key, row) = (cursor.key.array(), try cursor.value().array())
      note(key.rawSpan, row, of: record)
      try keeper?.noteDeletion(key.rawSpan, row.rawSpan, of: record)
    }
  }
}

/// The memory in which records are put together. A store has one; its use requires the writer's turn.
@usableFromInline
final class WriteBuffers: @unchecked Sendable {
  @usableFromInline let key = KeyEncoder()
  @usableFromInline let row = RowWriter()
  var old: [UInt8] = []
  /// A record without references that are cut, while another is written.
  let cutRow = RowWriter()
  /// A record with other derived fields.
  let derivedRow = RowWriter()
  /// A record with the numbers that sequences have given.
  let numberedRow = RowWriter()
  fileprivate let newEntry = KeyEncoder()
  fileprivate let oldEntry = KeyEncoder()

  /// Gives memory back that unusually long rows have needed.
  func trim() {
    row.trim()
    cutRow.trim()
    derivedRow.trim()
    numberedRow.trim()
    if old.capacity > 1 << 16 { old = [] }
  }
}
