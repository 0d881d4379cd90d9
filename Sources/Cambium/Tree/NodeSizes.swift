/// How large nodes are made.
///
/// Read pages follow from their references, so a file may mix sizes; these only say what is built.
struct NodeSizes: Hashable, Sendable {
  /// What a leaf holds at most, in bytes.
  var leaf: Int
  /// What a branch holds at most, in bytes.
  var branch: Int

  /// Leaves of one block were no faster to look up in, and cost space and sooner a level; larger ones
  /// were not measured.
  static let standard = NodeSizes(leaf: 2 * Layout.blockSize, branch: 4 * Layout.blockSize)

  /// The largest weight of an entry that stays in its leaf, a third of the leaf.
  ///
  /// An overfull node is divided where its halves are most equal, so each gets at least
  /// (capacity - heaviest entry) / 2. With a third for the heaviest that is a third of the capacity,
  /// which is what `check` demands of every node.
  var inlineWeightMax: Int { leaf / 3 }
}
