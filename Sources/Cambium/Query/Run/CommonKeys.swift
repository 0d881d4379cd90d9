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
  init(
    _ ranges: [OrderedRange], in trees: TreeAccess, _ meter: QueryMeter?
  ) throws(StoreError) {
    var places: [KeyPlace] = []
    for range in ranges { places.append(try KeyPlace(range, in: trees, meter)) }
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
      guard let isSame = try places[other].advance(to: places[leader].key) else { return false }
      if isSame {
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
      return unsafe _overrideLifetime(place.bytes, borrowing: self)
    }
  }

  /// The number of entries read so far.
  var entryCount: Int { places.reduce(0) { unsafe $0 + $1.entryCount } }
}

/// A range of an index whose entries differ in nothing but the primary keys that they end with, of up to 16 bytes.
struct OrderedRange {
  fileprivate let slot: TreeSlot
  fileprivate let range: KeyRange
  /// The length of primary keys.
  fileprivate let keyLength: Int
  fileprivate let layout: RowLayout
}

extension QueryAccess {
  /// The range, if the access is one whose entries are in the order of their primary keys.
  func orderedRange(of record: Entity) -> OrderedRange? {
    guard case .index(let place, let ranges) = self, ranges.count == 1 else { return nil }
    let (range, index) = (ranges[0], record.indexes[place])
    // Keys that may be cut, or that do not end with the primary key, are in another order.
    let layout = index.layout
    guard (1...16).contains(layout.keyLength),
      range.low.count + layout.keyLength < IndexLayout.cutLength,
      range.high == range.low.behindPrefix, layout.isWhole(range.low, of: record.layout)
    else { return nil }
    return OrderedRange(
      slot: index.slot, range: range, keyLength: layout.keyLength, layout: record.layout)
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
  private let meter: QueryMeter?
  private let range: OrderedRange
  // One owner on one thread uses them, so accesses cannot overlap.
  /// The primary key of the entry that it stands on: its bytes, and zeros.
  @exclusivity(unchecked) private var number: UInt128 = 0
  /// The bytes that all entries begin with, and 16 of the key that is sought.
  @exclusivity(unchecked) private var sought: [UInt8]
  @exclusivity(unchecked) private var hasBegun = false
  @exclusivity(unchecked) private(set) var entryCount = 0
  /// The number of seeks before the next entry is tried first again. It doubles each time that the try fails.
  @exclusivity(unchecked) private var pause = 0
  @exclusivity(unchecked) private var pauseLeft = 0

  init(
    _ range: OrderedRange, in trees: TreeAccess, _ meter: QueryMeter?
  ) throws(StoreError) {
    self.meter = meter
    cursor = try trees.cursor(in: range.slot)
    self.range = range
    unsafe sought = range.range.low + [UInt8](repeating: 0, count: 16)
  }

  var key: UInt128 { unsafe number }

  /// The bytes of the key. Until it moves.
  var bytes: RawSpan {
    @_lifetime(borrow self)
    get {
      let cursor = cursor
      let key = cursor.key
      let start = range.range.low.count
      return unsafe _overrideLifetime(key.part(start, range.keyLength), borrowing: self)
    }
  }

  /// Moves to the next key. False after the range.
  func next() throws(StoreError) -> Bool {
    if unsafe hasBegun { return try arrive(try cursor.next()) }
    unsafe hasBegun = true
    let low = range.range.low
    return try arrive(try cursor.seek(to: low.rawSpan))
  }

  /// Moves to the first key that is not below `target`, unless the present one is. Returns true if it equals `target`;
  /// `nil` after the range.
  func advance(to target: UInt128) throws(StoreError) -> Bool? {
    if unsafe hasBegun {
      if key >= target { return key == target }
      if unsafe pauseLeft == 0 {
        guard try next() else { return nil }
        if key >= target {
          unsafe pause = 0
          return key == target
        }
        unsafe pause = min(31, 2 * pause + 1)
        unsafe pauseLeft = pause
      } else {
        unsafe pauseLeft -= 1
      }
    }
    guard try seek(target) else { return nil }
    guard key >= target else { throw disorder(bytes) }
    return key == target
  }

  private func seek(_ target: UInt128) throws(StoreError) -> Bool {
    unsafe hasBegun = true
    let start = range.range.low.count
    unsafe sought.withUnsafeMutableBytes { bytes in
      unsafe bytes.storeBytes(of: target.bigEndian, toByteOffset: start, as: UInt128.self)
    }
    let sought = unsafe sought
    return try arrive(try cursor.seek(to: sought.rawSpan.part(0, start + range.keyLength)))
  }

  /// Reads the key of the cursor's entry, which must be above the last one. False after the range.
  private func arrive(_ isOn: Bool) throws(StoreError) -> Bool {
    guard isOn else { return false }
    unsafe entryCount += 1
    try meter?.use()
    let (cursor, low) = (cursor, range.range.low)
    let found = cursor.key
    guard found.byteCount >= low.count, found.begins(with: low.rawSpan) else { return false }
    guard found.byteCount == low.count + range.keyLength else {
      throw range.layout.fault(
        key: found, .keyParts, "an entry of an index does not end with a primary key")
    }
    let rest = range.keyLength > 8 ? found.head(low.count &+ 8) : 0
    let number = UInt128(found.head(low.count)) << 64 | UInt128(rest)
    guard unsafe entryCount == 1 || number > self.number else { throw disorder(found) }
    unsafe self.number = number
    return true
  }

  /// The error for a tree whose keys do not ascend: two places could seek each other forever.
  private func disorder(_ key: RawSpan) -> StoreError {
    range.layout.fault(key: key, .keyOrder, "an index has it after a higher key")
  }
}
