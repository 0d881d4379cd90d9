/// What several overlays say of one tree, as one: where they have the same key, the newest counts.
///
/// A place among the changes that moves from one to the next, in order and back; it stands on one or
/// nowhere. Each source stands on the present change or on its next behind it, on the way the cursor
/// moves; when that turns, each but the present's takes a step.
///
/// - Complexity: O(overlays) comparisons a change, none for one overlay.
struct ChangesCursor {
  /// Newest first.
  private var sources: [OverlayCursor]
  /// Which of them has the present change; -1 if the cursor stands nowhere.
  private var present = -1
  /// The present change. Its bytes are there as long as the versions of the overlays.
  private var entry = EntryReference.none
  private var isForward = true

  /// - Parameter trees: Newest first.
  init(newestFirst trees: [OverlayTree]) {
    sources = trees.map { OverlayCursor($0) }
  }

  @inline(__always)
  var isOnEntry: Bool { present >= 0 }

  /// The key of the change. Until the cursor moves.
  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { unsafe _overrideLifetime(entry.key, borrowing: self) }
  }

  /// The value that the key got; of no meaning in a removal. Until the cursor moves.
  var value: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { unsafe _overrideLifetime(entry.value, borrowing: self) }
  }

  var isRemoval: Bool { entry.isRemoval }
  var schemaVersion: UInt32 { entry.schemaVersion }
}

// MARK: Going to a place

extension ChangesCursor {
  /// Goes to the first change. False if there is none.
  mutating func first() -> Bool {
    for index in sources.indices { _ = sources[index].first() }
    return settle(isForward: true)
  }

  /// Goes to the last change. False if there is none.
  mutating func last() -> Bool {
    for index in sources.indices { _ = sources[index].last() }
    return settle(isForward: false)
  }

  /// Goes to the first change of a key not below `key`. False if there is none.
  mutating func seek(to key: RawSpan) -> Bool {
    for index in sources.indices { _ = sources[index].seek(to: key) }
    return settle(isForward: true)
  }

  /// Takes the newest of the sources whose keys are next.
  private mutating func settle(isForward: Bool) -> Bool {
    self.isForward = isForward
    present = -1
    for index in sources.indices where sources[index].isOnEntry {
      if present < 0 {
        present = index
        continue
      }
      let order = sources[index].key.compare(sources[present].key)
      if isForward ? order < 0 : order > 0 { present = index }
    }
    if !isOnEntry { return false }
    entry = sources[present].present
    return true
  }
}

// MARK: Moving

extension ChangesCursor {
  /// Moves to the next change; from nowhere behind the last, nowhere.
  mutating func next() -> Bool { move(isForward: true) }

  /// Moves to the change before.
  mutating func previous() -> Bool { move(isForward: false) }

  @inline(__always)
  private mutating func move(isForward: Bool) -> Bool {
    if present < 0 { return false }
    if sources.count == 1 {
      let isOn = isForward ? sources[0].next() : sources[0].previous()
      if isOn { entry = sources[0].present } else { present = -1 }
      return isOn
    }
    return moveAll(isForward: isForward)
  }

  private mutating func moveAll(isForward: Bool) -> Bool {
    for index in sources.indices where index != present {
      if self.isForward != isForward {
        step(index, isForward: isForward)
      } else if sources[index].isOnEntry, sources[index].key.equals(sources[present].key) {
        step(index, isForward: isForward)
      }
    }
    step(present, isForward: isForward)
    return settle(isForward: isForward)
  }

  /// Moves a source; one that had moved out at an end comes back in there.
  private mutating func step(_ index: Int, isForward: Bool) {
    if sources[index].isOnEntry {
      _ = isForward ? sources[index].next() : sources[index].previous()
    } else {
      _ = isForward ? sources[index].first() : sources[index].last()
    }
  }

}
