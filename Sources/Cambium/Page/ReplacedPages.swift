/// The pages of the present state that the trees of the next one no longer reach, as far as their merges know. A footer subtracts
/// them from the live bytes of segments, so that no walk over the trees is needed to count these.
struct ReplacedPages {
  /// The bytes of single pages, by segment.
  private(set) var bytes: [UInt32: UInt64] = [:]
  /// The roots of trees of which no page is left.
  private(set) var trees: [TreeRoot] = []
  /// False if there may be others.
  private(set) var isComplete = true

  /// Adds a page, and none of those below it.
  mutating func insert(_ page: PageReference) {
    bytes[page.position.segment, default: 0] &+= UInt64(page.size)
  }

  /// Adds a whole tree.
  mutating func insert(_ tree: TreeRoot) {
    trees.append(tree)
  }

  /// Says that there may be others.
  mutating func insertUnknown() {
    isComplete = false
  }
}
