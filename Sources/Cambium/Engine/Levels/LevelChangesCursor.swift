/// A place among the changes that a fold puts into a level. It moves from one to a later one; it begins before the first.
struct LevelChangesCursor: ~Copyable {
  /// Keeps the memory of the overlay.
  private let changes: LevelChanges
  private var overlay = OverlayCursor()
  private var hasBegun = false
  /// Nil for those of an overlay.
  private let spilled: SpilledChangesInput?

  init(_ changes: LevelChanges) {
    self.changes = changes
    switch changes {
    case .overlay(let changes):
      overlay = OverlayCursor(changes)
      spilled = nil
    case .spilled(let changes): spilled = SpilledChangesInput(changes)
    }
  }

  /// Moves to the next change. False if there is none.
  mutating func next() throws(StoreError) -> Bool {
    if let spilled { return try spilled.advance() }
    let isFirst = !hasBegun
    hasBegun = true
    return isFirst ? overlay.first() : overlay.next()
  }

  /// Goes to the first change of a key not below `key`, which is none of those before. False if there is none.
  mutating func seek(to key: RawSpan) throws(StoreError) -> Bool {
    if let spilled { return try spilled.seek(to: key) }
    hasBegun = true
    return overlay.seek(to: key)
  }

  /// Sees to it that `value` is the present change's.
  func readValue() throws(StoreError) { try spilled?.readValue() }

  var key: RawSpan {
    @_lifetime(borrow self)
    get {
      guard let spilled else { return overlay.key }
      return unsafe _overrideLifetime(spilled.key, borrowing: self)
    }
  }

  /// Until the cursor moves, once it was read; of no meaning in a removal.
  var value: RawSpan {
    @_lifetime(borrow self)
    get {
      guard let spilled else { return overlay.value }
      return unsafe _overrideLifetime(spilled.value, borrowing: self)
    }
  }

  var effect: EntryEffect { spilled?.effect ?? overlay.present.effect }
  var schemaVersion: UInt32 { spilled?.schemaVersion ?? overlay.schemaVersion }
}
