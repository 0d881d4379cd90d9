/// Which trees get levels, and when and in which pieces these are merged into them.
///
/// A fold that wrote much for each byte of a tree's changes is one of keys in no order: what it folds goes into a level from then on. Once
/// the level has its size, each fold merges as much of it into the tree as comes to it: one interval of keys after the other, round and round.
/// So every fold costs about the same, and of a tree nothing is there twice but the interval at hand.
///
/// A fold of F bytes into a level of L over a tree of B rewrites the level, and as the interval that is due has been waiting for a whole round
/// and has twice its share of the changes, B × F / 2L of the tree. Together that is least at L = √(BF/2): √(2BF), and B without a level. F is
/// that of a full overlay of the largest size. A spilled transaction may have more: it goes into the tree if the level would become more than twice as large as L.
///
/// (The round of intervals is that of LevelDB's compactions.)
struct LevelPolicy: Sendable {
  /// The bytes of pages for each byte folded into a tree from which on it gets a level, if it is as many times as large as the changes, and larger
  /// than a full overlay; nil for never, 0 for always.
  private let least: Double?
  /// The bytes that are to be merged into a tree at least so that they get segments of their own.
  private let leastSegment: Int
  /// The bytes of the changes of a full overlay of the largest size.
  private let usual: Int
  /// False if trees that have no level get none, and the others keep theirs.
  var makesNew = true
  /// The bytes of pages that the last fold into each tree wrote for each byte.
  private var ratios: [TreeSlot: Double] = [:]
  /// Where the next interval begins; at the first key if there is none.
  private var starts: [TreeSlot: [UInt8]] = [:]
  /// The trees whose changes went to few places of their level at last.
  private var ordered: Set<TreeSlot> = []

  /// The part of a tree's entries that a level removes at most before it is merged: one in so many.
  private static var removedShare: Int { 8 }
  /// The pages' bytes for each byte of changes in order, at most.
  private static var orderedRatio: Double { 2 }
  /// The most trees that have a level.
  private static var countMax: Int { 32 }

  /// The bytes that all levels take in a catalog.
  static var catalogSize: Int { countMax * LevelLayer.all.count * NamedTree.layerSize }

  init(least: Double?, leastSegment: Int = 0, usual: Int = 0) {
    self.least = least
    self.leastSegment = leastSegment
    self.usual = usual
  }

  /// No tree gets a level, and those that there are are merged.
  static let none = LevelPolicy(least: nil)

  /// False if no tree gets a level.
  var makesLevels: Bool { least != nil }

  /// Where a fold puts the changes of a tree.
  ///
  /// - Parameter byteCount: The bytes of its changes.
  /// - Throws: `.corrupt`, `.io`.
  func target(
    _ slot: TreeSlot, in base: Base, folding byteCount: Int
  ) throws(StoreError) -> FoldTarget {
    guard let least else { return .tree }
    let tree = base.tree(slot)
    let size = Double(tree.liveBytes)
    if size <= min(least, 1) * Double(usual) { return .tree }
    let level = base.level(slot)
    if let level {
      // Removed entries take space until then.
      let isShort = level.removed.count > tree.count / Self.removedShare
      if isShort || ordered.contains(slot) { return .tree }
    } else {
      let isRandom = ratios[slot].map { $0 > least } ?? (least == 0)
      let isLarge = size > least * Double(byteCount)
      guard makesNew, isRandom, isLarge, base.levelCount < Self.countMax else { return .tree }
    }
    let full = Double(max(usual, 1))
    let limit = max(3 * full, (size * full / 2).squareRoot())
    let changes = Double((level?.liveBytes ?? 0) + byteCount)
    let share = (changes - limit) / max(changes, 1)
    if share > 0.5 { return .tree }
    // A level smaller than the changes would not show which keys have that share.
    guard let level, share > 0, level.liveBytes >= byteCount else { return .level(merging: nil) }
    return .level(merging: try merge(share, of: level, slot, into: tree))
  }

  /// The next interval that has a share of a level.
  private func merge(
    _ share: Double, of level: Level, _ slot: TreeSlot, into tree: Tree
  ) throws(StoreError) -> LevelMerge {
    let part = level.largestPart
    var start = starts[slot] ?? []
    var rank = try part.rank(of: start.rawSpan)
    if rank == part.count { (start, rank) = ([], 0) }
    var cursor = Cursor(part)
    let count = max(1, Int(share * Double(part.count)))
    let isBound =
      try cursor.seek(toOffset: rank + count) ? cursor.key.compare(start.rawSpan) > 0 : false
    let interval = KeyInterval(start: start, end: isBound ? cursor.key.array() : nil)
    let treeShare =
      Double(try tree.count(from: start, upTo: interval.end)) / Double(max(1, tree.count))
    return LevelMerge(
      interval: interval,
      hasOwnSegments: treeShare * Double(tree.liveBytes) >= Double(leastSegment))
  }

  /// Notes a fold.
  mutating func note(_ outcomes: [FoldOutcome]) {
    for outcome in outcomes {
      let ratio = Double(outcome.written) / Double(max(1, outcome.folded))
      switch outcome.target {
      case .tree:
        starts[outcome.slot] = nil
        ordered.remove(outcome.slot)
        if outcome.folded > 0 { ratios[outcome.slot] = ratio }
      case .level(let merge):
        if let merge { starts[outcome.slot] = merge.interval.end ?? [] }
        // In a level that is not much larger than the changes, every fold writes little.
        if outcome.level > 2 * outcome.folded, ratio < Self.orderedRatio, least != 0 {
          ordered.insert(outcome.slot)
        }
      }
    }
  }
}

extension Level {
  fileprivate var largestPart: Tree {
    if added.count >= replaced.count, added.count >= removed.count { return added }
    return replaced.count >= removed.count ? replaced : removed
  }
}

/// Where a fold puts the changes of a tree.
enum FoldTarget: Equatable, Sendable {
  /// Into the tree itself, with those of a level over it.
  case tree
  /// Into the level over it, but for what is merged into the tree.
  case level(merging: LevelMerge?)
}

/// What a fold merges into a tree of the changes to it and of the level over it.
struct LevelMerge: Equatable, Sendable {
  let interval: KeyInterval
  /// Whether the tree's pages go to segments in which nothing else is: these are given back as a whole when the next round comes to them.
  let hasOwnSegments: Bool
}

/// A fold into one tree, as it turned out.
struct FoldOutcome: Sendable {
  let slot: TreeSlot
  let target: FoldTarget
  /// The bytes of the changes.
  let folded: Int
  /// The bytes of the level before.
  let level: Int
  /// The bytes of the pages that were appended to where the changes went: to the tree, or to the level.
  let written: Int
}
