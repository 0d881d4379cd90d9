/// A tree that a merge takes over after its base: all its keys are above those of the base and of the trees before it.
struct FollowingTree {
  let root: TreeRoot
  /// Above all keys before the tree, and not above any of it; empty if there are none before it.
  let separator: [UInt8]
}
