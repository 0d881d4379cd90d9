/// The changes of a tree since they were last merged into it: a level over the tree, of three ordinary trees that have no key in common.
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

  /// - Parameter roots: Of its parts, by their number.
  /// - Returns: nil if no part has an entry.
  init?(_ roots: LevelRoots, of pages: PageReader) {
    if roots.isEmpty { return nil }
    added = Tree(pages: pages, root: roots[.added])
    replaced = Tree(pages: pages, root: roots[.replaced])
    removed = Tree(pages: pages, root: roots[.removed])
  }

  var roots: LevelRoots {
    var roots = LevelRoots()
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
  var liveBytes: Int { added.liveBytes + replaced.liveBytes + removed.liveBytes }

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
  /// - Complexity: A look-up in each part that has entries.
  /// - Throws: `.corrupt`, `.io`.
  @inline(never)
  func answer(for key: RawSpan) throws(StoreError) -> LevelAnswer {
    if let entry = try added.entry(for: key) { return .put(entry) }
    if let entry = try replaced.entry(for: key) { return .put(entry) }
    return try removed.entry(for: key) == nil ? .nothing : .removal
  }

  /// Replaces what was found below of several keys by what the level has of them.
  ///
  /// - Parameter leaves: In step with the keys.
  /// - Throws: `.corrupt`, `.io`.
  func find(_ keys: borrowing KeyBatch, over leaves: inout [LeafEntry?]) throws(StoreError) {
    var found: [LeafEntry?] = []
    for part in LevelPart.allCases where self[part].root != nil {
      try self[part].find(keys, to: &found)
      for index in found.indices {
        guard let entry = found[index] else { continue }
        leaves[index] = part == .removed ? nil : entry
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
