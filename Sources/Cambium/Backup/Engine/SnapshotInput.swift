/// The entries of one tree of a snapshot, in order, as a merge adds them to an empty tree.
///
/// The owner must keep the snapshot.
struct SnapshotInput: SortedInput, ~Copyable {
  private var cursor: LayeredCursor
  private let monitor: BackupMonitor
  private var hasBegun = false
  /// The value of the entry, if it has pages of its own.
  private var largeValue: [UInt8] = []

  init(_ tree: LayeredTree, _ monitor: BackupMonitor) {
    cursor = LayeredCursor(tree)
    self.monitor = monitor
  }

  mutating func advance() throws(StoreError) -> Bool {
    let isOn = hasBegun ? try cursor.next() : try cursor.first()
    hasBegun = true
    if !isOn { return false }
    try monitor.step()
    if cursor.isExternal {
      largeValue.removeAll(keepingCapacity: true)
      try cursor.appendValue(to: &largeValue)
    }
    return true
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    get { cursor.key }
  }

  var value: RawSpan {
    @_lifetime(borrow self)
    get { cursor.isExternal ? largeValue.rawSpan : cursor.storedValue }
  }

  var isRemoval: Bool { false }
  var schemaVersion: UInt32 { cursor.schemaVersion }
}
