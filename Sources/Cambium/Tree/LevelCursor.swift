/// A place among the changes of a level that moves from one to the next, in order and back.
///
/// The parts have no key in common. Each of their cursors stands on the present change or on its next on the way the cursor moves, and
/// they are kept in the order of these: a step moves the first, and compares it with those that it may have passed. The cursor
/// stands on a change or nowhere; it begins nowhere, and a move that finds none leaves it nowhere.
final class LevelCursor {
  /// A part, and the first eight bytes of the key of its change.
  private struct Candidate {
    let part: LevelPart
    let head: UInt64
  }

  private let level: Level
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var added: Cursor
  @exclusivity(unchecked) private var replaced: Cursor
  @exclusivity(unchecked) private var removed: Cursor
  /// The parts that have changes on the way, that with the present change first.
  @exclusivity(unchecked) private var order = [3 of Candidate](
    repeating: Candidate(part: .added, head: 0))
  /// The number of these parts; 0 if the cursor stands nowhere.
  @exclusivity(unchecked) private var count = 0
  @exclusivity(unchecked) private var isForward = true

  init(_ level: Level) {
    self.level = level
    unsafe added = Cursor(level.added)
    unsafe replaced = Cursor(level.replaced)
    unsafe removed = Cursor(level.removed)
  }

  var isOnEntry: Bool { unsafe count > 0 }
  var isRemoval: Bool { isOnEntry && part == .removed }

  /// The part that has the change.
  private var part: LevelPart { unsafe order[0].part }

  /// The first eight bytes of the key as a number.
  var keyHead: UInt64 { unsafe order[0].head }

  /// The key of the change. Until the cursor moves.
  var key: RawSpan {
    @_lifetime(borrow self)
    get { key(of: part) }
  }

  @_lifetime(borrow self)
  private func key(of part: LevelPart) -> RawSpan {
    switch part {
    case .added: unsafe _overrideLifetime(added.key, borrowing: self)
    case .replaced: unsafe _overrideLifetime(replaced.key, borrowing: self)
    case .removed: unsafe _overrideLifetime(removed.key, borrowing: self)
    }
  }

  /// The value, or the reference to its pages if it is external; of no meaning in a removal. Until the cursor moves.
  var storedValue: RawSpan {
    @_lifetime(borrow self)
    get {
      switch part {
      case .added: unsafe _overrideLifetime(added.storedValue, borrowing: self)
      case .replaced: unsafe _overrideLifetime(replaced.storedValue, borrowing: self)
      case .removed: unsafe _overrideLifetime(removed.storedValue, borrowing: self)
      }
    }
  }

  /// True if the value has pages of its own.
  var isExternal: Bool {
    guard isOnEntry else { return false }
    return switch part {
    case .added: unsafe added.isExternal
    case .replaced: unsafe replaced.isExternal
    case .removed: false
    }
  }

  var schemaVersion: UInt32 {
    guard isOnEntry else { return 0 }
    return switch part {
    case .added: unsafe added.schemaVersion
    case .replaced: unsafe replaced.schemaVersion
    case .removed: 0
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
    unsafe count = 0
    _ = try unsafe (added.first(), replaced.first(), removed.first())
    return try settle(isForward: true)
  }

  /// Goes to the last change. False if there is none.
  func last() throws(StoreError) -> Bool {
    unsafe count = 0
    _ = try unsafe (added.last(), replaced.last(), removed.last())
    return try settle(isForward: false)
  }

  /// Goes to the first change of a key not below `key`. False if there is none.
  func seek(to key: RawSpan) throws(StoreError) -> Bool {
    unsafe count = 0
    _ = try unsafe (added.seek(to: key), replaced.seek(to: key), removed.seek(to: key))
    return try settle(isForward: true)
  }

  /// Moves to the next change; from nowhere, nowhere.
  func next() throws(StoreError) -> Bool { try move(isForward: true) }

  /// Moves to the change before.
  func previous() throws(StoreError) -> Bool { try move(isForward: false) }

  @inline(__always)
  private func move(isForward: Bool) throws(StoreError) -> Bool {
    let left = unsafe count
    // Nowhere until it has arrived, as it may fail.
    unsafe count = 0
    if left == 0 { return false }
    if unsafe isForward != self.isForward { return try turn() }
    let head: UInt64?
    switch part {
    case .added: head = try unsafe added.headOfNext(isForward: isForward)
    case .replaced: head = try unsafe replaced.headOfNext(isForward: isForward)
    case .removed: head = try unsafe removed.headOfNext(isForward: isForward)
    }
    if let head {
      try place(Candidate(part: part, head: head), among: left)
      unsafe count = left
    } else {
      for index in 1..<left { unsafe order[index - 1] = order[index] }
      unsafe count = left - 1
    }
    return isOnEntry
  }

  /// Goes the other way. All cursors move: those without the present change stand behind it on the way so far, and one that had
  /// moved out at an end comes back in there.
  @inline(never)
  private func turn() throws(StoreError) -> Bool {
    let isForward = unsafe !isForward
    try unsafe added.step(isForward: isForward)
    try unsafe replaced.step(isForward: isForward)
    try unsafe removed.step(isForward: isForward)
    return try settle(isForward: isForward)
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

  /// Moves, and returns the first eight bytes of the key; nil if there is none.
  @inline(__always)
  fileprivate mutating func headOfNext(isForward: Bool) throws(StoreError) -> UInt64? {
    try (isForward ? next() : previous()) ? keyHead : nil
  }
}

// MARK: - The order of the parts

extension LevelCursor {
  /// Finds the order of all parts.
  private func settle(isForward: Bool) throws(StoreError) -> Bool {
    unsafe self.isForward = isForward
    var found = 0
    func add(_ part: LevelPart, _ head: UInt64?) throws(StoreError) {
      guard let head else { return }
      for index in (0..<found).reversed() { unsafe order[index + 1] = order[index] }
      found += 1
      try place(Candidate(part: part, head: head), among: found)
    }
    try add(.added, unsafe added.isOnEntry ? added.keyHead : nil)
    try add(.replaced, unsafe replaced.isOnEntry ? replaced.keyHead : nil)
    try add(.removed, unsafe removed.isOnEntry ? removed.keyHead : nil)
    unsafe count = found
    return isOnEntry
  }

  /// Brings a part, whose place is the first so far, to its place among as many as `count` are.
  ///
  /// - Throws: `.corrupt` if another part has its key.
  @inline(__always)
  private func place(_ candidate: Candidate, among count: Int) throws(StoreError) {
    var index = 0
    while index + 1 < count {
      let other = unsafe order[index + 1]
      let isBelow =
        candidate.head == other.head
        ? try isBelow(candidate.part, other.part) : candidate.head < other.head
      if unsafe isBelow == isForward { break }
      unsafe order[index] = other
      index += 1
    }
    unsafe order[index] = candidate
  }

  /// Compares the keys of two parts that agree in their first eight bytes.
  @inline(never)
  private func isBelow(_ part: LevelPart, _ other: LevelPart) throws(StoreError) -> Bool {
    let order = key(of: part).compare(key(of: other))
    if order == 0, let root = level[other].root {
      throw root.reference.fault(.levelKeys, "another part of the level has a key of this one")
    }
    return order < 0
  }
}
