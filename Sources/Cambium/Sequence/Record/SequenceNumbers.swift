/// The last numbers of sequences as one transaction sees them, with those that it has given.
///
/// They are in memory while the transaction is under way, and written once when it commits. So a record costs no write for its
/// number, and what is rolled back was never written.
struct SequenceNumbers {
  private var last: [SequenceIdentity: UInt64] = [:]
  /// The sequences of which numbers were given.
  private var given: Set<SequenceIdentity> = []

  /// Returns the last number of a sequence: the greatest that a record has, or one above it that a record had before it was deleted.
  ///
  /// - Complexity: O(1); the first time in a transaction, O(log records).
  /// - Throws: `.corrupt`, `.io`.
  mutating func last(
    of column: SequenceColumn, in entity: Entity, _ trees: TransactionTrees, keptIn tree: TreeSlot
  ) throws(StoreError) -> UInt64 {
    if let known = last[column.identity] { return known }
    let trees = TreeAccess.transaction(trees)
    // A program whose model has no sequence may have written greater numbers than the one that is kept.
    let found = max(
      try Self.kept(column.identity, in: trees, tree),
      try column.greatest(of: entity, in: trees))
    last[column.identity] = found
    return found
  }

  /// Notes numbers that records were written with.
  mutating func note(_ numbers: [SequenceIdentity: UInt64]) {
    for (identity, number) in numbers where number > last[identity] ?? 0 {
      last[identity] = number
      given.insert(identity)
    }
  }

  /// The last numbers that have changed, by the keys that they are kept under, ascending.
  var changed: [(key: [UInt8], value: [UInt8])] {
    given.map { (key: $0.key, value: Self.bytes(of: last[$0] ?? 0)) }
      .sortedRarely { $0.key.lexicographicallyPrecedes($1.key) }
  }

  /// A last number as a store keeps it.
  static func bytes(of number: UInt64) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: number)
    return bytes
  }

  /// Returns the last number of a sequence that a store keeps; 0 if there is none.
  static func kept(
    _ identity: SequenceIdentity, in trees: TreeAccess, _ tree: TreeSlot
  ) throws(StoreError) -> UInt64 {
    var value: [UInt8] = []
    let key = identity.key
    guard try trees.copyValue(of: key.rawSpan, in: tree, to: &value) else { return 0 }
    guard let number = number(in: value) else { throw SequenceCheck.fault(key) }
    return number
  }

  /// Returns the last number that bytes are; nil if they are none.
  static func number(in value: [UInt8]) -> UInt64? {
    value.count == MemoryLayout<UInt64>.size ? value.rawSpan.load(0, as: UInt64.self) : nil
  }
}

/// Checks that the last numbers of sequences are whole (K6).
enum SequenceCheck {
  /// - Throws: `.io`. Damage to pages is a fault, too.
  static func faults(in trees: TreeAccess, _ slot: TreeSlot) throws(StoreError) -> [StoreError] {
    var faults: [StoreError] = []
    do throws(StoreError) {
      let cursor = try trees.cursor(in: slot)
      while faults.count < RecordCheck.faultsMax, try cursor.advance() {
        let (key, value) = (cursor.key.array(), try cursor.value().array())
        if key.count != SequenceIdentity.keyLength || SequenceNumbers.number(in: value) == nil {
          faults.append(fault(key))
        }
      }
    } catch {
      guard case .corrupt = error else { throw error }
      faults.append(error)
    }
    return faults
  }

  static func fault(_ key: [UInt8]) -> StoreError {
    .corrupt(
      .entry(tree: Entities.sequencesName, key: key), invariant: .sequences,
      reason: "it is no last number of a sequence")
  }
}
