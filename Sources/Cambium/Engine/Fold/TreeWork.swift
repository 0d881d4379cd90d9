/// What a commit does with whole trees, beside the entries that its transaction changes.
///
/// It is done by the commit itself, which is then one by a footer: changes first, transforms with them, then
/// the operations in their order. None but a transform reads or writes an entry.
struct TreeWork {
  /// By tree: which entries get another value, and how many of them at most.
  var transforms: [TreeSlot: TreeTransform] = [:]
  var operations: [TreeOperation] = []
  /// What the footer says of states that can be gone back to.
  var keeping: [KeptStateChange] = []

  /// Whether the state is kept that the commit is made on.
  var keepsPresent: Bool {
    keeping.contains { if case .keep = $0 { true } else { false } }
  }

  var isEmpty: Bool { transforms.isEmpty && operations.isEmpty && keeping.isEmpty }
}

/// An operation on whole trees.
enum TreeOperation: Equatable, Sendable {
  /// `to` becomes what the first is: the same pages, until one of the two changes.
  case copy(TreeSlot, to: TreeSlot)
  /// `to` becomes what the first is, and the first empty.
  case move(TreeSlot, to: TreeSlot)
}

/// A change of which older states stay readable.
enum KeptStateChange: Equatable, Sendable {
  /// The state that the commit is made on.
  case keep(version: UInt32, label: String)
  /// All kept of a version.
  case drop(version: UInt32)
  /// All kept of a version and of later ones.
  case dropFrom(version: UInt32)
  /// All kept of versions before one.
  case dropBefore(version: UInt32)
}
