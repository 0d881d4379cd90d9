/// The memory of an overlay: all its versions' nodes and entries.
///
/// Entries are only appended. Nodes are reused once no version has them that anyone may read: neither
/// a pinned one, nor one from the floor on, which is the oldest the engine still needs itself.
///
/// One thread at a time edits and recycles; any number read versions meanwhile, without locks. Between
/// the publication of a version and its reading the engine's lock stands.
final class OverlayArena: @unchecked Sendable {
  // What follows belongs to the one editing thread.
  @exclusivity(unchecked) private var entries = EntryMemory()
  @exclusivity(unchecked) private var leaves = NodePool(nodeSize: OverlayNode.leafSize)
  @exclusivity(unchecked) private var branches = NodePool(nodeSize: OverlayNode.branchSize)
  /// What finished transactions replaced, in the order of `retired`.
  @exclusivity(unchecked) private var retired = NodeList()
  @exclusivity(unchecked) private var latestStamp = Stamp.none
  /// The version that the next editor begins with.
  @exclusivity(unchecked) private(set) var newestVersion = Stamp.none
  @exclusivity(unchecked) private(set) var isEditing = false
  /// What the present transaction made and replaced. Here to keep their memory.
  @exclusivity(unchecked) private(set) var made = NodeStack()
  @exclusivity(unchecked) private(set) var replaced = NodeStack()

  // What follows is shared.
  let filter: KeyFilter
  private let lock = ThreadLock()
  @exclusivity(unchecked) private var pins = OverlayPins()

  /// The bytes of entries for which the filter has a word: 16 bits for an entry of 128 bytes.
  private static var bytesPerFilterWord: Int { 512 }

  /// The slots that nodes use of those they have: fewer in tests, so that small trees are high.
  let nodeCapacity: Int

  /// - Parameter capacity: The bytes of entries that the arena is made for. It takes more, and then
  ///   lookups of keys that are not there become slower.
  init(capacity: Int = 16 << 20, nodeCapacity: Int = OverlayNode.capacity) {
    precondition((4...OverlayNode.capacity).contains(nodeCapacity), "a node has room for them")
    filter = KeyFilter(wordCount: capacity / Self.bytesPerFilterWord)
    self.nodeCapacity = nodeCapacity
  }

  /// The bytes that entries take.
  var byteCount: Int { unsafe entries.byteCount }
}

// MARK: For the editor

extension OverlayArena {
  /// Begins a transaction over the newest version.
  func beginEditing(over version: Stamp) -> Stamp {
    precondition(unsafe !isEditing, "one editor at a time changes an overlay")
    precondition(unsafe version == newestVersion, "an editor begins with the version finished last")
    unsafe isEditing = true
    return nextStamp()
  }

  func nextStamp() -> Stamp { unsafe Stamp.next(after: &latestStamp) }

  @inline(__always)
  func append(
    _ key: RawSpan, _ value: RawSpan, schemaVersion: UInt32, _ effect: EntryEffect
  ) -> EntryReference {
    unsafe entries.append(key, value, schemaVersion: schemaVersion, effect)
  }

  /// Makes an empty node.
  @inline(__always)
  func makeNode(level: Int, born: Stamp) -> OverlayNode {
    let node = unsafe level == 0 ? leaves.take() : branches.take()
    node.begin(level: level, born: born)
    unsafe made.append(node)
    return node
  }

  /// Gives up a node that the version at `stamp`, not yet finished, has no more.
  @inline(__always)
  func retire(_ node: OverlayNode, at stamp: Stamp) {
    if node.born >= stamp { give(node) } else { unsafe replaced.append(node) }
  }

  /// Gives up the nodes that were both made since `stamp` and replaced since `mark`, a later moment: nobody goes back to it any
  /// more.
  func releaseReplaced(since mark: Mark, madeSince stamp: Stamp) {
    var kept = mark.replaced
    for index in unsafe mark.replaced..<replaced.count {
      let node = unsafe replaced[index]
      if node.born >= stamp {
        give(node)
      } else {
        unsafe replaced[kept] = node
        kept += 1
      }
    }
    unsafe replaced.cut(to: kept)
  }

  @inline(__always)
  private func give(_ node: OverlayNode) {
    unsafe node.isLeaf ? leaves.give(node) : branches.give(node)
  }

  /// Ends the transaction: the version at `stamp` is the newest.
  func finishEditing(at stamp: Stamp) {
    for index in unsafe 0..<replaced.count {
      let node = unsafe replaced[index]
      if unsafe node.born > newestVersion {
        give(node)
      } else {
        node.retired = stamp
        unsafe retired.append(node)
      }
    }
    unsafe newestVersion = stamp
    endEditing()
  }

  /// Ends a transaction that changed nothing, or has been rolled back.
  func endEditing() {
    unsafe made.cut(to: 0)
    unsafe replaced.cut(to: 0)
    unsafe isEditing = false
  }
}

// MARK: Rolling back

extension OverlayArena {
  /// How far a transaction had got.
  struct Mark {
    fileprivate let made: Int
    fileprivate let replaced: Int
    fileprivate let entries: EntryMemory.Mark
  }

  var mark: Mark {
    unsafe Mark(made: made.count, replaced: replaced.count, entries: entries.mark)
  }

  /// Takes back all that was made since `mark`.
  ///
  /// A node may have been made twice since, and been given back in between: it is given back once.
  func cut(to mark: Mark) {
    while unsafe made.count > mark.made {
      let node = unsafe made.removeLast()
      if node.born != .none { give(node) }
    }
    unsafe replaced.cut(to: mark.replaced)
    unsafe entries.cut(to: mark.entries)
  }
}

// MARK: Reuse

extension OverlayArena {
  /// Makes free what nobody can read any more.
  ///
  /// - Parameter floor: The oldest version that is read without being pinned.
  func recycle(below floor: Stamp) {
    lock.lock()
    defer { lock.unlock() }
    var released = unsafe pins.takeReleased()
    while let node = released.removeFirst() { keepOrGive(node) }
    while let node = unsafe retired.first, node.retired <= floor {
      unsafe _ = retired.removeFirst()
      keepOrGive(node)
    }
  }

  @inline(__always)
  private func keepOrGive(_ node: OverlayNode) {
    if unsafe !pins.keep(node) { give(node) }
  }

  func pin(_ version: Stamp) {
    lock.lock()
    unsafe pins.pin(version)
    lock.unlock()
  }

  func unpin(_ version: Stamp) {
    lock.lock()
    unsafe pins.unpin(version)
    lock.unlock()
  }
}

// MARK: For tests

extension OverlayArena {
  struct Statistics: Equatable {
    /// The nodes that versions have, or that wait until nobody needs those.
    var usedNodes: Int
    /// Those of them that no version from the newest on has.
    var waitingNodes: Int
    /// The nodes that can be used again.
    var freeNodes: Int
    /// The bytes of all nodes.
    var nodeBytes: Int
    var pinnedVersions: Int
  }

  /// To be asked for by the editing thread.
  var statistics: Statistics {
    lock.lock()
    defer { lock.unlock() }
    let free = unsafe leaves.freeCount + branches.freeCount
    return unsafe Statistics(
      usedNodes: leaves.nodeCount + branches.nodeCount - free,
      waitingNodes: retired.count + pins.waitingCount, freeNodes: free,
      nodeBytes: leaves.nodeCount * OverlayNode.leafSize
        + branches.nodeCount * OverlayNode.branchSize, pinnedVersions: pins.count)
  }
}
