/// A place among the changes of a level that moves from one to the next, in order and back.
///
/// The parts have no key in common. Each of their cursors stands on the present change or on its next on the way the cursor moves. It
/// stands on one or nowhere; it begins nowhere, and a move that finds none leaves it nowhere.
final class LevelCursor {
  private let level: Level
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var added: Cursor
  @exclusivity(unchecked) private var replaced: Cursor
  @exclusivity(unchecked) private var removed: Cursor
  /// The part that has the present change; nil if the cursor stands nowhere.
  @exclusivity(unchecked) private var present: LevelPart?
  @exclusivity(unchecked) private var isForward = true

  init(_ level: Level) {
    self.level = level
    unsafe added = Cursor(level.added)
    unsafe replaced = Cursor(level.replaced)
    unsafe removed = Cursor(level.removed)
  }

  var isOnEntry: Bool { unsafe present != nil }
  var isRemoval: Bool { unsafe present == .removed }

  /// The key of the change. Until the cursor moves.
  var key: RawSpan {
    @_lifetime(borrow self)
    get {
      switch unsafe present {
      case .added, nil: unsafe _overrideLifetime(added.key, borrowing: self)
      case .replaced: unsafe _overrideLifetime(replaced.key, borrowing: self)
      case .removed: unsafe _overrideLifetime(removed.key, borrowing: self)
      }
    }
  }

  /// The value, or the reference to its pages if it is external; of no meaning in a removal. Until the cursor moves.
  var storedValue: RawSpan {
    @_lifetime(borrow self)
    get {
      switch unsafe present {
      case .added, nil: unsafe _overrideLifetime(added.storedValue, borrowing: self)
      case .replaced: unsafe _overrideLifetime(replaced.storedValue, borrowing: self)
      case .removed: unsafe _overrideLifetime(removed.storedValue, borrowing: self)
      }
    }
  }

  /// True if the value has pages of its own.
  var isExternal: Bool {
    switch unsafe present {
    case .added: unsafe added.isExternal
    case .replaced: unsafe replaced.isExternal
    case .removed, nil: false
    }
  }

  var schemaVersion: UInt32 {
    switch unsafe present {
    case .added: unsafe added.schemaVersion
    case .replaced: unsafe replaced.schemaVersion
    case .removed, nil: 0
    }
  }

  /// Appends the value, wherever it is.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func appendValue(to value: inout [UInt8]) throws(StoreError) {
    if isExternal {
      try level.added.pages.appendLargeValue(
        PageReference(decoding: storedValue, at: 0), to: &value)
    } else if !isRemoval {
      value.append(storedValue)
    }
  }
}

// MARK: - Moving

extension LevelCursor {
  /// Goes to the first change. False if there is none.
  func first() throws(StoreError) -> Bool {
    unsafe present = nil
    _ = try unsafe added.first()
    _ = try unsafe replaced.first()
    _ = try unsafe removed.first()
    return try settle(isForward: true)
  }

  /// Goes to the last change. False if there is none.
  func last() throws(StoreError) -> Bool {
    unsafe present = nil
    _ = try unsafe added.last()
    _ = try unsafe replaced.last()
    _ = try unsafe removed.last()
    return try settle(isForward: false)
  }

  /// Goes to the first change of a key not below `key`. False if there is none.
  func seek(to key: RawSpan) throws(StoreError) -> Bool {
    unsafe present = nil
    _ = try unsafe added.seek(to: key)
    _ = try unsafe replaced.seek(to: key)
    _ = try unsafe removed.seek(to: key)
    return try settle(isForward: true)
  }

  /// Moves to the next change; from nowhere, nowhere.
  func next() throws(StoreError) -> Bool { try move(isForward: true) }

  /// Moves to the change before.
  func previous() throws(StoreError) -> Bool { try move(isForward: false) }

  private func move(isForward: Bool) throws(StoreError) -> Bool {
    guard let left = unsafe present else { return false }
    unsafe present = nil
    // The others stand behind it on the way so far.
    if unsafe isForward != self.isForward {
      for part in LevelPart.allCases where part != left { try step(part, isForward: isForward) }
    }
    try step(left, isForward: isForward)
    return try settle(isForward: isForward)
  }

  /// Moves the cursor of a part; one that had moved out at an end comes back in there.
  private func step(_ part: LevelPart, isForward: Bool) throws(StoreError) {
    switch part {
    case .added: try unsafe added.step(isForward: isForward)
    case .replaced: try unsafe replaced.step(isForward: isForward)
    case .removed: try unsafe removed.step(isForward: isForward)
    }
  }

  /// Takes the part whose key is next.
  ///
  /// - Throws: `.corrupt` if two parts have it.
  private func settle(isForward: Bool) throws(StoreError) -> Bool {
    unsafe self.isForward = isForward
    unsafe present = added.isOnEntry ? .added : nil
    if unsafe replaced.isOnEntry {
      if try isNext(by: unsafe order(of: replaced.key)) { unsafe present = .replaced }
    }
    if unsafe removed.isOnEntry {
      if try isNext(by: unsafe order(of: removed.key)) { unsafe present = .removed }
    }
    return isOnEntry
  }

  /// The order of a key and the present one; nil if there is none.
  private func order(of other: RawSpan) -> Int? { isOnEntry ? other.compare(key) : nil }

  private func isNext(by order: Int?) throws(StoreError) -> Bool {
    guard let order, let part = unsafe present else { return true }
    if order == 0, let root = level[part].root {
      unsafe present = nil
      throw root.reference.fault(.levelKeys, "another part of the level has a key of this one")
    }
    return unsafe isForward ? order < 0 : order > 0
  }
}

extension Cursor {
  fileprivate mutating func step(isForward: Bool) throws(StoreError) {
    if isOnEntry {
      _ = isForward ? try next() : try previous()
    } else {
      _ = isForward ? try first() : try last()
    }
  }
}
