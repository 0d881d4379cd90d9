/// The one entry of a level's filter: the words of a `KeyFilter` that has the keys of a level and of the changes folded into it.
struct LevelFilterInput: SortedInput {
  private let words: [UInt8]
  private var hasBegun = false

  /// - Parameters:
  ///   - count: How many keys the filter is made for.
  ///   - intervals: Those whose keys it has.
  init(
    ofKeys count: Int, in level: Level?, and changes: LevelChanges, within intervals: [KeyInterval]
  ) throws(StoreError) {
    let filter = KeyFilter(keyCount: count, wordCountMax: .max)
    for interval in intervals {
      if let level {
        for part in LevelPart.allCases { try Self.add(level[part], interval, to: filter) }
      }
      try Self.add(changes, interval, to: filter)
    }
    words = filter.bytes
  }

  private static func add(
    _ part: Tree, _ interval: KeyInterval, to filter: borrowing KeyFilter
  ) throws(StoreError) {
    var cursor = Cursor(part)
    var isOn = try cursor.seek(to: interval.start.rawSpan)
    while isOn, interval.endsAfter(cursor.key) {
      filter.insert(TreeFilter.hash(cursor.key))
      isOn = try cursor.next()
    }
  }

  private static func add(
    _ changes: LevelChanges, _ interval: KeyInterval, to filter: borrowing KeyFilter
  ) throws(StoreError) {
    var cursor = LevelChangesCursor(changes)
    var isOn = try cursor.seek(to: interval.start.rawSpan)
    while isOn, interval.endsAfter(cursor.key) {
      filter.insert(TreeFilter.hash(cursor.key))
      isOn = try cursor.next()
    }
  }

  mutating func advance() throws(StoreError) -> Bool {
    defer { hasBegun = true }
    return !hasBegun
  }

  var key: RawSpan { @_lifetime(borrow self) get { RawSpan() } }
  var value: RawSpan { @_lifetime(borrow self) get { words.rawSpan } }
  var isRemoval: Bool { false }
  var schemaVersion: UInt32 { 0 }
}
