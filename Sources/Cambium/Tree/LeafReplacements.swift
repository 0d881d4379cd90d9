/// New values for entries of one leaf of the base, each as long as the old one.
///
/// A leaf that gets nothing else keeps its layout, its fill and its place in the tree: it is copied whole, with
/// other values, instead of entry by entry.
struct LeafReplacements {
  private var slots: [Int] = []
  /// The values, one behind the other.
  private var bytes: [UInt8] = []
  private var ends: [Int] = []

  var count: Int { slots.count }
  /// The slot behind the last one that gets a value.
  var endSlot: Int { (slots.last ?? -1) + 1 }

  func slot(_ index: Int) -> Int { slots[index] }

  @_lifetime(borrow self)
  func value(_ index: Int) -> RawSpan {
    let start = index == 0 ? 0 : ends[index - 1]
    return bytes.rawSpan.part(start, ends[index] - start)
  }

  mutating func removeAll() {
    slots.removeAll(keepingCapacity: true)
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
  }

  mutating func append(_ value: RawSpan, for slot: Int) {
    slots.append(slot)
    bytes.append(value)
    ends.append(bytes.count)
  }
}

/// A leaf of the base that was written anew, as it is or with other values, and linked as if it had been adopted.
///
/// The appender's pages cannot be read, so the last of these leaves is kept, should its entries be needed after
/// all.
struct RewrittenLeaf {
  /// What refers to it; nil before it is written.
  private(set) var reference: PageReference?
  private var page: [UInt8] = []

  /// Makes it of `leaf`, whose values have no pages of their own.
  mutating func make(_ leaf: borrowing Node, replacing replacements: LeafReplacements) {
    reference = nil
    page.assign(leaf.page.part(0, leaf.used))
    for index in 0..<replacements.count {
      let range = leaf.valueRange(replacements.slot(index))
      page.replace(range, with: replacements.value(index))
    }
  }

  mutating func write(
    to appender: PageAppender
  ) throws(StoreError) -> PageReference {
    let bytes = page
    let blocks = (bytes.count + Layout.blockSize - 1) / Layout.blockSize
    var aggregates = PageReference.unplaced(blocks: blocks)
    aggregates.count = UInt64(node.count)
    aggregates.lowestVersion = node.schemaVersion
    let reference = try appender.append(nodeAt: 0, blocks: blocks, stating: aggregates) { page in
      page.copy(bytes.rawSpan, to: 0)
      return bytes.count
    }
    self.reference = reference
    return reference
  }

  var node: Node {
    @_lifetime(borrow self)
    get { Node(page.rawSpan) }
  }
}

extension [UInt8] {
  /// Writes `bytes` over those in `range`, which are as many.
  fileprivate mutating func replace(_ range: Range<Int>, with bytes: RawSpan) {
    precondition(bytes.byteCount == range.count, "the layout stays as it is")
    replace(at: range.lowerBound, with: bytes, RawSpan())
  }
}
