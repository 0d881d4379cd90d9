/// A place in a layered tree that moves from entry to entry, in order and back.
///
/// It merges the tree's cursor with the changes of overlays and of a level. Both stand on the present entry or on their
/// next one on the way the cursor moves. Where the next change belongs in the tree's leaf is found
/// once, near the entry; up to there the tree's entries follow one another without a comparison.
///
/// A cursor stands on an entry or nowhere; it begins nowhere, and a move that finds none, or fails,
/// leaves it nowhere.
struct LayeredCursor: ~Copyable {
  private enum Place {
    case nowhere
    /// On the base's entry; the changes stand on another key, or are at an end.
    case base
    /// On the present change.
    case change
  }

  private let tree: LayeredTree
  private var base: Cursor
  private var changes: TreeChanges
  private var place = Place.nowhere
  private var isForward = true
  /// Whether the base's leaf has the key of the changes' present one: at `limit`, or before `floor`.
  private var isTie = false
  /// On the way forward, the first slot of the base's leaf that the next change does not come behind.
  private var limit = 0
  /// On the way back, the first slot of the base's leaf behind the next change.
  private var floor = Int.max

  init(_ tree: LayeredTree) {
    self.tree = tree
    base = Cursor(tree.base)
    changes = TreeChanges(of: tree)
  }

  /// Whether the cursor stands on an entry.
  var isOnEntry: Bool { place != .nowhere }

  /// The key of the entry. Until the cursor moves.
  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { place == .change ? changes.key : base.key }
  }

  /// The value, or the reference to its pages if it is external. Until the cursor moves.
  var storedValue: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { place == .change ? changes.storedValue : base.storedValue }
  }

  /// Whether the value has pages of its own.
  @inline(__always)
  var isExternal: Bool { place == .change ? changes.isExternal : base.isExternal }

  @inline(__always)
  var schemaVersion: UInt32 {
    place == .change ? changes.schemaVersion : base.schemaVersion
  }

  /// Appends the value, wherever it is.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func appendValue(to value: inout [UInt8]) throws(StoreError) {
    if place == .change {
      try changes.appendValue(to: &value)
    } else {
      try tree.base.append(base.entry, to: &value)
    }
  }
}

// MARK: Going to a place

extension LayeredCursor {
  /// Goes to the first entry. False if there is none.
  mutating func first() throws(StoreError) -> Bool {
    place = .nowhere
    _ = try base.first()
    _ = try changes.first()
    return try settleForward()
  }

  /// Goes to the last entry. False if there is none.
  mutating func last() throws(StoreError) -> Bool {
    place = .nowhere
    _ = try base.last()
    _ = try changes.last()
    return try settleBackward()
  }

  /// Goes to the first entry whose key is not below `key`. False if there is none.
  ///
  /// - Complexity: O(log count), and the removed entries that are passed, up to some hundred.
  mutating func seek(to key: RawSpan) throws(StoreError) -> Bool {
    place = .nowhere
    _ = try base.seek(to: key)
    _ = try changes.seek(to: key)
    return try settleForward()
  }

  /// Goes to the entry with `offset` entries before it. False if there is none.
  ///
  /// - Complexity: O(log count × log changes).
  /// - Throws: `.corrupt`, also where the counts beside the path do not add up; `.io`.
  mutating func seek(toOffset offset: Int) throws(StoreError) -> Bool {
    place = .nowhere
    guard let key = try tree.key(atOffset: offset) else { return false }
    return try seek(to: key.rawSpan)
  }
}

// MARK: Moving

extension LayeredCursor {
  /// Moves to the next entry. False behind the last.
  @inline(__always)
  mutating func next() throws(StoreError) -> Bool {
    if place == .base, base.next(below: limit) { return true }
    return try nextBehindLimit()
  }

  /// Moves to the entry before. False before the first.
  @inline(__always)
  mutating func previous() throws(StoreError) -> Bool {
    if place == .base, base.previous(from: floor) { return true }
    return try previousBeforeFloor()
  }

  @inline(never)
  private mutating func nextBehindLimit() throws(StoreError) -> Bool {
    let left = place
    place = .nowhere
    if left == .nowhere { return false }
    if !isForward {
      try turn(leaving: left, isForward: true)
    } else if left == .base, base.next(below: base.countInLeaf) {
      return try settleForward(isPlaced: true)
    }
    if left == .change { _ = try changes.next() }
    if left == .base || isTie { _ = try base.next() }
    return try settleForward()
  }

  @inline(never)
  private mutating func previousBeforeFloor() throws(StoreError) -> Bool {
    let left = place
    place = .nowhere
    if left == .nowhere { return false }
    if isForward {
      try turn(leaving: left, isForward: false)
    } else if left == .base, base.previous(from: 0) {
      return try settleBackward(isPlaced: true)
    }
    if left == .change { _ = try changes.previous() }
    if left == .base || isTie { _ = try base.previous() }
    return try settleBackward()
  }

  /// Brings the one that does not have the present entry to the other side of it.
  private mutating func turn(leaving left: Place, isForward: Bool) throws(StoreError) {
    if left == .base {
      if changes.isOnEntry {
        _ = isForward ? try changes.next() : try changes.previous()
      } else {
        _ = isForward ? try changes.first() : try changes.last()
      }
    } else if base.isOnEntry {
      _ = isForward ? try base.next() : try base.previous()
    } else {
      _ = isForward ? try base.first() : try base.last()
    }
    isTie = false
  }
}

// MARK: Merging

extension LayeredCursor {
  /// Takes the lower of base and changes, passing what is removed.
  ///
  /// - Parameter isPlaced: True if `limit` and `isTie` are right, as neither change nor leaf are others.
  private mutating func settleForward(isPlaced: Bool = false) throws(StoreError) -> Bool {
    isForward = true
    floor = .max
    var (isPlaced, passed) = (isPlaced, 0)
    while changes.isOnEntry {
      if !isPlaced { findLimit() }
      isPlaced = false
      if base.slotInLeaf < limit { return stand(on: .base) }
      if !changes.isRemoval { return stand(on: .change) }
      passed += 1
      if passed == Self.passedMax, let isThere = try jump(isForward: true) {
        if isThere { continue }
        return false
      }
      if isTie { _ = try base.next() }
      _ = try changes.next()
    }
    limit = base.countInLeaf
    return base.isOnEntry && stand(on: .base)
  }

  /// Takes the higher of base and changes, passing what is removed.
  ///
  /// - Parameter isPlaced: True if `floor` and `isTie` are right, as neither change nor leaf are others.
  private mutating func settleBackward(isPlaced: Bool = false) throws(StoreError) -> Bool {
    isForward = false
    limit = 0
    var (isPlaced, passed) = (isPlaced, 0)
    while changes.isOnEntry {
      if !isPlaced { findFloor() }
      isPlaced = false
      if base.slotInLeaf >= floor { return stand(on: .base) }
      if !changes.isRemoval { return stand(on: .change) }
      passed += 1
      if passed == Self.passedMax, let isThere = try jump(isForward: false) {
        return isThere ? try settleForward() : false
      }
      if isTie { _ = try base.previous() }
      _ = try changes.previous()
    }
    floor = 0
    return base.isOnEntry && stand(on: .base)
  }

  /// Finds where the present change belongs among the entries of the base's leaf: mostly a few slots on.
  @inline(__always)
  private mutating func findLimit() {
    (limit, isTie) = (-1, false)
    guard base.isOnEntry else { return }
    let found = searchLeaf(near: base.slotInLeaf - 1)
    (limit, isTie) = (found.slot, found.isFound)
  }

  /// The same on the way back.
  @inline(__always)
  private mutating func findFloor() {
    (floor, isTie) = (0, false)
    guard base.isOnEntry else { return }
    let found = searchLeaf(near: base.slotInLeaf - 6)
    (floor, isTie) = (found.slot + (found.isFound ? 1 : 0), found.isFound)
  }

  /// Finds the key of the present change in the base's leaf; it is put together only if its first bytes do not tell.
  @inline(__always)
  private func searchLeaf(near start: Int) -> SearchResult {
    if let slot = base.slotInLeaf(notBelowKeyHead: changes.keyHead, near: start) {
      return SearchResult(slot: slot, isFound: false)
    }
    return base.searchLeaf(for: changes.key, near: start)
  }

  /// How many removals are passed one by one: by then looking up the next entry by its number costs less.
  private static var passedMax: Int { 256 }

  /// Seeks the next entry by its number: a queue of which a million records were removed has its first behind a million removals.
  ///
  /// - Returns: whether there is one; nil if the numbers lead nowhere, since they contradict the keys.
  @inline(never)
  private mutating func jump(isForward: Bool) throws(StoreError) -> Bool? {
    let removed = changes.key.array()
    let rank = try tree.rank(of: removed.rawSpan)
    guard isForward ? rank < tree.count : rank > 0 else { return false }
    guard let key = try tree.key(atOffset: isForward ? rank : rank - 1) else { return nil }
    let order = key.rawSpan.compare(removed.rawSpan)
    guard isForward ? order > 0 : order < 0 else { return nil }
    _ = try base.seek(to: key.rawSpan)
    _ = try changes.seek(to: key.rawSpan)
    return true
  }

  private mutating func stand(on place: Place) -> Bool {
    self.place = place
    return true
  }
}
