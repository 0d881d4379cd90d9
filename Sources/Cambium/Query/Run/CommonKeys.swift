/// The primary keys that several ranges of indexes have in common, found one by one in their order.
///
/// The entries of each range differ in nothing but the primary keys that they end with, so that these are in order. From
/// the key of one, all others are moved to it, or beyond it if they do not have it.
final class CommonKeys {
  private let places: [KeyPlace]
  /// True after the last key: a place past its range has none.
  // One owner on one thread uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private var isOver = false

  /// - Parameter ranges: Those with the fewest entries first; at least two.
  /// - Throws: `.corrupt`, `.io`.
  init(_ ranges: [OrderedRange], in trees: TreeAccess) throws(StoreError) {
    var places: [KeyPlace] = []
    for range in ranges { places.append(try KeyPlace(range, in: trees)) }
    self.places = places
  }

  /// Moves to the next key. False after the last, and then always.
  ///
  /// - Complexity: O(log entries) for each key that the first range has, and less where keys are near.
  /// - Throws: `.corrupt`, `.io`.
  func next() throws(StoreError) -> Bool {
    if unsafe isOver { return false }
    let isOn = try findNext()
    unsafe isOver = !isOn
    return isOn
  }

  private func findNext() throws(StoreError) -> Bool {
    guard try places[0].next() else { return false }
    // The place whose key is sought, and how many have it.
    var leader = 0
    var count = 1
    while count < places.count {
      let other = (leader + count) % places.count
      let (one, two) = (places[leader], places[other])
      guard try two.advance(to: one.key) else { return false }
      if two.key.equals(one.key) {
        count += 1
      } else {
        leader = other
        count = 1
      }
    }
    return true
  }

  /// The key, until the next.
  var key: RawSpan {
    @_lifetime(borrow self)
    get {
      let place = places[0]
      return unsafe _overrideLifetime(place.key, borrowing: self)
    }
  }

  /// The number of entries read so far.
  var entryCount: Int { places.reduce(0) { unsafe $0 + $1.entryCount } }
}

/// A range of an index whose entries differ in nothing but the primary keys that they end with.
struct OrderedRange {
  fileprivate let slot: TreeSlot
  fileprivate let range: KeyRange
}

extension QueryAccess {
  /// The range, if the access is one whose entries are in the order of their primary keys.
  func orderedRange(of record: Entity) -> OrderedRange? {
    guard case .index(let place, let ranges) = self, ranges.count == 1 else { return nil }
    let (range, index) = (ranges[0], record.indexes[place])
    // Keys that may be cut, or that do not end with the primary key, are in another order.
    let layout = index.layout
    guard layout.keyLength > 0, range.low.count + layout.keyLength < IndexLayout.cutLength,
      range.high == range.low.behindPrefix, layout.isWhole(range.low, of: record.layout)
    else { return nil }
    return OrderedRange(slot: index.slot, range: range)
  }
}

extension IndexLayout {
  /// Returns true if bytes are a value of each part, and nothing else.
  fileprivate func isWhole(_ bytes: [UInt8], of layout: RowLayout) -> Bool {
    var reader = KeyReader(bytes.rawSpan, layout: layout, index: place)
    for column in parts.columns {
      do {
        if try !reader.isNull(column.form) { try reader.skipValue(column) }
      } catch {
        return false
      }
    }
    return reader.rest.byteCount == 0
  }
}

/// A place among the primary keys of a range.
private final class KeyPlace {
  private let cursor: CursorAccess
  private let range: OrderedRange
  // One owner on one thread uses them, so accesses cannot overlap.
  /// The key that is sought, after the bytes that all entries begin with.
  @exclusivity(unchecked) private var sought: [UInt8]
  @exclusivity(unchecked) private var hasBegun = false
  @exclusivity(unchecked) private(set) var entryCount = 0
  /// The number of entries that are passed one by one before the key is searched for: more where that was enough.
  @exclusivity(unchecked) private var stepCount = 8

  init(_ range: OrderedRange, in trees: TreeAccess) throws(StoreError) {
    cursor = try trees.cursor(in: range.slot)
    self.range = range
    unsafe sought = range.range.low
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get {
      let cursor = cursor
      let start = range.range.low.count
      return unsafe _overrideLifetime(
        cursor.key.part(start, cursor.key.byteCount - start), borrowing: self)
    }
  }

  func next() throws(StoreError) -> Bool {
    unsafe hasBegun ? isInRange(try cursor.next()) : try search()
  }

  /// Moves to the first key that is not below `key`, unless it is there.
  func advance(to key: RawSpan) throws(StoreError) -> Bool {
    if unsafe hasBegun {
      if self.key.compare(key) >= 0 { return true }
      for _ in unsafe 0..<stepCount {
        guard try next() else { return false }
        if self.key.compare(key) >= 0 {
          unsafe stepCount = min(32, stepCount + 1)
          return true
        }
      }
      unsafe stepCount = max(1, stepCount / 2)
    }
    unsafe sought.removeLast(sought.count - range.range.low.count)
    unsafe sought.append(key)
    return try search()
  }

  private func search() throws(StoreError) -> Bool {
    unsafe hasBegun = true
    let sought = unsafe sought
    return isInRange(try cursor.seek(to: sought.rawSpan))
  }

  private func isInRange(_ isOn: Bool) -> Bool {
    guard isOn else { return false }
    unsafe entryCount += 1
    let (cursor, low) = (cursor, range.range.low)
    return cursor.key.byteCount >= low.count && cursor.key.begins(with: low.rawSpan)
  }
}
