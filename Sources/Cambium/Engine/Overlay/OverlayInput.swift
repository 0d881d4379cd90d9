/// One tree of an overlay's version as what a merge adds to the tree below: the fold's input.
///
/// Where the version hides what lies below, the caller merges into no tree.
struct OverlayInput: SortedInput {
  /// Keeps the cursor's memory.
  private let tree: OverlayTree
  private var cursor: OverlayCursor
  private var hasBegun = false

  init(_ tree: OverlayTree) {
    self.tree = tree
    cursor = OverlayCursor(tree)
  }

  mutating func advance() throws(StoreError) -> Bool {
    if hasBegun { return cursor.next() }
    hasBegun = true
    return cursor.first()
  }

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
