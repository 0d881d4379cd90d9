/// What an overlay holds of one tree.
struct TreeState: BitwiseCopyable, Equatable {
  /// Nil if there is no entry.
  var root: OverlayNode?
  /// What the entries add up to.
  var change = 0
  var entryCount: UInt32 = 0
  /// Whether what lies below the overlay does not count.
  var hidesBase = false

  /// Whether the overlay has nothing to say of the tree.
  var isEmpty: Bool { root == nil && !hidesBase }
}

/// The states of an overlay's trees by their slots. A version that changes one copies them all: a
/// store has tens of trees.
struct OverlayDirectory: Equatable {
  private var states: [TreeState] = []

  @inline(__always)
  subscript(_ tree: TreeSlot) -> TreeState {
    get {
      let slot = Int(tree.number)
      return slot < states.count ? states[slot] : TreeState()
    }
    set {
      let slot = Int(tree.number)
      if slot >= states.count { makeRoom(for: slot) }
      states[slot] = newValue
    }
  }

  private mutating func makeRoom(for slot: Int) {
    states.append(contentsOf: repeatElement(TreeState(), count: slot + 1 - states.count))
  }

  /// The trees that have anything, in order.
  ///
  /// - Complexity: O(trees).
  var trees: [TreeSlot] {
    states.indices.lazy.filter { !states[$0].isEmpty }.map { TreeSlot(UInt32($0)) }
  }
}
