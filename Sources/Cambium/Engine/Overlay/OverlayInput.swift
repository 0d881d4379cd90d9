/// One tree of an overlay's version as what a merge adds to the tree below: the fold's input.
///
/// Where the version hides what lies below, the caller merges into no tree.
struct OverlayInput: SortedInput {
  /// Keeps the cursor's memory.
  private let tree: OverlayTree
  private var cursor: OverlayCursor
  private let interval: KeyInterval
  private var hasBegun = false

  init(_ tree: OverlayTree, within interval: KeyInterval = .all) {
    self.tree = tree
    self.interval = interval
    cursor = OverlayCursor(tree)
  }

  mutating func advance() throws(StoreError) -> Bool {
    let start = interval.start
    let isOn = hasBegun ? cursor.next() : cursor.seek(to: start.rawSpan)
    hasBegun = true
    return isOn && isWithin
  }

  private var isWithin: Bool { interval.endsAfter(cursor.key) }

  var key: RawSpan {
    @_lifetime(borrow self)
    get { cursor.key }
  }

  var value: RawSpan {
    @_lifetime(borrow self)
    get { cursor.value }
  }

  var isRemoval: Bool { cursor.isRemoval }
  var schemaVersion: UInt32 { cursor.schemaVersion }
}
