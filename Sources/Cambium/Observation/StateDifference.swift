/// An entry as it was in one state, and as it is in a later one.
struct EntryChange: Sendable {
  let key: [UInt8]
  /// Nil if there was none; so is `new` where there is none any more.
  let old: [UInt8]?
  let new: [UInt8]?
}

extension ObservedStep {
  /// Calls `body` with every entry that changed, by its key.
  ///
  /// - Complexity: a lookup in each state for every key that may have changed; if it is unknown which, for
  ///   every key that is in no tree yet, or, when there was a fold, linear in the entries.
  /// - Throws: `.corrupt`, `.io`; errors of `body`, which ends it.
  func forEachChange(_ body: (EntryChange) throws -> Void) throws {
    if let keys = changes.keys { return try compare(Self.sorted(keys), body) }
    // Of entries that are the same, the unstored values may differ.
    let unstored = after.trees.unstored.keys(changedFrom: before.trees.unstored, in: tree)
    if unstored.isEmpty { return try forEachStoredChange(body) }
    var left = unstored[...]
    try forEachStoredChange { change in
      let passed = left.prefix { $0.rawSpan.compare(change.key.rawSpan) <= 0 }
      left = left.dropFirst(passed.count)
      try compare(passed.filter { $0 != change.key }, body)
      try body(change)
    }
    try compare(Array(left), body)
  }

  private func forEachStoredChange(_ body: (EntryChange) throws -> Void) throws {
    var comparison = EntryComparison(self)
    let isDone = try after.trees.forEachKeyChanged(in: tree, since: before.trees) { key in
      if let change = try comparison.change(of: key) { try body(change) }
    }
    if !isDone { try merge(body) }
  }

  /// Each key once, ascending.
  private static func sorted(_ noted: [NotedKeys]) -> [[UInt8]] {
    var keys: [[UInt8]] = []
    for noted in noted {
      for place in 0..<noted.count { keys.append(noted.key(place).array()) }
    }
    if keys.count < 2 { return keys }
    keys.sort { $0.rawSpan.compare($1.rawSpan) < 0 }
    var distinct: [[UInt8]] = []
    for key in keys where distinct.last != key { distinct.append(key) }
    return distinct
  }

  private func compare(_ keys: [[UInt8]], _ body: (EntryChange) throws -> Void) throws {
    var comparison = EntryComparison(self)
    for key in keys {
      if let change = try comparison.change(of: key.rawSpan) { try body(change) }
    }
  }

  /// Goes through both states side by side.
  private func merge(_ body: (EntryChange) throws -> Void) throws {
    let old = try before.trees.cursor(in: tree)
    let new = try after.trees.cursor(in: tree)
    var (wasOn, isOn) = (try old.first(), try new.first())
    while wasOn || isOn {
      let order = !wasOn ? 1 : !isOn ? -1 : old.key.compare(new.key)
      if order < 0 {
        try body(EntryChange(key: old.key.array(), old: try old.value().array(), new: nil))
      } else if order > 0 {
        try body(EntryChange(key: new.key.array(), old: nil, new: try new.value().array()))
      } else if try !Self.haveSameValue(old, new) {
        let (was, present) = (try old.value().array(), try new.value().array())
        try body(EntryChange(key: new.key.array(), old: was, new: present))
      }
      if order <= 0 { wasOn = try old.next() }
      if order >= 0 { isOn = try new.next() }
    }
  }

  private static func haveSameValue(
    _ one: CursorAccess, _ other: CursorAccess
  ) throws(StoreError) -> Bool {
    let value = try one.value()
    return value.equals(try other.value())
  }
}

/// Compares entries of two states, one by one.
private struct EntryComparison {
  private let tree: TreeSlot
  private let before: TreeAccess
  private let after: TreeAccess
  private let unstored: (old: UnstoredValues, new: UnstoredValues)
  private var old: [UInt8] = []
  private var new: [UInt8] = []

  init(_ step: ObservedStep) {
    tree = step.tree
    before = step.before.trees
    after = step.after.trees
    unstored = (before.unstored, after.unstored)
  }

  /// Returns nil if the entry is as it was.
  mutating func change(of key: RawSpan) throws(StoreError) -> EntryChange? {
    let wasThere = try before.copyValue(of: key, in: tree, to: &old)
    let isThere = try after.copyValue(of: key, in: tree, to: &new)
    if wasThere == isThere, !wasThere || old.rawSpan.equals(new.rawSpan),
      !unstored.new.differs(from: unstored.old, at: key, in: tree)
    {
      return nil
    }
    return EntryChange(key: key.array(), old: wasThere ? old : nil, new: isThere ? new : nil)
  }
}

extension RowLayout {
  /// The stored names of the fields whose values differ between two rows of one key: of a composite the
  /// parts that differ, as “address.street”; the composite's own where there is one only on one side.
  ///
  /// - Throws: `.corrupt` where the frame of a row is damaged.
  func changedFields(
    key: RawSpan, from old: RawSpan, to new: RawSpan
  ) throws(StoreError) -> Set<String> {
    let one = try RowReader(key: key, row: old, layout: self)
    let other = try RowReader(key: key, row: new, layout: self)
    var names: Set<String> = []
    for column in columns where differs(column, one, other) { names.insert(column.field.name) }
    return names
  }

  private func differs(_ column: Column, _ one: RowReader, _ other: RowReader) -> Bool {
    if one.isNull(column.place) != other.isNull(column.place) { return true }
    let place = column.place.index
    switch column.place.kind {
    case .key, .composite: return false
    case .fixed:
      let width = column.field.type.fixedWidth ?? 0
      return !one.row.part(place, width).equals(other.row.part(place, width))
    case .variable: return !one.bytes(place).equals(other.bytes(place))
    }
  }
}

/// Finders of the parts of old and new records outside their rows.
struct StepBlobs {
  let old: BlobFinder?
  let new: BlobFinder?

  /// The names of the tracked properties whose values differ.
  func changedTracked(_ key: RawSpan) -> Set<String> {
    guard let old, let new else { return [] }
    return new.unstored(of: key).names(changedFrom: old.unstored(of: key))
  }
}

extension RecordType {
  /// Returns the stored names of the fields of the type whose values differ between two rows, and of the computed properties
  /// that depend on them. Fields of kinds that values of the type are not of do not count, nor does a value outside of the row
  /// that was replaced by the same.
  ///
  /// - Throws: as `RowLayout.changedFields`; `.io` where values outside of rows are compared.
  func changedFields(
    key: RawSpan, from old: RawSpan, to new: RawSpan, _ blobs: StepBlobs
  ) throws(StoreError) -> Set<String> {
    var fields = try layout.changedFields(key: key, from: old, to: new)
    if let ownFields { fields.formIntersection(ownFields) }
    for (index, column) in layout.columns.enumerated()
    where column.field.type.isExternal && fields.contains(column.field.name) {
      let one = try row(key: key, row: old, blobs: blobs.old)
      let other = try row(key: key, row: new, blobs: blobs.new)
      let value = try one.value(index, stringsAsBlobs: true)
      if value == (try other.value(index, stringsAsBlobs: true)) {
        fields.remove(column.field.name)
      }
    }
    if computed.isEmpty { return fields }
    let changed = computed.filter { computed in
      computed.fields.contains { name in
        fields.contains { $0 == name || $0.hasPrefix(name + ".") }
      }
    }
    return fields.union(changed.map(\.property))
  }
}

/// The changes of records that meet a condition: one that begins to meet it comes, one that ceases to goes.
struct RowFilter: Sendable {
  let layout: RowLayout
  private let condition: RowCondition

  /// - Throws: errors of `RowCondition.init`.
  init(
    _ condition: FieldCondition, of record: Entity, in entities: Entities
  ) throws(StoreError) {
    layout = record.layout
    let condition =
      condition.mayLeadOn(from: layout)
      ? try condition.resolved(from: record, in: entities, isChanging: false) : condition
    self.condition = try RowCondition(condition, in: layout)
  }

  /// Creates the filter of the rows of the kind that a type stands for; nil if all rows are meant.
  init?(kindOf record: Entity, in entities: Entities) throws(StoreError) {
    guard let condition = record.kindCondition else { return nil }
    try self.init(condition, of: record, in: entities)
  }

  /// Returns the change as seen among the records that meet the condition; nil if there is none.
  ///
  /// - Throws: `.corrupt`.
  func filtered(_ change: EntryChange) throws(StoreError) -> EntryChange? {
    let old = try matching(change.key, change.old)
    let new = try matching(change.key, change.new)
    return old == nil && new == nil ? nil : EntryChange(key: change.key, old: old, new: new)
  }

  /// The row, if there is one that meets the condition.
  private func matching(_ key: [UInt8], _ row: [UInt8]?) throws(StoreError) -> [UInt8]? {
    guard let row else { return nil }
    let layout = layout
    let reader = try RowReader(key: key.rawSpan, row: row.rawSpan, layout: layout)
    return try condition.holds(for: reader) ? row : nil
  }
}
