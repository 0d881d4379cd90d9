/// Numbers different keys in the order in which they come: 0, 1, 2 and so on.
///
/// A hash table of bytes that takes no memory for each key but that of its bytes: groups, results that are known, and
/// different values are kept by it. The key that came last is compared first, since records often come in the order of it.
struct KeyNumbers {
  /// The keys, one after the other.
  private var bytes: [UInt8] = []
  /// The end of each key among the bytes.
  private var ends: [Int] = []
  /// For each place of the table, the upper half of a hash, and the number of its key plus one; 0 if it is free.
  private var slots: [UInt64] = []
  /// The number that came last.
  private var last = 0
  /// True as long as each new key sorts after the one before.
  private(set) var isAscending = true

  /// Secret, and another one in each process, so that nobody can choose keys with one hash.
  private static let seed = UInt64.random(in: .min ... .max)

  var count: Int { ends.count }

  /// The bytes of all keys.
  var size: Int { bytes.count }

  @_lifetime(borrow self)
  @inline(__always)
  func key(_ number: Int) -> RawSpan {
    let start = number == 0 ? 0 : ends[number &- 1]
    return unsafe _overrideLifetime(
      bytes.rawSpan.part(start, ends[number] &- start), borrowing: self)
  }

  /// Returns the number of a key, and whether it is new.
  ///
  /// - Complexity: O(length), if the hash spreads the keys.
  @inline(__always)
  mutating func number(of key: RawSpan) -> (number: Int, isNew: Bool) {
    if last < ends.count, self.key(last).equals(key) { return (last, false) }
    return foundNumber(of: key)
  }

  /// Returns the number of a key; nil if it did not come yet.
  mutating func existingNumber(of key: RawSpan) -> Int? {
    if slots.isEmpty { return nil }
    if last < ends.count, self.key(last).equals(key) { return last }
    let slot = slots[place(of: key, Self.hash(key))]
    if slot == 0 { return nil }
    last = Int(slot & 0xffff_ffff) &- 1
    return last
  }

  @inline(never)
  private mutating func foundNumber(of key: RawSpan) -> (number: Int, isNew: Bool) {
    // At most three quarters are taken, so that the search for a free place is short.
    if 4 &* (ends.count &+ 1) > 3 &* slots.count { grow() }
    let hash = Self.hash(key)
    let place = place(of: key, hash)
    if slots[place] != 0 {
      last = Int(slots[place] & 0xffff_ffff) &- 1
      return (last, false)
    }
    if isAscending, let before = ends.indices.last {
      isAscending = self.key(before).compare(key) < 0
    }
    last = ends.count
    bytes.append(key)
    ends.append(bytes.count)
    slots[place] = hash & ~0xffff_ffff | UInt64(last &+ 1)
    return (last, true)
  }

  /// Returns the place that has the key, or the free one where it belongs.
  @inline(__always)
  private func place(of key: RawSpan, _ hash: UInt64) -> Int {
    let mask = slots.count &- 1
    var place = Int(truncatingIfNeeded: hash &>> 32) & mask
    while slots[place] != 0 {
      let slot = slots[place]
      if (slot ^ hash) &>> 32 == 0, self.key(Int(slot & 0xffff_ffff) &- 1).equals(key) { break }
      place = (place &+ 1) & mask
    }
    return place
  }

  private mutating func grow() {
    let old = slots
    slots = [UInt64](repeating: 0, count: max(16, 2 * old.count))
    let mask = slots.count &- 1
    for slot in old where slot != 0 {
      var place = Int(truncatingIfNeeded: slot &>> 32) & mask
      while slots[place] != 0 { place = (place &+ 1) & mask }
      slots[place] = slot
    }
  }

  /// Forgets all keys, and keeps the memory.
  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    ends.removeAll(keepingCapacity: true)
    for place in slots.indices { slots[place] = 0 }
    last = 0
    isAscending = true
  }

  /// Idea: wyhash by Wang Yi, which folds the product of two words.
  @inline(__always)
  private static func hash(_ key: RawSpan) -> UInt64 {
    let count = key.byteCount
    var hash = folded(seed ^ UInt64(truncatingIfNeeded: count))
    if count < 8 { return folded(hash ^ key.head(0)) }
    var offset = 0
    while offset &+ 8 <= count {
      hash = folded(hash ^ key.load(offset, as: UInt64.self))
      offset &+= 8
    }
    return offset == count ? hash : folded(hash ^ key.load(count &- 8, as: UInt64.self))
  }

  @inline(__always)
  private static func folded(_ word: UInt64) -> UInt64 {
    let product = word.multipliedFullWidth(by: 0xa076_1d64_78bd_642f)
    return product.high ^ product.low
  }
}

extension KeyNumbers {
  /// The numbers, sorted by their keys.
  ///
  /// - Complexity: O(n log n); O(n) if the keys came in order.
  var sorted: [Int] {
    if isAscending { return Array(0..<count) }
    var heads = (0..<count).map { (head: key($0).head(0), number: $0) }
    heads.sort { one, other in
      if one.head != other.head { return one.head < other.head }
      return key(one.number).compare(key(other.number)) < 0
    }
    return heads.map(\.number)
  }
}
