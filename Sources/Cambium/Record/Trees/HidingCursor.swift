/// A place among the rows of a tree that are still rows of its record: it passes those that are hidden.
///
/// A migration gave these to another record, which has a tree of its own, and has not yet rewritten this one. Trees without
/// such rows are read without this.
final class HidingCursor {
  /// In the tree.
  private let cursor: CursorAccess
  private let upgrade: RowUpgrade
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private var hasBegun = false

  init(_ cursor: CursorAccess, _ upgrade: RowUpgrade) {
    self.cursor = cursor
    self.upgrade = upgrade
  }

  private var isHidden: Bool {
    get throws(StoreError) {
      switch cursor {
      case .state(let cursor): try cursor.isHidden(by: upgrade)
      case .transaction(let cursor): try cursor.isHidden(by: upgrade)
      case .hiding: false
      }
    }
  }

  /// Moves on from a hidden row to the next that is not.
  ///
  /// - Parameter isOn: True if the cursor stands on a row.
  private func passForward(_ isOn: Bool) throws(StoreError) -> Bool {
    var isOn = isOn
    while isOn, try isHidden { isOn = try cursor.next() }
    return isOn
  }

  private func passBackward(_ isOn: Bool) throws(StoreError) -> Bool {
    var isOn = isOn
    while isOn, try isHidden { isOn = try cursor.previous() }
    return isOn
  }

  func advance() throws(StoreError) -> Bool {
    if unsafe hasBegun { return try next() }
    unsafe hasBegun = true
    return try first()
  }

  func first() throws(StoreError) -> Bool { try passForward(try cursor.first()) }
  func last() throws(StoreError) -> Bool { try passBackward(try cursor.last()) }
  func next() throws(StoreError) -> Bool { try passForward(try cursor.next()) }
  func previous() throws(StoreError) -> Bool { try passBackward(try cursor.previous()) }
  func seek(to key: RawSpan) throws(StoreError) -> Bool {
    try passForward(try cursor.seek(to: key))
  }

  /// - Complexity: O(offset + hidden rows before it).
  func seek(toOffset offset: Int) throws(StoreError) -> Bool {
    guard offset >= 0, try first() else { return false }
    for _ in 0..<offset {
      if try !next() { return false }
    }
    return true
  }

  /// Goes to a row that has about `offset` rows before it, hidden ones among them.
  func seek(nearOffset offset: Int) throws(StoreError) -> Bool {
    try passForward(try cursor.seek(toOffset: offset))
  }

  var storedVersion: UInt32? { cursor.storedVersion }

  var key: RawSpan {
    @_lifetime(borrow self)
    get {
      let cursor = cursor
      return unsafe _overrideLifetime(cursor.key, borrowing: self)
    }
  }

  @_lifetime(borrow self)
  func value() throws(StoreError) -> RawSpan {
    let cursor = cursor
    return unsafe _overrideLifetime(try cursor.value(), borrowing: self)
  }
}
