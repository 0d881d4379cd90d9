/// The changes of a spilled transaction within an interval of keys, one after the other, in the form of a run.
final class SpilledChangesInput {
  private let effects: [EntryEffect?]
  private let interval: KeyInterval
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var operations: RunMerge
  /// That of the present change, or -1.
  @exclusivity(unchecked) private var index = -1
  @exclusivity(unchecked) private var isOn = false

  init(_ changes: SpilledChanges, within interval: KeyInterval = .all) {
    effects = changes.effects
    self.interval = interval
    unsafe operations = changes.operations()
  }

  func advance() throws(StoreError) -> Bool {
    let start = interval.start
    if unsafe index < 0 { return try seek(to: start.rawSpan) }
    unsafe isOn = try step() && isWithin
    return unsafe isOn
  }

  private var isWithin: Bool { interval.endsAfter(key) }

  /// Goes to the first change of a key not below `key`, unless the present one is behind that. False if there is none.
  func seek(to key: RawSpan) throws(StoreError) -> Bool {
    if unsafe index < 0 { unsafe isOn = try step() }
    while unsafe isOn, self.key.compare(key) < 0 { unsafe isOn = try step() }
    unsafe isOn = isOn && isWithin
    return unsafe isOn
  }

  /// Moves to the next change.
  private func step() throws(StoreError) -> Bool {
    while unsafe index + 1 < effects.count, try unsafe operations.advanceStored() {
      unsafe index += 1
      if unsafe effects[index] != nil { return true }
    }
    return false
  }

  /// Reads the value, if it has pages of its own. `value` is of no meaning before.
  func readValue() throws(StoreError) { try unsafe operations.readValue() }

  var effect: EntryEffect { unsafe effects[index] ?? .replace }

  var key: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(operations.key, borrowing: self) }
  }

  var value: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(operations.value, borrowing: self) }
  }

  /// The operation, as `RunValue` reads it. Until the input moves.
  var stored: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(operations.stored, borrowing: self) }
  }

  var schemaVersion: UInt32 { unsafe operations.schemaVersion }
}
