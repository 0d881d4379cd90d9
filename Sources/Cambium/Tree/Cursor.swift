/// A place in a tree that moves from entry to entry, in order and back.
///
/// It keeps the path to its leaf, so nothing in the file has to point sideways. A cursor stands on an
/// entry or nowhere; it begins nowhere, and a move that finds none leaves it nowhere.
struct Cursor: ~Copyable {
  /// A branch on the path, and the child the path goes on with.
  private struct Step {
    let reference: PageReference
    let level: UInt8
    var child: Int
    let childCount: Int
  }

  private let tree: Tree
  private var path: [Step] = []
  /// The leaf of the entry, and its layout; of no meaning while the cursor stands nowhere.
  private var leaf = Page.none
  private var layout = NodeLayout.none
  /// Where the leaf's entries are, if all have the same widths.
  private var even: EvenEntries?
  /// The slot of the entry, or -1.
  private var slot = -1
  private let keyBuffer = KeyBuffer()

  init(_ tree: Tree) {
    self.tree = tree
  }

  /// Whether the cursor stands on an entry.
  var isOnEntry: Bool { slot >= 0 }

  /// The key of the entry. Until the cursor moves.
  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      precondition(isOnEntry, "a cursor has a key while it stands on an entry")
      return keyBuffer.key(parts, prefixLength: layout.prefixLength, of: leaf)
    }
  }

  /// The first eight bytes of the key as a number, which need not be put together for it.
  @inline(__always)
  var keyHead: UInt64 {
    precondition(isOnEntry, "a cursor has a key while it stands on an entry")
    return Node(leaf.bytes, layout).keyHead(slot)
  }

  /// The value, or the reference to its pages if it is external. Until the cursor moves.
  var storedValue: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      precondition(isOnEntry, "a cursor has a value while it stands on an entry")
      return leaf.bytes.extracting(parts.value)
    }
  }

  /// Whether the value has pages of its own. Cheaper than by way of the entry, which keeps the page.
  @inline(__always)
  var isExternal: Bool {
    precondition(isOnEntry, "a cursor has a value while it stands on an entry")
    return Node(leaf.bytes, layout).isExternal(slot)
  }

  /// The schema version of the entry. Cheaper than by way of the entry, which keeps the page.
  @inline(__always)
  var schemaVersion: UInt32 {
    precondition(isOnEntry, "a cursor has a version while it stands on an entry")
    return Node(leaf.bytes, layout).schemaVersion
  }

  /// Where the entry's parts are. Found when asked for: a scan may want only some.
  @inline(__always)
  private var parts: EntryParts {
    guard let even else { return Node(leaf.bytes, layout).parts(slot) }
    return even.parts(slot, head: Node(leaf.bytes, layout).head(slot))
  }

  /// The entry. It can be kept as long as the tree.
  var entry: LeafEntry {
    precondition(isOnEntry, "a cursor has an entry while it stands on one")
    return LeafEntry(page: leaf, slot: slot)
  }
}

// MARK: Going to a place

extension Cursor {
  /// Goes to the first entry. False if there is none.
  mutating func first() throws(StoreError) -> Bool {
    guard try descend(toChild: { _ in 0 }) else { return false }
    return try stand(on: 0)
  }

  /// Goes to the last entry. False if there is none.
  mutating func last() throws(StoreError) -> Bool {
    guard try descend(toChild: { $0.count }) else { return false }
    return try stand(on: layout.count - 1)
  }

  /// Goes to the first entry whose key is not below `key`. False if there is none.
  ///
  /// - Complexity: O(log count), in the leaf alone if the key belongs there.
  mutating func seek(to key: RawSpan) throws(StoreError) -> Bool {
    if isOnEntry {
      let place = searchLeaf(for: key)
      // A key below or above all keys of the leaf may belong in another leaf.
      if place.isFound || place.slot > 0 && place.slot < layout.count {
        slot = place.slot
        return true
      }
    }
    guard try descend(toChild: { $0.childIndex(for: key) }) else { return false }
    return try stand(on: firstSlot(notBelow: key))
  }

  /// The first slot of the leaf whose key is not below `key`, its cells on their way.
  private func firstSlot(notBelow key: RawSpan) -> Int {
    let node = Node(leaf.bytes, layout)
    let slot = node.firstSlot(notBelowHeadOf: key)
    if slot < node.count { node.prefetchCells(from: slot) }
    return node.search(key).slot
  }

  /// Goes to the entry with `offset` entries before it. False if there is none.
  ///
  /// - Complexity: O(log count), and the children of the branches on the path.
  /// - Throws: `.corrupt`, also where the counts beside the path do not add up; `.io`.
  mutating func seek(toOffset offset: Int) throws(StoreError) -> Bool {
    guard let root = tree.root, offset >= 0, offset < tree.count else { return leave() }
    var search = OffsetSearch(offset, below: root.reference)
    guard try descend(toChild: { search.child(of: $0) }) else { return false }
    return try stand(on: search.slot(in: Node(leaf.bytes, layout)))
  }

  /// Goes down from the root, by the child that `choose` names of each branch.
  private mutating func descend(toChild choose: (borrowing Node) -> Int) throws(StoreError) -> Bool
  {
    path.removeAll(keepingCapacity: true)
    guard let root = tree.root else { return leave() }
    path.reserveCapacity(Int(root.level))
    try descend(from: root.reference, level: root.level, toChild: choose)
    return true
  }

  /// - Parameter comparingCounts: Whether each page must hold as many entries as the reference says that led to it.
  ///   A hostile file may lead to a page by many references; compared so, a scan ends behind as many entries as its
  ///   root can have.
  private mutating func descend(
    from reference: PageReference, level: UInt8, comparingCounts: Bool = false,
    toChild choose: (borrowing Node) -> Int
  ) throws(StoreError) {
    slot = -1
    var reference = reference
    var level = level
    while level > 0 {
      let page = try tree.pages.page(reference, level: level, as: BranchPage.self)
      let node = Node(page.bytes)
      if comparingCounts { try node.checkCount(reference) }
      let child = choose(node)
      path.append(
        Step(reference: reference, level: level, child: child, childCount: node.childCount))
      reference = node.child(child)
      level -= 1
    }
    tree.pages.prefetch(reference, keys: Int(truncatingIfNeeded: reference.count))
    leaf = try tree.pages.page(reference, level: 0, as: LeafPage.self)
    layout = NodeLayout(leaf.bytes)
    if comparingCounts { try Node(leaf.bytes, layout).checkCount(reference) }
    even = Node(leaf.bytes, layout).evenEntries
    keyBuffer.begin(leaf, layout)
  }

  /// Stands on `slot` of the leaf, or on the first entry behind the leaf.
  private mutating func stand(on slot: Int) throws(StoreError) -> Bool {
    if slot < layout.count {
      self.slot = slot
      return true
    }
    guard try stepToNextLeaf() else { return leave() }
    self.slot = 0
    return true
  }

  private mutating func leave() -> Bool {
    slot = -1
    return false
  }
}

// MARK: Moving

extension Cursor {
  /// Moves to the next entry. False behind the last.
  @inline(__always)
  mutating func next() throws(StoreError) -> Bool {
    guard isOnEntry else { return false }
    if slot &+ 1 < layout.count {
      slot &+= 1
      return true
    }
    return try stand(on: layout.count)
  }

  /// Moves to the entry before. False before the first.
  mutating func previous() throws(StoreError) -> Bool {
    guard isOnEntry else { return false }
    if slot == 0, try !stepToPreviousLeaf() { return leave() }
    slot = slot > 0 ? slot - 1 : layout.count - 1
    return true
  }

  @inline(never)
  private mutating func stepToNextLeaf() throws(StoreError) -> Bool {
    while let step = path.last, step.child + 1 == step.childCount { path.removeLast() }
    return try step(by: 1, toChild: { _ in 0 })
  }

  @inline(never)
  private mutating func stepToPreviousLeaf() throws(StoreError) -> Bool {
    while let step = path.last, step.child == 0 { path.removeLast() }
    return try step(by: -1, toChild: { $0.count })
  }

  /// Goes to the child beside that of the lowest step left, and down from there.
  private mutating func step(
    by distance: Int, toChild choose: (borrowing Node) -> Int
  ) throws(StoreError) -> Bool {
    guard let step = path.last else { return false }
    // Nowhere until it has arrived: after an error the path is no longer that of the entry.
    slot = -1
    let child = step.child + distance
    path[path.count - 1].child = child
    let page = try tree.pages.page(step.reference, level: step.level, as: BranchPage.self)
    let node = Node(page.bytes)
    let reference = node.child(child)
    // The processor reads ahead within 4 KiB; where those begin it has to be told.
    tree.pages.prefetchBlocks(of: reference)
    if child + distance >= 0, child + distance < node.childCount {
      tree.pages.prefetch(node.child(child + distance), keys: node.count)
    }
    try descend(from: reference, level: step.level - 1, comparingCounts: true, toChild: choose)
    return true
  }
}

// MARK: Moving within the leaf

// For a cursor that merges this one with others: it compares keys once a leaf, and then moves by slots.

extension Cursor {
  /// The slot of the entry in its leaf.
  var slotInLeaf: Int { slot }

  /// The number of entries in the leaf of the entry.
  var countInLeaf: Int { layout.count }

  /// Where `key` is in the leaf of the entry, or would be.
  ///
  /// - Parameter start: A slot that it is probably in or a few behind.
  @inline(__always)
  func searchLeaf(for key: RawSpan, near start: Int? = nil) -> SearchResult {
    precondition(isOnEntry, "a cursor has a leaf while it stands on an entry")
    return Node(leaf.bytes, layout).search(key, near: start)
  }

  /// Where a key is in the leaf, or would be, of which the first eight bytes are known; nil if these do not tell.
  @inline(__always)
  func slotInLeaf(notBelowKeyHead keyHead: UInt64, near start: Int) -> Int? {
    precondition(isOnEntry, "a cursor has a leaf while it stands on an entry")
    return Node(leaf.bytes, layout).firstSlot(notBelowKeyHead: keyHead, near: start)
  }

  /// Moves to the next entry if its slot is below `limit`, which is at most the count in the leaf.
  @inline(__always)
  mutating func next(below limit: Int) -> Bool {
    guard slot &+ 1 < limit else { return false }
    slot &+= 1
    return true
  }

  /// Moves to the entry before if its slot is at least `floor`, which is at least 0.
  @inline(__always)
  mutating func previous(from floor: Int) -> Bool {
    guard slot > floor else { return false }
    slot &-= 1
    return true
  }
}
