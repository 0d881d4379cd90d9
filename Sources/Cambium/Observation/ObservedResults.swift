/// The results of a query in one state, and how they become those of a later one.
///
/// All results, or those after a record, are kept up by their keys alone: each change is placed among them. Of
/// a query with a limit or an offset only its window is known; it is queried again when a change may reach it. One that
/// leads to other records is queried again whenever any of them changes.
struct ObservedResults {
  private let record: Entity
  private let entities: Entities
  private let query: FieldQuery
  private let filter: RowFilter?
  /// True if it depends on other records.
  private let leadsOn: Bool
  private let order: BoundOrder
  /// The keys of the sections of the results; nil if they are not divided. A record that changes its section moves.
  private let sections: SectionKeys?
  /// Its own from `begin` on.
  private var encoder = KeyEncoder()
  /// The sort key of the record after which results begin.
  private var start: [UInt8]?
  private var keys = OrderedKeys()
  /// The primary keys in step with `keys`, of a query that is queried again.
  private var windowKeys: [[UInt8]] = []

  /// - Parameters:
  ///   - sections: The keys that divide the results of this query into sections.
  ///   - reader: Of the state in which the query's record to come after is looked for.
  /// - Throws: as `QueryRunner.find`.
  init(
    _ query: FieldQuery, sections: SectionKeys? = nil, of record: Entity, in reader: RecordReader
  ) throws(StoreError) {
    self.record = record
    self.sections = sections
    entities = reader.entities
    let (layout, trees) = (record.layout, reader.trees)
    leadsOn = !(try query.relatedRecords(of: record, in: reader.entities)).isEmpty
    if leadsOn {
      filter = nil
      // Errors are of now.
      _ = try QueryPlanner(record, in: reader).plan(query, for: .records)
    } else {
      filter = try query.condition.map { condition throws(StoreError) in
        try RowFilter(condition, of: record, in: reader.entities)
      }
    }
    order = try BoundOrder(
      query.order, Conjunction(query.condition, in: layout), isAfter: query.after != nil,
      of: record, in: reader)
    var query = query
    if let after = query.after {
      let place = RecordOrder(order, of: record, encoder)
      try place.begin(after: after, in: trees)
      // It may be gone later, and is a place nevertheless.
      let (key, row) = unsafe (place.startKey, place.startRow)
      query.after = .record(key: key, row: row)
      self.query = query
      start = try sortKey(key, row, order)
    } else {
      self.query = query
    }
  }

  private var isWindow: Bool { query.limit != nil || query.offset > 0 }
  private var runsAgain: Bool { isWindow || leadsOn }

  /// Returns the sort key of a record. If that is the primary key alone, the row is not read.
  private func sortKey(
    _ key: [UInt8], _ row: [UInt8], _ order: BoundOrder
  ) throws(StoreError) -> [UInt8] {
    if order.columns.isEmpty { return key }
    let (record, encoder) = (record, encoder)
    try order.encode(try record.row(key: key.rawSpan, row: row.rawSpan), to: encoder)
    return encoder.key.array()
  }
}

/// The changes from results to the next: of the records among them, with their places.
struct ResultChanges {
  /// Nil as the old row: it was not among the results. Nil as the new one: it is not.
  var changes: [EntryChange] = []
  var steps = OrderedSteps()
}

// MARK: Finding

extension ObservedResults {
  /// A result with its sort key.
  private struct Found {
    let sortKey: [UInt8]
    let key: [UInt8]
    let row: [UInt8]
  }

  /// The results in a state, as changes from there being none.
  ///
  /// - Throws: as `QueryRunner.find`.
  mutating func begin(in trees: TreeAccess) throws(StoreError) -> ResultChanges {
    encoder = KeyEncoder()
    let found = try find(in: trees)
    keys = OrderedKeys(found.map(\.sortKey))
    if runsAgain { windowKeys = found.map(\.key) }
    var result = ResultChanges()
    result.changes = found.map { EntryChange(key: $0.key, old: nil, new: $0.row) }
    result.steps.insertions = found.indices.map { OrderedSteps.Step(offset: $0, change: $0) }
    return result
  }

  private func find(in trees: TreeAccess) throws(StoreError) -> [Found] {
    let reader = RecordReader(entities: entities, trees: trees)
    let records = try QueryRunner(record, in: reader).find(query)
    // Sort keys of related records are those of this state.
    let order = leadsOn ? records.plan.order : order
    var found: [Found] = []
    while try records.next() {
      let (key, row) = (records.key.array(), try records.row().array())
      found.append(Found(sortKey: try sortKey(key, row, order), key: key, row: row))
    }
    return found
  }
}

// MARK: Going on

extension ObservedResults {
  /// Advances the results by a step, and returns their changes.
  ///
  /// - Complexity: as the step's changes, and for each that is among the results a place among them; of a
  ///   window that may be reached, the query and a lookup for each record that leaves it.
  /// - Throws: `.corrupt`, `.io`.
  mutating func advance(_ step: ObservedStep) throws -> ResultChanges {
    var result = ResultChanges()
    var placed: [OrderedKeys.Change] = []
    try step.forEachChange { change in
      guard let change = try among(change) else { return }
      if leadsOn { return result.changes.append(change) }
      let old = try change.old.map { try sortKey(change.key, $0, order) }
      let new = try change.new.map { try sortKey(change.key, $0, order) }
      let isBehind = (isBehindStart(old), isBehindStart(new))
      if !isBehind.0, !isBehind.1 { return }
      let changed = EntryChange(
        key: change.key, old: isBehind.0 ? change.old : nil,
        new: isBehind.1 ? change.new : nil)
      placed.append(
        .init(
          old: isBehind.0 ? old : nil, new: isBehind.1 ? new : nil,
          mayStay: try staysInSection(changed)))
      result.changes.append(changed)
    }
    if leadsOn { return try advanceWindow(step, updated: result.changes) }
    if isWindow {
      guard placed.contains(where: mayReachWindow) else { return ResultChanges() }
      return try advanceWindow(step, updated: result.changes)
    }
    result.steps = keys.apply(placed)
    return result
  }

  private func among(_ change: EntryChange) throws(StoreError) -> EntryChange? {
    guard let filter else { return change }
    return try filter.filtered(change)
  }

  /// Returns false if a record was in another section before.
  private func staysInSection(_ change: EntryChange) throws(StoreError) -> Bool {
    guard let sections, let old = change.old, let new = change.new else { return true }
    let section = try sections.section(of: change.key, old, encoder)
    return section == (try sections.section(of: change.key, new, encoder))
  }

  private func isBehindStart(_ key: [UInt8]?) -> Bool {
    guard let key else { return false }
    guard let start else { return true }
    return key.rawSpan.compare(start.rawSpan) > 0
  }

  /// Returns true if a change is within the window or before its end.
  private func mayReachWindow(_ change: OrderedKeys.Change) -> Bool {
    guard let limit = query.limit, limit <= keys.keys.count else { return true }
    guard let last = keys.keys.last else { return false }
    return [change.old, change.new].contains { key in
      key.map { $0.rawSpan.compare(last.rawSpan) <= 0 } ?? false
    }
  }

  /// Runs the query again, and compares its window with the one before.
  ///
  /// - Parameter updated: Among them are the records of both windows that are not as they were.
  private mutating func advanceWindow(
    _ step: ObservedStep, updated: [EntryChange]
  ) throws(StoreError) -> ResultChanges {
    let found = try find(in: step.after.trees)
    var oldPlaces: [[UInt8]: Int] = [:]
    for (place, key) in windowKeys.enumerated() { oldPlaces[key] = place }
    var oldRows: [[UInt8]: [UInt8]] = [:]
    for change in updated { oldRows[change.key] = change.old }
    var result = ResultChanges()
    var placed: [OrderedKeys.Change] = []
    for new in found {
      let place = oldPlaces.removeValue(forKey: new.key)
      let oldKey = place.map { keys.keys[$0] }
      // A record that has not changed moves where one does that it is sorted by.
      if place != nil, oldKey == new.sortKey, oldRows[new.key] == nil { continue }
      let changed = EntryChange(
        key: new.key, old: place == nil ? nil : oldRows[new.key] ?? new.row, new: new.row)
      placed.append(
        .init(old: oldKey, new: new.sortKey, mayStay: try staysInSection(changed)))
      result.changes.append(changed)
    }
    var old: [UInt8] = []
    for (key, place) in oldPlaces {
      _ = try step.before.trees.copyValue(of: key.rawSpan, in: step.tree, to: &old)
      placed.append(.init(old: keys.keys[place], new: nil))
      result.changes.append(EntryChange(key: key, old: old, new: nil))
    }
    result.steps = keys.apply(placed)
    windowKeys = found.map(\.key)
    return result
  }
}
