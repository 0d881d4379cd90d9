/// Adds what is emitted to the trees of a transaction, without looking whether it is there.
final class AddingSink: EmitterSink {
  private let trees: TreeChanges
  /// How many records are to be more afterwards, by record.
  private(set) var added: [UInt32: Int] = [:]

  init(_ trees: TreeChanges) {
    self.trees = trees
  }

  func add(_ key: RawSpan, _ row: RawSpan, to target: RecordTrees) throws(StoreError) {
    added[target.record.number, default: 0] += 1
    try trees.put(key, row, schemaVersion: target.layout.version, in: target.rows)
  }

  func put(_ key: RawSpan, _ row: RawSpan, to target: RecordTrees) throws(StoreError) {
    var old: [UInt8] = []
    if try !trees.copyValue(of: key, in: target.rows, to: &old) {
      added[target.record.number, default: 0] += 1
    }
    try trees.put(key, row, schemaVersion: target.layout.version, in: target.rows)
  }

  func copy(
    _ key: RawSpan, of target: RecordTrees, to row: inout [UInt8]
  ) throws(StoreError) -> Bool {
    try trees.copyValue(of: key, in: target.rows, to: &row)
  }

  func setAside(_ entry: SetAsideEntry, in tree: TreeSlot) throws(StoreError) {
    try trees.put(
      entry.key.rawSpan, entry.value.rawSpan, schemaVersion: RecordTypes.systemVersion, in: tree)
  }
}
