/// The last numbers of sequences, from everything of a damaged store that can be read.
///
/// A number that a store has given is not given again, even if the record that had it is lost: it may be printed on an
/// invoice. Numbers only grow, so the greatest one that is found anywhere is the last:
///
///     leaves with last numbers, of any state ──┐
///     commits in the log ──────────────────────┼──▶ the greatest ──▶ the last number in the copy
///     rows, also those that are left out ──────┤
///     keys of lost records that others lead to ┘
///
/// The last number is one that was given, and never a guess above it: so a sequence without gaps continues with the next.
struct SalvagedNumbers {
  /// The types with sequences.
  private let types: [(entity: Entity, sequences: [SequenceColumn])]
  private let slot: TreeSlot
  /// By the keys under which a store keeps them; 0 of those that were not found.
  private var last: [[UInt8]: UInt64] = [:]

  /// - Returns: nil if no field has a sequence.
  init?(_ entities: Entities) {
    guard let derivations = entities.derivations else { return nil }
    types = entities.all.map { (entity: $0, sequences: derivations.sequences($0)) }
      .filter { !$0.sequences.isEmpty }
    slot = entities.sequences
    for type in types {
      for column in type.sequences { last[column.identity.key] = 0 }
    }
    if last.isEmpty { return nil }
  }

  /// Sequences that the newest version does not have are passed over.
  private mutating func note(_ number: UInt64?, under key: [UInt8]) {
    if let number, let known = last[key] { last[key] = max(number, known) }
  }
}

// MARK: - Finding

extension SalvagedNumbers {
  /// Notes entries of the tree of last numbers.
  mutating func note(_ entries: [(key: [UInt8], value: [UInt8])]) {
    for (key, value) in entries { note(SequenceNumbers.number(in: value), under: key) }
  }

  /// Notes the last numbers of all commits that a log has, up to the first that cannot be read.
  mutating func note(_ log: SalvagedLog) {
    var found: [(key: [UInt8], value: [UInt8])] = []
    try? log.forEachCommit(after: 0) { operations, place throws(StoreError) in
      var reader = OperationReader(operations, at: place)
      var isOfNumbers = false
      while let operation = try reader.next() {
        switch operation.kind {
        case .tree: isOfNumbers = operation.key.array() == Array(Entities.sequencesName.utf8)
        case .add, .replace:
          if isOfNumbers { found.append((operation.key.array(), operation.value.array())) }
        case .remove, .clear, .schemaVersion: break
        }
      }
    }
    note(found)
  }

  /// Notes the numbers of all rows in the copy, before some of them are left out. A row that cannot be read has none.
  ///
  /// - Complexity: O(records) of the types with sequences.
  /// - Throws: `.corrupt`, `.io` of the copy itself.
  mutating func noteRows(in trees: TreeAccess) throws(StoreError) {
    for (entity, sequences) in types {
      let cursor = try trees.cursor(in: entity.rows)
      while try cursor.advance() {
        for column in sequences {
          let number = try? column.number(key: cursor.key, row: try cursor.value(), of: entity)
          note(number, under: column.identity.key)
        }
      }
    }
  }

  /// Notes the numbers in the primary keys of records that the copy knows to be lost.
  ///
  /// - Throws: `.corrupt`, `.io` of the copy itself.
  mutating func noteLost(in trees: TreeAccess) throws(StoreError) {
    for (entity, sequences) in types {
      guard let column = sequences.first(where: \.isKey) else { continue }
      let cursor = try trees.cursor(in: entity.lost)
      while try cursor.advance() {
        note(try? SequenceColumn.number(inKey: cursor.key, of: entity), under: column.identity.key)
      }
    }
  }
}

extension SequenceColumn {
  /// Returns the number of a row; nil if it has none.
  fileprivate func number(
    key: RawSpan, row: RawSpan, of entity: Entity
  ) throws(StoreError) -> UInt64? {
    if isKey { return try Self.number(inKey: key, of: entity) }
    let reader = try entity.row(key: key, row: row)
    return isThere(in: reader) ? try reader.value(column).sequenceNumber : nil
  }

  /// Returns the number that is a primary key; nil if it is below 1.
  fileprivate static func number(
    inKey key: RawSpan, of entity: Entity
  ) throws(StoreError) -> UInt64? {
    let layout = entity.layout
    guard let part = layout.key.columns.first else { return nil }
    var reader = KeyReader(key, layout: layout)
    return try reader.value(part).sequenceNumber
  }
}

// MARK: - Writing

extension SalvagedNumbers {
  /// Raises the last numbers of the copy to those that were found, and removes entries that are none.
  ///
  /// - Returns: The faults of the removed entries.
  /// - Throws: errors of a commit; `.corrupt`, `.io` of the copy itself.
  func write(to backend: any StoreBackend) throws(StoreError) -> [StoreError] {
    var raised = last.filter { $0.value > 0 }
    var removed: [[UInt8]] = []
    let cursor = try backend.trees().cursor(in: slot)
    while try cursor.advance() {
      let (key, value) = (cursor.key.array(), try cursor.value().array())
      guard key.count == SequenceIdentity.keyLength, let number = SequenceNumbers.number(in: value)
      else {
        removed.append(key)
        continue
      }
      if number >= raised[key] ?? 0 { raised[key] = nil }
    }
    if raised.isEmpty && removed.isEmpty { return [] }
    let numbers = raised.sortedRarely { $0.key.lexicographicallyPrecedes($1.key) }
    try backend.commit { trees throws(StoreError) in
      for key in removed { _ = try trees.remove(key.rawSpan, in: slot) }
      for (key, number) in numbers {
        let value = SequenceNumbers.bytes(of: number)
        try trees.put(key.rawSpan, value.rawSpan, in: slot)
      }
    }
    return removed.map { SequenceCheck.fault($0) }
  }
}
