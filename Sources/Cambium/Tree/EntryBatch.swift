/// Entries for one tree that one thread puts together for another to add, all at once.
///
/// Their bytes lie as those of `UnsortedEntries`, so that adding them is one copy.
struct EntryBatch {
  /// The entries, up to `used`.
  private var bytes: [UInt8] = []
  private var used = 0
  /// Where each entry is. In the order of appending.
  private(set) var places: [UnsortedEntries.Place] = []
  /// True if each key is above the one that came before it.
  private(set) var isAscending = true
  private(set) var keyLengthMax = 0
  private(set) var valueLengthMax = 0

  var count: Int { places.count }
  var byteCount: Int { used }

  mutating func removeAll() {
    used = 0
    places.removeAll(keepingCapacity: true)
    isAscending = true
    (keyLengthMax, valueLengthMax) = (0, 0)
  }

  /// Adds an entry, with a byte before its value.
  @inline(__always)
  mutating func append(_ key: RawSpan, _ start: UInt8, _ value: RawSpan) {
    let start: [1 of UInt8] = [start]
    let size = EntryBytes.size(key.byteCount, value.byteCount + 1)
    if used + size > bytes.count { grow(to: used + size) }
    let place = used
    unsafe bytes.withUnsafeMutableBytes { bytes in
      var bytes = unsafe MutableRawSpan(_unsafeBytes: bytes)
      unsafe EntryBytes.write(key, start.span.bytes, value, tag: 0, to: &bytes, at: place)
    }
    if isAscending, count > 0 { isAscending = self.key(count - 1).compare(key) < 0 }
    places.append(UnsortedEntries.Place(used / EntryBytes.unit))
    used += size
    keyLengthMax = max(keyLengthMax, key.byteCount)
    valueLengthMax = max(valueLengthMax, value.byteCount)
  }

  @inline(never)
  private mutating func grow(to size: Int) {
    bytes += [UInt8](repeating: 0, count: max(size, 1 << 12, 2 * bytes.count) - bytes.count)
  }

  /// The bytes of all entries.
  var entries: RawSpan {
    @_lifetime(borrow self)
    get { bytes.rawSpan.part(0, used) }
  }

  @_lifetime(borrow self)
  func key(_ index: Int) -> RawSpan { EntryBytes.key(entry(index)) }

  /// The value, without the byte before it.
  @_lifetime(borrow self)
  func value(_ index: Int) -> RawSpan {
    let value = EntryBytes.value(entry(index))
    return value.part(1, value.byteCount - 1)
  }

  /// The bytes from an entry's beginning on.
  @_lifetime(borrow self)
  private func entry(_ index: Int) -> RawSpan {
    let start = Int(places[index]) * EntryBytes.unit
    return bytes.rawSpan.part(start, used - start)
  }
}
