/// Entries in the order of their keys, as an input for a merge. Of entries with the same key the last
/// that came counts.
struct SortedEntries: SortedInput, ~Copyable {
  private let entries: UnsortedEntries
  private var index = -1

  fileprivate init(_ entries: consuming UnsortedEntries) {
    self.entries = entries
  }

  /// The number of entries, several with the same key included.
  var countMax: Int { entries.places.count }

  /// Goes back before the first entry.
  mutating func rewind() { index = -1 }

  mutating func advance() throws(StoreError) -> Bool {
    index += 1
    // Keys that ascend are all others, and lie where the processor looks for them itself.
    if entries.isAscending { return index < entries.places.count }
    while hasSameKeyBehind { index += 1 }
    if index + Self.distance < entries.places.count {
      entries.prefetch(entries.places[index + Self.distance], 128)
    }
    return index < entries.places.count
  }

  /// How many entries ahead their bytes are asked for.
  private static let distance = 8

  private var hasSameKeyBehind: Bool {
    guard index + 1 < entries.places.count else { return false }
    return entries.key(entries.places[index]).equals(entries.key(entries.places[index + 1]))
  }

  var key: RawSpan {
    @_lifetime(borrow self)
    get { entries.key(entries.places[index]) }
  }

  var value: RawSpan {
    @_lifetime(borrow self)
    get { entries.value(entries.places[index]) }
  }

  /// What came with the entry.
  var tag: UInt16 { entries.tag(entries.places[index]) }
  var isRemoval: Bool { false }
  var schemaVersion: UInt32 { 1 }
}

extension UnsortedEntries {
  /// The entries, sorted by key.
  consuming func sorted() -> SortedEntries {
    if isAscending { return SortedEntries(self) }
    reorder { entries, places in
      var sorter = KeySorter(prefixLength: entries.prefixLength)
      sorter.sort(&places, of: entries)
    }
    return SortedEntries(self)
  }
}
