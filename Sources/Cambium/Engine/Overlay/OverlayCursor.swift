/// A place in one tree of an overlay's version that moves from entry to entry, in order and back.
///
/// A cursor stands on an entry or nowhere; it begins nowhere, and a move that finds none leaves it
/// nowhere. It can be copied, and keeps nothing alive, so that copies and moves cost no counting:
/// whoever has a cursor keeps the version and so its arena.
struct OverlayCursor: @unchecked Sendable {
  private let root: OverlayNode?
  private var path = OverlayPath()
  /// The leaf of the entry; nil if the cursor stands nowhere.
  private var leaf: OverlayNode?
  private var slot = 0
  private var entry = EntryReference.none

  init(_ tree: OverlayTree) {
    root = tree.root
  }

  /// A cursor in a tree without entries.
  init() { root = nil }

  /// A cursor on the entry before `slot` of a leaf; nil if there is none.
  init?(_ tree: OverlayTree, _ path: OverlayPath, leaf: OverlayNode, slotBefore slot: Int) {
    self.init(tree)
    self.path = path
    self.leaf = leaf
    let isOn = slot > 0 ? set(leaf, slot - 1) : stepToPreviousLeaf()
    if !isOn { return nil }
  }

  /// Whether the cursor stands on an entry.
  @inline(__always)
  var isOnEntry: Bool { leaf != nil }

  /// The key of the entry. Until the cursor moves.
  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { unsafe _overrideLifetime(present.key, borrowing: self) }
  }

  /// The value of the entry; of no meaning in a removal. Until the cursor moves.
  var value: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { unsafe _overrideLifetime(present.value, borrowing: self) }
  }

  /// Whether the key is there no more.
  @inline(__always)
  var isRemoval: Bool { present.isRemoval }
  /// By how many the entry changes the count of what lies below the overlay.
  var change: Int { present.effect.change }
  /// The schema version of the value; of no meaning in a removal.
  var schemaVersion: UInt32 { present.schemaVersion }

  /// The entry.
  @inline(__always)
  var present: EntryReference {
    precondition(isOnEntry, "a cursor has an entry while it stands on one")
    return entry
  }
}

// MARK: Going to a place

extension OverlayCursor {
  /// Goes to the first entry. False if there is none.
  mutating func first() -> Bool {
    descend { _ in 0 }
    return stand(on: 0)
  }

  /// Goes to the last entry. False if there is none.
  mutating func last() -> Bool {
    descend { $0.count - 1 }
    return stand(on: (leaf?.count ?? 0) - 1)
  }

  /// Goes to the first entry whose key is not below `key`. False if there is none.
  ///
  /// - Complexity: O(log entries).
  mutating func seek(to key: RawSpan) -> Bool {
    descend { $0.childIndex(for: key) }
    return stand(on: leaf?.search(key).slot ?? 0)
  }

  /// Goes to a leaf, by the child that `choose` names of each branch.
  @inline(__always)
  private mutating func descend(toChild choose: (OverlayNode) -> Int) {
    path.cut(to: 0)
    leaf = nil
    if let root { descend(from: root, toChild: choose) }
  }

  @inline(__always)
  private mutating func descend(from top: OverlayNode, toChild choose: (OverlayNode) -> Int) {
    var node = top
    while !node.isLeaf {
      let index = choose(node)
      path.append(node, index)
      node = node.child(index)
      node.prefetchHeads()
    }
    leaf = node
  }

  /// Stands on `slot` of the leaf, or on the first entry behind the leaf.
  private mutating func stand(on slot: Int) -> Bool {
    guard let leaf else { return false }
    if slot < leaf.count { return set(leaf, slot) }
    return stepToNextLeaf()
  }

  @inline(__always)
  private mutating func set(_ leaf: OverlayNode, _ slot: Int) -> Bool {
    self.slot = slot
    entry = leaf.reference(slot)
    return true
  }
}

// MARK: Moving

extension OverlayCursor {
  /// How many entries ahead the processor is asked for: they lie in the order they were written.
  private static var distance: Int { 8 }

  /// Moves to the next entry. False behind the last.
  @inline(__always)
  mutating func next() -> Bool {
    guard let leaf else { return false }
    let slot = slot &+ 1
    guard slot < leaf.count else { return stepToNextLeaf() }
    if slot &+ Self.distance < leaf.count { leaf.reference(slot &+ Self.distance).prefetch() }
    return set(leaf, slot)
  }

  /// Moves to the entry before. False before the first.
  mutating func previous() -> Bool {
    guard let leaf else { return false }
    return slot > 0 ? set(leaf, slot - 1) : stepToPreviousLeaf()
  }

  @inline(never)
  private mutating func stepToNextLeaf() -> Bool {
    leaf = nil
    while path.depth > 0 {
      let step = path[path.depth - 1]
      path.cut(to: path.depth - 1)
      if step.index + 1 < step.node.count {
        path.append(step.node, step.index + 1)
        descend(from: step.node.child(step.index + 1)) { _ in 0 }
        break
      }
    }
    guard let leaf else { return false }
    for ahead in 1..<max(2, min(Self.distance, leaf.count)) where ahead < leaf.count {
      leaf.reference(ahead).prefetch()
    }
    return set(leaf, 0)
  }

  @inline(never)
  private mutating func stepToPreviousLeaf() -> Bool {
    leaf = nil
    while path.depth > 0 {
      let step = path[path.depth - 1]
      path.cut(to: path.depth - 1)
      if step.index > 0 {
        path.append(step.node, step.index - 1)
        descend(from: step.node.child(step.index - 1)) { $0.count - 1 }
        break
      }
    }
    guard let leaf else { return false }
    return set(leaf, leaf.count - 1)
  }
}
