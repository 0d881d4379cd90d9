import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// An overlay with its history, and what it must agree with.
struct OverlayWorld {
  struct Pinned {
    let pin: OverlayPin
    let model: OverlayModel
  }

  let arena: OverlayArena
  /// All keys that are ever asked for.
  let keys: [Bytes]
  private(set) var newest: Overlay
  private(set) var model: OverlayModel
  private(set) var pinned: [Pinned] = []
  private var editor: OverlayEditor?
  /// What the open transaction sees.
  private var present: OverlayModel
  private var savepoints: [(OverlayEditor.Savepoint, OverlayModel)] = []
  private var number: UInt32 = 0

  init(nodeCapacity: Int = 4, keys: [Bytes], below: [TreeSlot: Set<Bytes>]) {
    arena = OverlayArena(capacity: 1 << 16, nodeCapacity: nodeCapacity)
    self.keys = keys
    newest = Overlay(arena)
    model = OverlayModel(trees: below.mapValues { OverlayTreeModel(below: $0) })
    present = model
  }

  /// The open transaction, or a new one.
  private mutating func transaction() -> OverlayEditor {
    if let editor { return editor }
    let new = OverlayEditor(over: newest)
    editor = new
    return new
  }

  mutating func put(_ key: Bytes, in tree: TreeSlot = TreeSlot(0), length: Int = 3) throws {
    let editor = transaction()
    number += 1
    let value = Bytes(repeating: UInt8(truncatingIfNeeded: number), count: length)
    let isNew = present.trees[tree]?.contains(key) == false
    // What the overlay knows better is refused; what it cannot know is not asked.
    let knows = present.trees[tree].map { $0.hidesBase || $0.changes[key] != nil } == true
    if knows {
      let isRefused = !editor.put(
        key.rawSpan, value.rawSpan, schemaVersion: 0, isNew: !isNew, in: tree)
      try agree(isRefused, "a put of \(key) that is new: \(!isNew)")
    }
    let isDone = editor.put(
      key.rawSpan, value.rawSpan, schemaVersion: number, isNew: isNew, in: tree)
    try agree(isDone, "no put of \(key) that is new: \(isNew)")
    present.trees[tree]?.put(key, .init(bytes: value, version: number))
  }

  /// Removes the key if it is there; else sees to it that the overlay, where it knows, refuses.
  mutating func remove(_ key: Bytes, in tree: TreeSlot = TreeSlot(0)) throws {
    let editor = transaction()
    let isThere = present.trees[tree]?.contains(key) == true
    let knows = present.trees[tree].map { $0.hidesBase || $0.changes[key] != nil } == true
    if !isThere && !knows { return }
    let isDone = editor.remove(key.rawSpan, in: tree)
    try agree(isDone == isThere, "a removal of \(key): \(isDone)")
    if isDone { present.trees[tree]?.remove(key) }
  }

  mutating func clear(_ tree: TreeSlot = TreeSlot(0)) {
    transaction().clear(tree)
    present.trees[tree]?.clear()
  }

  mutating func save() {
    savepoints.append((transaction().savepoint(), present))
  }

  /// Goes back to a savepoint, the last if there are fewer; it can be gone back to again.
  mutating func rollBack(to index: Int = .max) {
    guard let editor, !savepoints.isEmpty else { return }
    savepoints.removeSubrange((min(index, savepoints.count - 1) + 1)...)
    guard let (savepoint, model) = savepoints.last else { return }
    editor.rollBack(to: savepoint)
    present = model
  }

  /// Releases the newest savepoint: what happened since stays.
  mutating func release() {
    guard let editor, let (savepoint, _) = savepoints.popLast() else { return }
    editor.release(savepoint)
  }

  mutating func finish(pinning: Bool = true, recycling: Bool = true) throws {
    newest = transaction().finish()
    model = present
    end()
    if pinning { pinned.append(Pinned(pin: newest.pin(), model: model)) }
    if recycling { arena.recycle(below: newest.stamp) }
  }

  mutating func abort() {
    guard let editor else { return }
    editor.abort()
    present = model
    end()
  }

  private mutating func end() {
    editor = nil
    savepoints = []
  }

  mutating func unpin(_ index: Int) { pinned.remove(at: index) }

  func verifyPresent() throws {
    try present.verify(editor?.present ?? newest, asking: keys)
  }

  func verifyPinned() throws {
    for version in pinned { try version.model.verify(version.pin.overlay, asking: keys) }
  }

  /// Ends everything, and sees that no node is missing.
  mutating func verifyEnd() throws {
    abort()
    try verifyPresent()
    try verifyPinned()
    arena.recycle(below: newest.stamp)
    try verifyPinned()
    pinned = []
    arena.recycle(below: newest.stamp)
    let statistics = arena.statistics
    try agree(statistics.pinnedVersions == 0, "\(statistics)")
    try agree(statistics.waitingNodes == 0, "\(statistics)")
    try agree(statistics.usedNodes == newest.nodeCount, "\(statistics), \(newest.nodeCount)")
    try verifyPresent()
  }
}
