internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Tells for most keys that an overlay, a run or a level does not have that it does not.
///
/// A Bloom filter in which all bits of a key are in one word, so that a question costs one cache
/// line. (Putze, Sanders and Singler, "Cache-, Hash- and Space-Efficient Bloom Filters", 2007.)
/// One editor adds to it while any number of threads ask. A bit set for a version not yet published,
/// or for one rolled back, costs a search and nothing else, so no order between them is needed.
@safe struct KeyFilter: ~Copyable, @unchecked Sendable {
  private let words: UnsafeMutablePointer<Atomic<UInt64>>
  private let mask: UInt64

  /// As many as 64 million keys want: 128 MiB.
  private static var wordCountMax: Int { 1 << 24 }

  /// - Parameter wordCount: How many words of 64 bits there are at least, up to 2^24. One for four keys spares 97 of
  ///   100 searches; with more keys the filter only spares less.
  init(wordCount: Int) {
    let wordCount = min(max(64, wordCount), Self.wordCountMax).roundedUpToPowerOfTwo
    mask = UInt64(wordCount - 1)
    let memory = UnsafeMutableRawPointer.allocate(byteCount: wordCount * 8, alignment: 64)
    unsafe memset(memory, 0, wordCount * 8)
    unsafe words = memory.bindMemory(to: Atomic<UInt64>.self, capacity: wordCount)
  }

  /// Creates a filter with as many words as a number of keys want, but not more than `wordCountMax`.
  init(keyCount: Int, wordCountMax: Int) {
    self.init(wordCount: min(keyCount / 4, wordCountMax))
  }

  deinit {
    unsafe words.deallocate()
  }

  /// Adds a key by its hash. One thread at a time.
  @inline(__always)
  func insert(_ hash: UInt64) {
    let word = unsafe words + Int(truncatingIfNeeded: hash & mask)
    let bits = Self.bits(hash)
    let old = unsafe word.pointee.load(ordering: .relaxed)
    if old & bits != bits { unsafe word.pointee.store(old | bits, ordering: .relaxed) }
  }

  /// False if no key with this hash was added.
  @inline(__always)
  func mayContain(_ hash: UInt64) -> Bool {
    let bits = Self.bits(hash)
    let word = unsafe words + Int(truncatingIfNeeded: hash & mask)
    return unsafe word.pointee.load(ordering: .relaxed) & bits == bits
  }

  /// Takes words from where `bytes` has put them.
  ///
  /// - Returns: nil if their number is none that a filter has.
  init?(words bytes: RawSpan) {
    let count = bytes.byteCount / 8
    guard bytes.byteCount % 8 == 0, 64...Self.wordCountMax ~= count, count.nonzeroBitCount == 1
    else { return nil }
    self.init(wordCount: count)
    for index in 0..<count {
      unsafe words[index].store(bytes.load(8 * index, as: UInt64.self), ordering: .relaxed)
    }
  }

  /// A filter that knows every key.
  static var full: KeyFilter {
    let filter = KeyFilter(wordCount: 0)
    for index in 0...Int(filter.mask) {
      unsafe filter.words[index].store(.max, ordering: .relaxed)
    }
    return filter
  }

  /// The words, one behind the other, lowest byte first.
  var bytes: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(8 * (Int(mask) + 1))
    for index in 0...Int(mask) {
      bytes.append(integer: unsafe words[index].load(ordering: .relaxed))
    }
    return bytes
  }

  /// The same keys in fewer words, as many as `count` keys want. A word's place is the lower bits of a hash,
  /// so words that fall together are put together.
  func fitted(to count: Int) -> KeyFilter {
    let fitted = KeyFilter(keyCount: count, wordCountMax: Int(mask) + 1)
    for index in 0...mask {
      let bits = unsafe words[Int(index)].load(ordering: .relaxed)
      if bits == 0 { continue }
      let word = unsafe fitted.words + Int(index & fitted.mask)
      let old = unsafe word.pointee.load(ordering: .relaxed)
      unsafe word.pointee.store(old | bits, ordering: .relaxed)
    }
    return fitted
  }

  /// Four bits of a word, chosen by the hash's upper bits; its lower ones choose the word.
  @inline(__always)
  private static func bits(_ hash: UInt64) -> UInt64 {
    1 &<< (hash &>> 58) | 1 &<< (hash &>> 52) | 1 &<< (hash &>> 46) | 1 &<< (hash &>> 40)
  }
}

extension KeyFilter {
  /// A number that depends on every bit of `key` and of a seed. Files have filters of it, with the seed 0.
  @inline(__always)
  static func hash(_ key: RawSpan, seed: UInt64 = 0) -> UInt64 {
    let count = key.byteCount
    var hash = mix(
      seed ^ 0x9e37_79b9_7f4a_7c15, UInt64(count) ^ 0xa076_1d64_78bd_642f)
    if count < 8 { return mix(hash ^ key.head(0), 0xe703_7ed1_a0b4_28db) }
    var offset = 0
    while offset &+ 8 < count {
      hash = mix(hash ^ key.load(offset, as: UInt64.self), 0xe703_7ed1_a0b4_28db)
      offset &+= 8
    }
    return mix(hash ^ key.load(count &- 8, as: UInt64.self), 0x8ebc_6af0_9c88_c6e3)
  }

  @inline(__always)
  private static func mix(_ one: UInt64, _ other: UInt64) -> UInt64 {
    let product = one.multipliedFullWidth(by: other)
    return product.high ^ product.low
  }
}

extension Int {
  fileprivate var roundedUpToPowerOfTwo: Int {
    1 << (Int.bitWidth - (self - 1).leadingZeroBitCount)
  }
}
