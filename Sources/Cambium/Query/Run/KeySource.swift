/// Records whose primary keys are known.
final class KeySource {
  private let found: FoundRow
  /// The number of entries read to find the keys.
  let entryCount: Int
  private let keys: SortedKeys
  private let condition: RowCondition?
  /// True if rows may be gone since, as in a transaction that goes on.
  private let isChanging: Bool
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private var place = -1
  /// The first of the keys that are looked up ahead, and the one behind the last.
  @exclusivity(unchecked) private var aheadStart = 0
  @exclusivity(unchecked) private var aheadEnd = 0

  init(
    _ keys: SortedKeys, _ condition: RowCondition?, _ found: FoundRow, isChanging: Bool,
    entryCount: Int
  ) {
    self.keys = keys
    self.condition = condition
    self.found = found
    self.isChanging = isChanging
    self.entryCount = entryCount
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      let keys = keys
      return unsafe _overrideLifetime(keys.key(place), borrowing: self)
    }
  }

  @_lifetime(borrow self)
  func row() throws(StoreError) -> RawSpan {
    let found = found
    return unsafe _overrideLifetime(try found.row(of: key), borrowing: self)
  }

  func next() throws(StoreError) -> Bool {
    while unsafe place + 1 < keys.count {
      unsafe place += 1
      move()
      if isChanging, try !found.isThere(key) { continue }
      guard let condition else { return true }
      if try found.meets(condition, key) { return true }
    }
    return false
  }

  private func move() {
    if unsafe place >= aheadEnd { lookAhead() }
    if unsafe place < aheadEnd {
      unsafe found.move(to: place - aheadStart)
    } else {
      found.move()
    }
  }

  private func lookAhead() {
    let left = unsafe keys.count - place
    guard left > 1, let ahead = found.begin() else { return }
    unsafe aheadStart = place
    unsafe aheadEnd = place + min(left, RowsAhead.countMax)
    let keys = keys
    for next in unsafe aheadStart..<aheadEnd { ahead.append(keys.key(next)) }
  }

  /// Leaves out the next `count`, which need not meet anything.
  func skip(_ count: Int) {
    unsafe place = min(place + count, keys.count - 1)
  }

  var rowCount: Int { unsafe found.rowCount }
}
