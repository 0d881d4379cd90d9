import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// The record types of a store that crashes, in its trees.
struct KeptTypes {
  private let types: Entities
  private let key = KeyEncoder()
  private let row = RowWriter()

  private static let model = Result { () throws(StoreError) in
    try StoreModel(
      records: [KeptRecords.Plain.self, KeptRecords.Indexed.self, KeptRecords.Pair.self]
    ).checked()
  }

  init(_ names: TreeNames) throws(StoreError) {
    let model = try Self.model.get()
    types = try Entities(model.schema, model: model, names: names)
  }

  func trees(_ tree: Int) throws(StoreError) -> Entity {
    try types.entity(named: String(describing: KeptRecords.types[tree]))
  }
}

// MARK: - Changing

extension KeptTypes {
  private struct Undo: Error {}

  func perform(
    _ changes: [Change], undone: [Change], then: [Change],
    in transaction: Transaction, stamp: Int
  ) throws {
    // Who keeps no history now and then leaves gaps in it.
    let keepsHistory = stamp % 5 != 0
    let trees = TransactionTrees(transaction)
    let writer = RecordWriter(trees, types, keepsHistory: keepsHistory)
    for change in changes { try perform(change, writer, stamp) }
    if !undone.isEmpty {
      do {
        try writer.savepoint {
          for change in undone { try perform(change, writer, stamp + 99) }
          throw Undo()
        }
      } catch is Undo {
        // As it was before.
      }
    }
    for change in then { try perform(change, writer, stamp) }
    guard let changes = writer.history, !trees.isEmpty else { return }
    let history = HistoryWriter(trees, in: types.history)
    let count = try history.write(
      changes, of: types, after: nil, date: Double(stamp), author: "\(stamp)", keepsOld: true)
    try history.purge(HistoryWriter.Retention(commits: 4), now: 0, added: count)
  }

  private func perform(_ change: Change, _ writer: RecordWriter, _ stamp: Int) throws {
    switch change {
    case .put(let tree, let key, let length):
      let value = Content.value(stamp: stamp, key: key, length: length)
      let trees = try trees(tree)
      try encode(KeptRecords.types[tree], key, value)
      do throws(StoreError) {
        try writer.write(
          self.key.key, row.row, of: trees, presence: .any,
          onConflict: Content.refuses(stamp: stamp, key: key) ? .refuse : .replaceOther)
      } catch .uniqueConflict {
        // So it is in the model.
      }
    case .remove(let tree, let key):
      try encode(KeptRecords.types[tree], key, [])
      _ = try writer.delete(self.key.key, of: trees(tree))
    case .clear(let tree): try writer.deleteAll(of: trees(tree))
    }
  }

  private func encode<Kept: KeptRecord>(
    _ type: Kept.Type, _ number: Int, _ value: Bytes
  ) throws(StoreError) {
    try types.type(type).encode(Kept(number: number, value: value), to: row, key: key)
  }
}

// MARK: - Comparing

extension KeptTypes {
  /// Throws unless the trees hold all records of `content`, nothing else, and indexes in step with them.
  func check(_ access: TreeAccess, hold content: Content) throws {
    for (tree, type) in KeptRecords.types.enumerated() {
      try check(access, type, hold: content.trees[tree])
    }
    let faults = try faults(access)
    try agree(faults.isEmpty, "\(faults.prefix(3))")
    try checkHistory(access)
  }

  /// Throws unless the records that the last commit of the history changed are there or not, as it says.
  private func checkHistory(_ access: TreeAccess) throws {
    try RecordCheck.checkHistory(in: access, types.history)
    let cursor = try access.cursor(in: types.history)
    guard try cursor.last(), cursor.key.byteCount > 0 else { return }
    let key = try HistoryKey(cursor.key)
    // Where the last commits kept none, the records are another's.
    guard key.part == 0, try HistoryFloor.find(access, types.history) ?? 0 < key.sequence else {
      return
    }
    var reader = HistoryPartReader(try cursor.value(), key: key)
    _ = try reader.commit()
    while let change = try reader.next() {
      try agree(change.old == nil || change.kind != .inserted, "what was not there had a row")
      try agree(types.entity(number: change.record) != nil, "\(change) is of no record")
    }
  }

  /// What the check of records finds.
  func faults(_ access: TreeAccess) throws(StoreError) -> [StoreError] {
    var trees: [Entity] = []
    for tree in KeptRecords.types.indices { trees.append(try self.trees(tree)) }
    return try RecordCheck.faults(of: trees, in: access)
  }

  private func check<Kept: KeptRecord>(
    _ access: TreeAccess, _ type: Kept.Type, hold values: [Int: Bytes]
  ) throws {
    let opened = try types.type(type)
    let count = try access.count(in: opened.rows)
    try agree(count == values.count, "\(count) of \(type), not \(values.count)")
    let cursor = try access.cursor(in: opened.rows)
    var isOn = try cursor.first()
    while isOn {
      let record = try opened.load(key: cursor.key, row: try cursor.value())
      let expected = values[record.number].map { Kept(number: record.number, value: $0) }
      try agree(record == expected, "\(record), and not \(expected.map { "\($0)" } ?? "none")")
      isOn = try cursor.next()
    }
  }

  /// Throws unless the record of one change is as `value` has it.
  func check(_ access: TreeAccess, _ tree: Int, _ number: Int, is value: Bytes?) throws {
    try check(access, KeptRecords.types[tree], number, is: value)
  }

  private func check<Kept: KeptRecord>(
    _ access: TreeAccess, _ type: Kept.Type, _ number: Int, is value: Bytes?
  ) throws {
    let opened = try types.type(type)
    try encode(type, number, value ?? [])
    var found: Bytes = []
    let isThere = try access.copyValue(of: key.key, in: opened.rows, to: &found)
    try agree(isThere == (value != nil), "\(number) of \(type): \(isThere)")
    if !isThere { return }
    let record = try opened.load(key: key.key, row: found.rawSpan)
    try agree(
      record == Kept(number: number, value: value ?? []), "\(number) of \(type) is \(record)")
  }

  /// What the indexes of a tree must hold, in the order of the record's indexes, ascending.
  func entries(of tree: Int, _ content: Content) throws -> [[(key: Bytes, value: Bytes)]] {
    let trees = try trees(tree)
    var entries = [[(key: Bytes, value: Bytes)]](repeating: [], count: trees.indexes.count)
    let indexKey = KeyEncoder()
    for (number, value) in content.trees[tree].sorted(by: { $0.key < $1.key }) {
      try encode(KeptRecords.types[tree], number, value)
      let layout = trees.layout
      let reader = try RowReader(key: key.key, row: row.row, layout: layout)
      for (place, index) in trees.indexes.enumerated() {
        guard let kind = try index.layout.encode(reader, to: indexKey) else { continue }
        entries[place].append((indexKey.key.array(), kind == .empty ? [] : key.key.array()))
      }
    }
    return entries.map { $0.sorted { $0.key.lexicographicallyPrecedes($1.key) } }
  }
}
