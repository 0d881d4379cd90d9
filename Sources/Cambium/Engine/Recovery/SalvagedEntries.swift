/// The entries of a damaged tree, in order, without those that cannot be read.
///
/// Keys ascend whatever the pages say: a node whose keys are not between the separators beside it is lost,
/// too. So no page is come to twice, and the walk ends.
struct SalvagedEntries: SortedInput, ~Copyable {
  /// A subtree that is still to be read, with keys from `low` on and below `high`.
  private struct Subtree {
    let reference: PageReference
    let level: UInt8
    let low: [UInt8]
    let high: [UInt8]?
  }

  private let name: String
  private let pages: PageReader
  private let losses: SalvageLosses
  /// The next is the last.
  private var rest: [Subtree] = []
  private var leaf = Page.none
  private var slots = 0..<0
  private(set) var schemaVersion: UInt32 = 0
  private var currentKey: [UInt8] = []
  private var currentValue: [UInt8] = []

  init(_ tree: NamedTree, of pages: PageReader, losses: SalvageLosses) {
    name = tree.name
    self.pages = pages
    self.losses = losses
    if let root = tree.root {
      rest.append(Subtree(reference: root.reference, level: root.level, low: [], high: nil))
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

  mutating func advance() throws(StoreError) -> Bool {
    while true {
      while let slot = slots.first {
        slots = slot + 1..<slots.upperBound
        if read(slot) { return true }
      }
      guard let next = rest.popLast() else { return false }
      do throws(StoreError) {
        if next.level == 0 { try enterLeaf(next) } else { try enterBranch(next) }
      } catch {
        losses.add(name, from: next.low, to: next.high, count: next.reference.count, error)
      }
    }
  }

  private mutating func enterLeaf(_ subtree: Subtree) throws(StoreError) {
    let page = Page(try pages.load(subtree.reference, level: 0, as: LeafPage.self))
    let node = Node(page.bytes)
    try Self.check(node.isWithin(subtree.low, subtree.high), subtree.reference)
    schemaVersion = node.schemaVersion
    slots = 0..<node.count
    leaf = page
  }

  private mutating func enterBranch(_ subtree: Subtree) throws(StoreError) {
    let page = Page(try pages.load(subtree.reference, level: subtree.level, as: BranchPage.self))
    let node = Node(page.bytes)
    try Self.check(node.isWithin(subtree.low, subtree.high), subtree.reference)
    var children: [Subtree] = []
    var low = subtree.low
    for index in 0..<node.childCount {
      var high = subtree.high
      if index < node.count {
        var separator: [UInt8] = []
        node.copyKey(index, to: &separator)
        high = separator
      }
      children.append(
        Subtree(reference: node.child(index), level: subtree.level - 1, low: low, high: high))
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
    guard node.isExternal(slot) else {
      currentValue.append(node.value(slot))
      return true
    }
    do throws(StoreError) {
      try pages.appendLargeValue(
        PageReference(decoding: node.value(slot), at: 0), to: &currentValue)
      return true
    } catch {
      // The lowest key above this one bounds what is lost.
      losses.add(name, from: currentKey, to: currentKey + [0], count: 1, error)
      return false
    }
  }
}
