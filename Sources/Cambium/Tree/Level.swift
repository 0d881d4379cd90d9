/// The changes of a tree since they were last merged into it: a level over the tree, of three ordinary trees that have no key in common,
/// and a filter of their keys.
///
///     added      keys that the tree below does not have
///     replaced   keys that it has, with other values
///     removed    keys that it has and that are there no more, without values
///
/// A fold of keys in no order would write nearly every leaf of a large tree. It writes a level instead, which is much smaller, and is merged
/// into the tree once it has grown: so each leaf of the tree is written once for many folds. As each part is a tree of its own, counts
/// and ranks are sums, and pages, checks and the counting of live bytes know nothing of levels.
///
/// (O'Neil, Cheng, Gawlick and O'Neil, "The Log-Structured Merge-Tree", 1996, with two components on disk.)
final class Level: Sendable {
  let added: Tree
  let replaced: Tree
  let removed: Tree
  private let filter: LevelFilter

  /// - Parameter roots: Of its parts, by their number.
  /// - Returns: nil if there is no change.
  init?(_ roots: LevelRoots, of pages: PageReader) {
    if roots.isEmpty { return nil }
    added = Tree(pages: pages, root: roots[.added])
    replaced = Tree(pages: pages, root: roots[.replaced])
    removed = Tree(pages: pages, root: roots[.removed])
    filter = LevelFilter(Tree(pages: pages, root: roots.filter))
  }

  var roots: LevelRoots {
    var roots = LevelRoots()
    roots.filter = filter.tree.root
    for part in LevelPart.allCases { roots[part] = self[part].root }
    return roots
  }

  subscript(_ part: LevelPart) -> Tree {
    switch part {
    case .added: added
    case .replaced: replaced
    case .removed: removed
    }
  }

  /// The number of keys that it changes.
  var changeCount: Int { added.count + replaced.count + removed.count }

  /// The bytes of its pages.
  var liveBytes: Int {
    LevelPart.allCases.reduce(filter.tree.liveBytes) { $0 + self[$1].liveBytes }
  }

  /// The lowest schema version of its entries; nil if it only removes.
  var lowestVersion: UInt32? {
    [added.lowestVersion, replaced.lowestVersion].compactMap(\.self).min()
  }
}

// MARK: - Looking up

/// The change of a key by a level.
enum LevelAnswer {
  case nothing
  case removal
  case put(LeafEntry)
}

extension Level {
  /// False if the level does not change `key`. If it may, that is true of all but a few in a hundred.
  ///
  /// - Complexity: A cache line.
  func mayChange(_ key: RawSpan) -> Bool { filter.mayContain(key) }

  /// - Complexity: A look-up in each part that has entries, if the level may change the key.
  /// - Throws: `.corrupt`, `.io`.
  @inline(never)
  func answer(for key: RawSpan) throws(StoreError) -> LevelAnswer {
    guard mayChange(key) else { return .nothing }
    if let entry = try added.entry(for: key) { return .put(entry) }
    if let entry = try replaced.entry(for: key) { return .put(entry) }
    return try removed.entry(for: key) == nil ? .nothing : .removal
  }

  /// Replaces what was found below of several keys by what the level has of them.
  ///
  /// - Parameter leaves: In step with the keys.
  /// - Throws: `.corrupt`, `.io`.
  func find(_ keys: borrowing KeyBatch, over leaves: inout [LeafEntry?]) throws(StoreError) {
    var changed = KeyBatch()
    var places: [Int] = []
    for index in 0..<keys.count where mayChange(keys.key(index)) {
      changed.append(keys.key(index))
      places.append(index)
    }
    var found: [LeafEntry?] = []
    for part in LevelPart.allCases where self[part].root != nil && !places.isEmpty {
      try self[part].find(changed, to: &found)
      for (place, entry) in zip(places, found) {
        guard let entry else { continue }
        leaves[place] = part == .removed ? nil : entry
      }
    }
  }
}

// MARK: - Counting

extension Level {
  /// By how many the tree has more entries than the tree below.
  var countChange: Int { added.count - removed.count }

  /// The same of entries with keys below `key`.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func countChange(below key: RawSpan) throws(StoreError) -> Int {
    try added.rank(of: key) - removed.rank(of: key)
  }

  /// About by how many the tree has more entries with keys from `low` on and below `high`.
  func estimatedCountChange(from low: RawSpan, upTo high: RawSpan) throws(StoreError) -> Int {
    try added.estimatedCount(from: low, upTo: high) - removed.estimatedCount(from: low, upTo: high)
  }

  /// The number of entries, removals not counted, of a version below `version`: they may be more than the tree has, as some below may be
  /// replaced or removed.
  func count(below version: UInt32) throws(StoreError) -> Int {
    try added.count(below: version) + replaced.count(below: version)
  }
}
