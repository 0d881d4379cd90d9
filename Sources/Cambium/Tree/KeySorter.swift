/// Sorts entries by key without moving them: first by one byte into groups, then each group by its
/// eight-byte heads, keys that agree in these by the next eight, and only keys that agree in both as a whole.
///
/// A group's keys are read twice in a row, once to sort and once by whoever takes the entries, so the
/// second time they are in the cache. Groups are sorted by radix: no comparison, no branch to guess.
struct KeySorter {
  typealias Place = UnsortedEntries.Place

  private struct Item: HeadSorted {
    var head: UInt64
    var place: Place
  }

  /// Groups up to this size are sorted at once: a few MiB, which the second cache holds.
  private static let groupMax = 1 << 17

  private let prefixLength: Int
  private var items: [Item] = []
  private var spare: [Item] = []

  /// - Parameter prefixLength: The length of what all keys begin with.
  init(prefixLength: Int) {
    self.prefixLength = prefixLength
  }

  mutating func sort(_ places: inout [Place], of entries: borrowing UnsortedEntries) {
    sort(&places, 0..<places.count, of: entries, byte: prefixLength)
  }

  /// Sorts places whose keys agree in all bytes before `byte`.
  private mutating func sort(
    _ places: inout [Place], _ range: Range<Int>, of entries: borrowing UnsortedEntries, byte: Int
  ) {
    if range.count <= Self.groupMax || byte >= StoreError.Limit.keyLength.bound {
      sortGroup(&places, range, of: entries, byte: byte)
      return
    }
    let groups = divide(&places, range, of: entries, byte: byte)
    // The keys that have ended are all the same.
    places[groups[0]].sort()
    for group in groups.dropFirst() where group.count > 1 {
      let next = group == range ? commonLength(of: places, range, of: entries) : byte + 1
      sort(&places, group, of: entries, byte: next)
    }
  }

  /// The number of bytes that all keys begin with. Spares a division for each of them where one key comes many times.
  private func commonLength(
    of places: [Place], _ range: Range<Int>, of entries: borrowing UnsortedEntries
  ) -> Int {
    let first = entries.key(places[range.lowerBound])
    var length = first.byteCount
    for index in range {
      if index + 8 < range.upperBound { entries.prefetch(places[index + 8], 64) }
      length = entries.key(places[index]).commonPrefix(with: first, atMost: length)
    }
    return length
  }

  /// Puts places into groups by one byte of their keys, in place; keys that end before it come first.
  ///
  /// McIlroy, Bostic and McIlroy, "Engineering Radix Sort", 1993 (the American flag sort).
  private func divide(
    _ places: inout [Place], _ range: Range<Int>, of entries: borrowing UnsortedEntries, byte: Int
  ) -> [Range<Int>] {
    var digits = [UInt16](repeating: 0, count: range.count)
    var counts = [Int](repeating: 0, count: 257)
    for index in range {
      if index + 8 < range.upperBound { entries.prefetch(places[index + 8], 64) }
      let key = entries.key(places[index])
      let digit = byte < key.byteCount ? UInt16(key.load(byte, as: UInt8.self)) + 1 : 0
      digits[index - range.lowerBound] = digit
      counts[Int(digit)] += 1
    }
    var groups: [Range<Int>] = []
    var start = range.lowerBound
    for count in counts {
      groups.append(start..<start + count)
      start += count
    }
    var next = groups.map(\.lowerBound)
    for (group, slots) in groups.enumerated() {
      while next[group] < slots.upperBound {
        let index = next[group]
        let digit = Int(digits[index - range.lowerBound])
        let target = next[digit]
        places.swapAt(index, target)
        digits.swapAt(index - range.lowerBound, target - range.lowerBound)
        next[digit] += 1
      }
    }
    return groups
  }

  private mutating func sortGroup(
    _ places: inout [Place], _ range: Range<Int>, of entries: borrowing UnsortedEntries, byte: Int
  ) {
    items.removeAll(keepingCapacity: true)
    for index in range {
      if index + 16 < range.upperBound { entries.prefetch(places[index + 16], 64) }
      items.append(Item(head: entries.key(places[index]).head(byte), place: places[index]))
    }
    items.sortByHead(&spare)
    var start = 0
    while start < items.count {
      let ties = items.ties(from: start)
      if ties.count > 1 { sortTies(ties, of: entries, byte: byte + 8) }
      start = ties.upperBound
    }
    for index in range { places[index] = items[index - range.lowerBound].place }
  }

  /// Sorts items whose keys agree before `byte`: as most do, by the next eight bytes without looking at the keys.
  private mutating func sortTies(
    _ range: Range<Int>, of entries: borrowing UnsortedEntries, byte: Int
  ) {
    var ties = items[range].map { Item(head: entries.key($0.place).head(byte), place: $0.place) }
    ties.sort { one, other in
      if one.head != other.head { return one.head < other.head }
      let order = entries.key(one.place).compare(entries.key(other.place))
      return order == 0 ? one.place < other.place : order < 0
    }
    for (index, item) in zip(range, ties) { items[index] = item }
  }
}
