/// Which trees get levels, and when these are merged into them.
///
/// A fold that wrote much for each byte of a tree's changes is one of keys in no order: what it folds goes into a level from then on. The level
/// grows until it costs as much to write it as the tree is worth being merged: for a tree of B bytes and overlays of F that is at √(2BF),
/// where a byte is written about √(2B/F) times, and B/F times without a level. The merge tells whether keys still come in no order.
struct LevelPolicy: Sendable {
  /// The bytes of pages for each byte folded into a tree from which on it gets a level, if it is as many times as large as the changes, and larger
  /// than a full overlay; nil for never, 0 for always.
  private let least: Double?
  /// The bytes of pages that the last fold into each tree wrote for each byte.
  private var ratios: [TreeSlot: Double] = [:]

  /// The part of a tree's entries that a level removes at most before it is merged: one in so many.
  private static var removedShare: Int { 8 }
  /// The most trees that have a level.
  private static var countMax: Int { 32 }

  /// The bytes that the parts of all levels take in a catalog.
  static var catalogSize: Int { countMax * LevelPart.allCases.count * NamedTree.layerSize }

  init(least: Double?) {
    self.least = least
  }

  /// No tree gets a level, and those that there are are merged.
  static let none = LevelPolicy(least: nil)

  /// Where a fold puts the changes of a tree.
  ///
  /// - Parameters:
  ///   - byteCount: The bytes of its changes.
  ///   - usual: The bytes of the changes of a full overlay.
  func target(_ slot: TreeSlot, in base: Base, folding byteCount: Int, usual: Int) -> FoldTarget {
    guard let least else { return .tree }
    let tree = base.tree(slot)
    let size = tree.liveBytes
    if let level = base.level(slot) {
      // Removed entries take space until then.
      if level.removed.count > tree.count / Self.removedShare { return .tree }
      let full = max(usual, byteCount, 1)
      let limit = max(4 * Double(full), (2 * Double(size) * Double(full)).squareRoot())
      return Double(level.liveBytes) + Double(byteCount) > limit ? .tree : .level
    }
    let isRandom = ratios[slot].map { $0 > least } ?? (least == 0)
    let isLarge =
      Double(size) > least * Double(byteCount) && Double(size) > min(least, 1) * Double(usual)
    return isRandom && isLarge && base.levelCount < Self.countMax ? .level : .tree
  }

  /// Notes a fold.
  mutating func note(_ outcomes: [FoldOutcome]) {
    for outcome in outcomes where outcome.target == .tree && outcome.folded > 0 {
      ratios[outcome.slot] = Double(outcome.written) / Double(outcome.folded)
    }
  }
}

/// Where a fold puts the changes of a tree.
enum FoldTarget: Sendable {
  /// Into the tree itself, with those of a level over it.
  case tree
  /// Into the level over it.
  case level
}

/// A fold into one tree, as it turned out.
struct FoldOutcome: Sendable {
  let slot: TreeSlot
  let target: FoldTarget
  /// The bytes of the changes, those of a level included that was merged.
  let folded: Int
  /// The bytes of the pages that were appended.
  let written: Int
}
