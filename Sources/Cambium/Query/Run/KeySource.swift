/// Records whose primary keys are known.
final class KeySource {
  private let found: FoundRow
  /// What finding the keys has read.
  let entryCount: Int
  private let keys: SortedKeys
  private let condition: RowCondition?
  /// Whether rows may be gone since, as in a transaction that goes on.
  private let isChanging: Bool
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private var place = -1
  /// The first of the keys that are looked up ahead.
  @exclusivity(unchecked) private var aheadStart = 0

  init(
    _ keys: SortedKeys, _ condition: RowCondition?, _ found: FoundRow, isChanging: Bool,
    entryCount: Int
  ) {
    self.keys = keys
    self.condition = condition
    self.found = found
    self.isChanging = isChanging
    self.entryCount = entryCount
    found.ahead?.begin()
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    get {
      let found = found
      return unsafe _overrideLifetime(found.key, borrowing: self)
    }
  }

  @_lifetime(borrow self)
  func row() throws(StoreError) -> RawSpan {
    let found = found
    return unsafe _overrideLifetime(try found.row(), borrowing: self)
  }

  func next() throws(StoreError) -> Bool {
    while unsafe place + 1 < keys.count {
      unsafe place += 1
      move()
      if isChanging, try !found.isThere() { continue }
      guard let condition else { return true }
      if try found.meets(condition) { return true }
    }
    return false
  }

  private func move() {
    let keys = keys
    guard let ahead = found.ahead else { return found.move(to: unsafe keys.key(place)) }
    if unsafe place < aheadStart || place >= aheadStart + ahead.count {
      ahead.begin()
      unsafe aheadStart = place
      var next = unsafe place
      while !ahead.isFull, next < keys.count {
        ahead.append(keys.key(next))
        next += 1
      }
    }
    unsafe found.move(to: place - aheadStart)
  }

  /// Leaves out the next `count`, which need not meet anything.
  func skip(_ count: Int) {
    unsafe place = min(place + count, keys.count - 1)
  }

  var rowCount: Int { unsafe found.rowCount }
}
