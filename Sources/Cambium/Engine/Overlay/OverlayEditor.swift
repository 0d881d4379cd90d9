/// Changes an overlay: makes its next version out of the newest.
///
/// Nodes of older versions and of open savepoints are copied before they are changed, with all above them; those it
/// made itself are changed in place. One editor at a time, on one thread at a time; an editor that goes
/// without having finished leaves nothing behind.
final class OverlayEditor {
  private let arena: OverlayArena
  private let base: Overlay
  private let begin: Savepoint
  // One owner on one thread uses it, so accesses cannot overlap.
  /// Nodes born from here on are in no version and no open savepoint.
  @exclusivity(unchecked) private var stamp: Stamp
  @exclusivity(unchecked) private var directory: OverlayDirectory
  @exclusivity(unchecked) private var entryCount: Int
  @exclusivity(unchecked) private var isOpen = true

  /// Begins with `version`, which must be the one finished last in its arena, or its first.
  init(over version: Overlay) {
    base = version
    arena = version.arena
    unsafe stamp = version.arena.beginEditing(over: version.stamp)
    unsafe directory = version.directory
    unsafe entryCount = version.entryCount
    begin = Savepoint(
      directory: version.directory, entryCount: version.entryCount, mark: version.arena.mark,
      outer: version.stamp)
  }

  deinit {
    if unsafe isOpen { abort() }
  }

  /// What the transaction sees: its own changes too.
  ///
  /// Until the next change. What is taken right behind a savepoint is good until that is released, or the transaction ends
  /// or is rolled back behind it. It cannot be pinned.
  var present: Overlay {
    unsafe Overlay(
      arena, directory, stamp: stamp, entryCount: entryCount, byteCount: arena.byteCount)
  }
}

// MARK: Changing

extension OverlayEditor {
  /// Gives `key` a value.
  ///
  /// - Parameter isNew: Whether the key is not there at present.
  /// - Returns: false, with nothing changed, if the overlay knows that `isNew` is wrong.
  /// - Precondition: key and value are within the limits of a tree.
  /// - Complexity: O(log entries).
  func put(
    _ key: RawSpan, _ value: RawSpan, schemaVersion: UInt32, isNew: Bool, in tree: TreeSlot
  ) -> Bool {
    var state = unsafe directory[tree]
    guard let root = state.root else {
      guard let effect = EntryEffect.put(isNew: isNew, over: nil, hidesBase: state.hidesBase)
      else { return false }
      let entry = append(key, value, schemaVersion: schemaVersion, effect)
      plant(entry, key, in: tree, &state)
      return true
    }
    var place = OverlayPlace(of: key, below: root)
    let effect = EntryEffect.put(isNew: isNew, over: place.effect, hidesBase: state.hidesBase)
    guard let effect else { return false }
    let entry = append(key, value, schemaVersion: schemaVersion, effect)
    set(entry, key, at: &place, in: tree, &state)
    return true
  }

  /// Says that `key`, which is there at present, is there no more.
  ///
  /// - Returns: false, with nothing changed, if the overlay knows that it is not there.
  /// - Complexity: O(log entries).
  func remove(_ key: RawSpan, in tree: TreeSlot) -> Bool {
    var state = unsafe directory[tree]
    guard let root = state.root else {
      if state.hidesBase { return false }
      let entry = append(key, RawSpan(), schemaVersion: 0, .remove)
      plant(entry, key, in: tree, &state)
      return true
    }
    var place = OverlayPlace(of: key, below: root)
    switch place.effect {
    case .remove: return false
    case .add: delete(at: &place, in: tree, &state)
    case nil where state.hidesBase: return false
    case .replace, nil:
      let entry = append(key, RawSpan(), schemaVersion: 0, .remove)
      set(entry, key, at: &place, in: tree, &state)
    }
    return true
  }

  /// Makes `tree` one without entries, whatever lies below the overlay.
  ///
  /// - Complexity: O(the overlay's entries in it).
  func clear(_ tree: TreeSlot) {
    let state = unsafe directory[tree]
    if let root = state.root { retireAll(root) }
    unsafe entryCount -= Int(state.entryCount)
    setState(TreeState(hidesBase: true), of: tree)
  }

  private func retireAll(_ node: OverlayNode) {
    if !node.isLeaf {
      for index in 0..<node.count { retireAll(node.child(index)) }
    }
    unsafe arena.retire(node, at: stamp)
  }

  @inline(__always)
  private func append(
    _ key: RawSpan, _ value: RawSpan, schemaVersion: UInt32, _ effect: EntryEffect
  ) -> EntryReference {
    arena.append(key, value, schemaVersion: schemaVersion, effect)
  }

  @inline(__always)
  private func setState(_ state: TreeState, of tree: TreeSlot) {
    unsafe directory[tree] = state
  }
}

extension EntryEffect {
  /// What a put does to what lies below; nil if the overlay knows that `isNew` is wrong.
  @inline(__always)
  fileprivate static func put(
    isNew: Bool, over old: EntryEffect?, hidesBase: Bool
  ) -> EntryEffect? {
    switch old {
    case nil: isNew ? .add : hidesBase ? nil : .replace
    case .add: isNew ? nil : .add
    case .replace: isNew ? nil : .replace
    case .remove: isNew ? .replace : nil
    }
  }
}

// MARK: Changing a tree

extension OverlayEditor {
  /// Makes the first entry of a tree.
  private func plant(
    _ entry: EntryReference, _ key: RawSpan, in tree: TreeSlot, _ state: inout TreeState
  ) {
    let leaf = unsafe arena.makeNode(level: 0, born: stamp)
    leaf.open(0)
    leaf.setKey(entry, 0)
    state.root = leaf
    noteAdded(entry, key, in: tree, &state)
    state.change += entry.effect.change
    setState(state, of: tree)
  }

  @inline(__always)
  private func noteAdded(
    _ entry: EntryReference, _ key: RawSpan, in tree: TreeSlot, _ state: inout TreeState
  ) {
    arena.filter.insert(KeyFilter.hash(key, seed: UInt64(tree.number)))
    state.entryCount += 1
    unsafe entryCount += 1
  }

  /// Puts an entry where its key is or would be.
  @inline(__always)
  private func set(
    _ entry: EntryReference, _ key: RawSpan, at place: inout OverlayPlace, in tree: TreeSlot,
    _ state: inout TreeState
  ) {
    let change = entry.effect.change - (place.effect?.change ?? 0)
    unsafe place.own(in: arena, at: stamp, adding: change)
    if place.isFound {
      place.leaf.setReference(entry, place.slot)
    } else {
      unsafe place.insert(entry, in: arena, at: stamp)
      noteAdded(entry, key, in: tree, &state)
    }
    state.root = place.root
    state.change += change
    setState(state, of: tree)
  }

  /// Deletes an entry that says nothing any more.
  private func delete(
    at place: inout OverlayPlace, in tree: TreeSlot, _ state: inout TreeState
  ) {
    unsafe place.own(in: arena, at: stamp, adding: -1)
    state.root = unsafe place.delete(in: arena, at: stamp)
    state.change -= 1
    state.entryCount -= 1
    unsafe entryCount -= 1
    setState(state, of: tree)
  }
}

// MARK: Ending, and going back

extension OverlayEditor {
  /// A moment of a transaction to go back to.
  struct Savepoint {
    fileprivate let directory: OverlayDirectory
    fileprivate let entryCount: Int
    fileprivate let mark: OverlayArena.Mark
    /// Nodes born from here on were in no open savepoint before it.
    fileprivate let outer: Stamp
  }

  /// Remembers the present moment. What there is now is copied by later changes, not changed.
  func savepoint() -> Savepoint {
    let outer = unsafe stamp
    unsafe stamp = arena.nextStamp()
    return unsafe Savepoint(
      directory: directory, entryCount: entryCount, mark: arena.mark, outer: outer)
  }

  /// Says that nobody goes back to `savepoint` any more, nor to later ones: nodes that were copied for it alone are used again,
  /// so that a transaction of many savepoints takes no more memory than one of few.
  ///
  /// - Complexity: O(nodes that were copied since).
  func release(_ savepoint: Savepoint) {
    unsafe stamp = savepoint.outer
    unsafe arena.releaseReplaced(since: savepoint.mark, madeSince: stamp)
  }

  /// Undoes all changes since `savepoint`, which may be gone back to again. Later ones are void.
  func rollBack(to savepoint: Savepoint) {
    arena.cut(to: savepoint.mark)
    unsafe directory = savepoint.directory
    unsafe entryCount = savepoint.entryCount
    unsafe stamp = arena.nextStamp()
  }

  /// Ends the transaction and returns the version it made, or the one it began with if it changed
  /// nothing.
  func finish() -> Overlay {
    precondition(unsafe isOpen, "an editor finishes once")
    unsafe isOpen = false
    if unsafe directory == base.directory {
      arena.endEditing()
      return base
    }
    // Later than all nodes in it, also those that were made behind savepoints.
    unsafe stamp = arena.nextStamp()
    arena.finishEditing(at: unsafe stamp)
    return present
  }

  /// Ends the transaction as if it had not been.
  func abort() {
    precondition(unsafe isOpen, "an editor ends once")
    unsafe isOpen = false
    arena.cut(to: begin.mark)
    arena.endEditing()
  }
}
