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
  var trees: [TreeSlot] {
    var trees: [TreeSlot] = []
    directory.forEachTree { tree, _ in trees.append(tree) }
    return trees
  }

  /// Whether what lies below the overlay does not count for `tree`.
  func hidesBase(_ tree: TreeSlot) -> Bool { directory[tree].hidesBase }

  /// The entries of `tree`. Constant time.
  func entryCount(in tree: TreeSlot) -> Int { Int(directory[tree].entryCount) }
}

// MARK: Looking up

extension Overlay {
  /// What became of `key`; nil if nothing did.
  ///
  /// - Complexity: O(log entries); mostly one cache miss if there is no such entry.
  @_lifetime(borrow self)
  @inline(__always)
  func entry(for key: RawSpan, in tree: TreeSlot) -> OverlayEntry? {
    guard let reference = reference(for: key, in: tree) else { return nil }
    return OverlayEntry(reference, of: self)
  }

  @inline(__always)
  func reference(for key: RawSpan, in tree: TreeSlot) -> EntryReference? {
    guard let root = directory[tree].root else { return nil }
    guard arena.filter.mayContain(OverlayFilter.hash(key, in: tree)) else { return nil }
    return root.reference(for: key)
  }
}

extension OverlayNode {
  /// The entry of `key` below this node.
  func reference(for key: RawSpan) -> EntryReference? {
    var node = self
    while !node.isLeaf {
      node = node.child(node.childIndex(for: key))
      node.prefetchHeads()
    }
    return node.slot(of: key).map(node.reference)
  }
}

/// What an overlay says of a key. Of use while its version is.
struct OverlayEntry: ~Escapable {
  private let reference: EntryReference

  @_lifetime(borrow owner)
  @inline(__always)
  init<Owner>(_ reference: EntryReference, of owner: borrowing Owner) {
    self.reference = reference
  }

  /// Whether the key is there no more.
  var isRemoval: Bool { reference.isRemoval }
  /// By how many the entry changes the count of what lies below the overlay.
  var change: Int { reference.effect.change }
  /// The schema version of the value; of no meaning in a removal.
  var schemaVersion: UInt32 { reference.schemaVersion }

  var value: RawSpan {
    @_lifetime(copy self)
    @inline(__always)
    get { unsafe _overrideLifetime(reference.value, copying: self) }
  }
}

// MARK: Counting

extension Overlay {
  /// By how many `tree` has more entries than what lies below the overlay, or, if that does not count,
  /// how many it has. Constant time.
  func countChange(in tree: TreeSlot) -> Int { directory[tree].change }

  /// The same for the keys below `key`.
  ///
  /// - Complexity: O(log entries).
  func countChange(in tree: TreeSlot, below key: RawSpan) -> Int {
    guard var node = directory[tree].root else { return 0 }
    var change = 0
    while !node.isLeaf {
      let index = node.childIndex(for: key)
      for before in 0..<index { change += node.change(before) }
      node = node.child(index)
    }
    for slot in 0..<node.search(key).slot { change += node.reference(slot).effect.change }
    return change
  }
}
