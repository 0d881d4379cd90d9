/// The entries of a damaged tree, in order, without those that cannot be read.
///
/// If no node leads to a part of the tree, its leaves are looked for among all leaves of the store. Keys ascend whatever the
/// pages hold: a node whose keys are not between the separators beside it counts as lost. So no page is visited twice, and
/// the walk ends.
struct SalvagedEntries: SortedInput, ~Copyable {
  /// A part of the tree that is still to be read.
  private enum Part {
    case subtree(Subtree)
    case piece(LooseLeaves.Piece, ofLoss: Int)
  }

  /// A subtree with keys from `low` on and below `high`.
  private struct Subtree {
    let reference: PageReference
    let level: UInt8
    let low: [UInt8]
    let high: [UInt8]?
  }

  private let tree: SalvagedTree
  private let pages: PageReader
  private let losses: SalvageLosses
  /// The next is the last.
  private var rest: [Part] = []
  private var leaf = Page.none
  private var slots = 0..<0
  /// The loss of which the leaf is a part; nil if a branch leads to it.
  private var loss: Int?
  private(set) var schemaVersion: UInt32 = 0
  /// Where the leaf of the present entry is.
  private(set) var position = PagePosition(segment: 0, block: 0)
  private var currentKey: [UInt8] = []
  private var currentValue: [UInt8] = []

  init(_ tree: SalvagedTree, of pages: PageReader, losses: SalvageLosses) {
    self.tree = tree
    self.pages = pages
    self.losses = losses
    switch tree.source {
    case .root(let root):
      guard let root else { return }
      rest.append(
        .subtree(Subtree(reference: root.reference, level: root.level, low: [], high: nil)))
    case .leaves(let fault):
      lose(from: [], to: nil, count: nil, fault)
    }
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    get { currentKey.rawSpan }
  }

  var value: RawSpan {
    @_lifetime(borrow self)
    get { currentValue.rawSpan }
  }

  var isRemoval: Bool { false }

  /// True if no branch leads to the leaf of the present entry.
  var isLoose: Bool { loss != nil }

  mutating func advance() throws(StoreError) -> Bool {
    while true {
      while let slot = slots.first {
        slots = slot + 1..<slots.upperBound
        if read(slot) { return true }
      }
      guard let next = rest.popLast() else { return false }
      switch next {
      case .subtree(let subtree):
        do throws(StoreError) {
          if subtree.level == 0 { try enterLeaf(subtree) } else { try enterBranch(subtree) }
        } catch {
          lose(from: subtree.low, to: subtree.high, count: subtree.reference.count, error)
        }
      case .piece(let piece, let loss):
        // If the leaf cannot be read any more, that is as if it had not been found.
        try? enter(piece, ofLoss: loss)
      }
    }
  }

  /// Notes a part of the tree to which nothing leads, and continues with the leaves that there are of it.
  private mutating func lose(
    from low: [UInt8], to high: [UInt8]?, count: UInt64?, _ fault: StoreError
  ) {
    let loss = losses.add(tree.name, from: low, to: high, count: count, fault)
    guard let loose = tree.loose else { return }
    let pieces = loose.pieces(
      of: TreeTag(of: tree.name), from: low, to: high, behind: tree.newerThan, or: tree.known)
    rest += pieces.reversed().map { .piece($0, ofLoss: loss) }
  }

  private mutating func enterLeaf(_ subtree: Subtree) throws(StoreError) {
    let page = Page(try pages.load(subtree.reference, level: 0, as: LeafPage.self))
    let node = Node(page.bytes)
    try Self.check(node.isWithin(subtree.low, subtree.high), subtree.reference)
    schemaVersion = node.schemaVersion
    slots = 0..<node.count
    leaf = page
    loss = nil
    position = subtree.reference.position
  }

  private mutating func enter(
    _ piece: LooseLeaves.Piece, ofLoss loss: Int
  ) throws(StoreError) {
    guard let page = try tree.loose?.page(of: piece.leaf) else { return }
    let node = Node(page.bytes)
    schemaVersion = node.schemaVersion
    let start = node.search(piece.low.rawSpan).slot
    slots = start..<max(start, node.search(piece.high.rawSpan).slot)
    leaf = page
    self.loss = loss
    position = piece.leaf.position
  }

  private mutating func enterBranch(_ subtree: Subtree) throws(StoreError) {
    let page = Page(try pages.load(subtree.reference, level: subtree.level, as: BranchPage.self))
    let node = Node(page.bytes)
    try Self.check(node.isWithin(subtree.low, subtree.high), subtree.reference)
    var children: [Part] = []
    var low = subtree.low
    for index in 0..<node.childCount {
      var high = subtree.high
      if index < node.count {
        var separator: [UInt8] = []
        node.copyKey(index, to: &separator)
        high = separator
      }
      children.append(
        .subtree(
          Subtree(reference: node.child(index), level: subtree.level - 1, low: low, high: high)))
      low = high ?? []
    }
    rest += children.reversed()
  }

  private static func check(_ isWithin: Bool, _ reference: PageReference) throws(StoreError) {
    if isWithin { return }
    throw reference.fault(.separators, "its keys are not between the separators beside it")
  }

  /// Takes an entry out of the leaf; false if its value cannot be read.
  private mutating func read(_ slot: Int) -> Bool {
    let leaf = leaf
    let node = Node(leaf.bytes)
    node.copyKey(slot, to: &currentKey)
    currentValue.removeAll(keepingCapacity: true)
    do throws(StoreError) {
      if node.isExternal(slot) {
        try pages.appendLargeValue(
          PageReference(decoding: node.value(slot), at: 0), to: &currentValue)
      } else {
        currentValue.append(node.value(slot))
      }
    } catch {
      // Only this key is lost: the next possible key bounds the range.
      _ = losses.add(tree.name, from: currentKey, to: currentKey + [0], count: 1, error)
      return false
    }
    if let loss { losses.find(1, of: loss) }
    return true
  }
}

/// A tree of a damaged store, and how its entries are found.
struct SalvagedTree {
  enum Source {
    /// From its root down; nil for a tree without entries.
    case root(TreeRoot?)
    /// By its leaves alone, and why.
    case leaves(StoreError)
  }

  let name: String
  let source: Source
  /// Where leaves are looked for to which nothing leads; nil if they are not.
  var loose: LooseLeaves?
  /// Leaves up to this one count only where they are among `known`; nil for all.
  var newerThan: PagePosition?
  var known: Set<PagePosition> = []
}

/// The entries that could not be copied. Of one owner on one thread.
final class SalvageLosses {
  private(set) var all: [SalvagedState.Loss] = []

  /// - Returns: the number of the loss.
  func add(
    _ tree: String, from low: [UInt8], to high: [UInt8]?, count: UInt64?, _ fault: StoreError
  ) -> Int {
    all.append(SalvagedState.Loss(tree: tree, low: low, high: high, count: count, fault: fault))
    return all.count - 1
  }

  /// Notes entries that loose leaves had of a loss.
  func find(_ count: UInt64, of loss: Int) { all[loss].found += count }
}
