/// The changes of one tree by overlays and by a level below them, as one sequence: of changes of the same key, that of the overlays counts.
///
/// A place among the changes that moves from one to the next, in order and back; it stands on one or nowhere. Both stand on the
/// present change or on their next behind it, on the way the cursor moves; when that turns, the one without the present change takes a step.
struct TreeChanges {
  private enum Place {
    case nowhere, overlays, level
  }

  private var overlays: ChangesCursor
  /// Nil where no level lies over the tree: then the overlays' cursor is all.
  private let level: LevelCursor?
  private var place = Place.nowhere
  private var isForward = true
  /// Those of the level's present change.
  private var levelHead: UInt64 = 0
  private var levelRemoves = false

  init(of tree: LayeredTree) {
    overlays = ChangesCursor(newestFirst: tree.overlays)
    level = tree.level.map { LevelCursor($0) }
  }

  @inline(__always)
  var isOnEntry: Bool { level == nil ? overlays.isOnEntry : place != .nowhere }

  /// The key of the change. Until the cursor moves.
  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      guard place == .level, let level else {
        return unsafe _overrideLifetime(overlays.key, borrowing: self)
      }
      return unsafe _overrideLifetime(level.key, borrowing: self)
    }
  }

  /// The first eight bytes of the key as a number: mostly enough to find where it belongs.
  @inline(__always)
  var keyHead: UInt64 { place == .level ? levelHead : overlays.key.head(0) }

  /// The value that the key got, or the reference to its pages; of no meaning in a removal. Until the cursor moves.
  var storedValue: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      guard place == .level, let level else {
        return unsafe _overrideLifetime(overlays.value, borrowing: self)
      }
      return unsafe _overrideLifetime(level.storedValue, borrowing: self)
    }
  }

  @inline(__always)
  var isRemoval: Bool { place == .level ? levelRemoves : overlays.isRemoval }

  /// True if the value has pages of its own. In an overlay none has.
  var isExternal: Bool {
    guard place == .level, let level else { return false }
    return level.isExternal
  }

  var schemaVersion: UInt32 {
    guard place == .level, let level else { return overlays.schemaVersion }
    return level.schemaVersion
  }

  /// Appends the value, wherever it is.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func appendValue(to value: inout [UInt8]) throws(StoreError) {
    guard place == .level, let level else { return value.append(overlays.value) }
    try level.appendValue(to: &value)
  }
}

// MARK: Going to a place

extension TreeChanges {
  /// Goes to the first change. False if there is none.
  mutating func first() throws(StoreError) -> Bool {
    place = .nowhere
    let isOn = overlays.first()
    guard let level else { return isOn }
    _ = try level.first()
    return settle(isForward: true, level)
  }

  /// Goes to the last change. False if there is none.
  mutating func last() throws(StoreError) -> Bool {
    place = .nowhere
    let isOn = overlays.last()
    guard let level else { return isOn }
    _ = try level.last()
    return settle(isForward: false, level)
  }

  /// Goes to the first change of a key not below `key`. False if there is none.
  mutating func seek(to key: RawSpan) throws(StoreError) -> Bool {
    place = .nowhere
    let isOn = overlays.seek(to: key)
    guard let level else { return isOn }
    _ = try level.seek(to: key)
    return settle(isForward: true, level)
  }

  @inline(__always)
  private mutating func settle(isForward: Bool, _ level: LevelCursor) -> Bool {
    self.isForward = isForward
    guard level.isOnEntry else {
      place = overlays.isOnEntry ? .overlays : .nowhere
      return overlays.isOnEntry
    }
    place = .level
    (levelHead, levelRemoves) = (level.keyHead, level.isRemoval)
    if overlays.isOnEntry {
      let head = overlays.key.head(0)
      let order = levelHead == head ? level.key.compare(overlays.key) : levelHead < head ? -1 : 1
      if isForward ? order >= 0 : order <= 0 { place = .overlays }
    }
    return true
  }
}

// MARK: Moving

extension TreeChanges {
  /// Moves to the next change; from nowhere, nowhere.
  @inline(__always)
  mutating func next() throws(StoreError) -> Bool {
    guard let level else { return overlays.next() }
    return try move(isForward: true, level)
  }

  /// Moves to the change before.
  @inline(__always)
  mutating func previous() throws(StoreError) -> Bool {
    guard let level else { return overlays.previous() }
    return try move(isForward: false, level)
  }

  @inline(never)
  private mutating func move(isForward: Bool, _ level: LevelCursor) throws(StoreError) -> Bool {
    let left = place
    place = .nowhere
    switch left {
    case .nowhere: return false
    case .overlays:
      let isTie = level.isOnEntry && overlays.isOnEntry && level.key.equals(overlays.key)
      if self.isForward != isForward || isTie { try level.step(isForward: isForward) }
      stepOverlays(isForward: isForward)
    case .level:
      if self.isForward != isForward { stepOverlays(isForward: isForward) }
      try level.step(isForward: isForward)
    }
    return settle(isForward: isForward, level)
  }

  /// Moves the overlays' cursor; if it had moved out at an end, it comes back in there.
  private mutating func stepOverlays(isForward: Bool) {
    if overlays.isOnEntry {
      _ = isForward ? overlays.next() : overlays.previous()
    } else {
      _ = isForward ? overlays.first() : overlays.last()
    }
  }
}

extension LevelCursor {
  /// Moves; if it had moved out at an end, it comes back in there.
  fileprivate func step(isForward: Bool) throws(StoreError) {
    if isOnEntry {
      _ = isForward ? try next() : try previous()
    } else {
      _ = isForward ? try first() : try last()
    }
  }
}
