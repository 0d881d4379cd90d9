/// A version of what the log holds and the trees do not: an ordered map in memory for each of the
/// trees, from keys to what became of them.
///
/// A value that costs nothing to copy. It may be read while it is pinned, while it is the one that the
/// engine holds as its floor or the editor began with, and, in the editor's thread, until the editor
/// goes on. Afterwards its memory holds other things.
struct Overlay: @unchecked Sendable {
  let arena: OverlayArena
  let directory: OverlayDirectory
  let stamp: Stamp
  /// The entries of all trees.
  let entryCount: Int
  /// The bytes that were appended to the arena up to this version.
  let byteCount: Int

  /// The version without entries, with which an arena begins.
  init(_ arena: OverlayArena) {
    self.init(
      arena, OverlayDirectory(), stamp: unsafe arena.newestVersion, entryCount: 0,
      byteCount: arena.byteCount)
    precondition(stamp == .none, "an arena begins once")
  }

  init(
    _ arena: OverlayArena, _ directory: OverlayDirectory, stamp: Stamp, entryCount: Int,
    byteCount: Int
  ) {
    self.arena = arena
    self.directory = directory
    self.stamp = stamp
    self.entryCount = entryCount
    self.byteCount = byteCount
  }

  /// Whether it says nothing of any tree.
  var isEmpty: Bool { trees.isEmpty }

  /// The trees of which it says anything, in order.
  ///
  /// - Complexity: O(trees).
  var trees: [TreeSlot] { directory.trees }

  /// True if it removes more entries than it adds.
  ///
  /// - Complexity: O(trees).
  var isShrinking: Bool {
    trees.contains { self[$0].hidesBase } || countChange < 0
  }

  /// The entries that it adds, less those that it removes.
  ///
  /// - Complexity: O(trees).
  var countChange: Int { trees.reduce(0) { $0 + self[$1].countChange } }

  /// About the bytes of one tree's entries.
  func byteCount(of tree: TreeSlot) -> Int {
    let share = Double(self[tree].entryCount) / Double(max(1, entryCount))
    return Int(Double(byteCount) * min(1, share))
  }

  /// One of the trees.
  subscript(_ tree: TreeSlot) -> OverlayTree {
    @inline(__always) get { OverlayTree(arena, tree, directory[tree]) }
  }
}
