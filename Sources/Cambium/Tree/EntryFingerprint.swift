/// The number of entries and 128 bits that tell them from others, whatever order they come in.
///
/// Each entry is hashed by itself, and the hashes are added up: so parts of a tree can be looked at one by one.
/// It is made to find what was lost or changed by mistake, not what somebody changed to deceive.
struct EntryFingerprint: Hashable, Sendable {
  private(set) var count = 0
  private var low: UInt64 = 0
  private var high: UInt64 = 0

  /// Adds an entry.
  @inline(__always)
  mutating func add(_ entry: EntryHash) {
    let bits = entry.bits
    count &+= 1
    low &+= bits.low
    high &+= bits.high
  }
}

/// The hash of an entry: of its key, its value and its version.
///
/// Sixteen bytes at a time are multiplied in two ways, in the manner of wyhash.
struct EntryHash: Hashable, Sendable {
  private var one: UInt64
  private var two: UInt64

  init(schemaVersion: UInt32) {
    one = 0x9e37_79b9_7f4a_7c15 ^ UInt64(schemaVersion)
    two = 0xc2b2_ae3d_27d4_eb4f &+ UInt64(schemaVersion)
  }

  fileprivate var bits: (low: UInt64, high: UInt64) {
    var ended = self
    ended.mix(one, two)
    return (ended.one, ended.two)
  }

  /// Goes on with bytes, and with how many there are.
  @inline(__always)
  mutating func append(_ bytes: RawSpan) {
    let count = bytes.byteCount
    var offset = 0
    while offset &+ 16 <= count {
      mix(bytes.load(offset, as: UInt64.self), bytes.load(offset &+ 8, as: UInt64.self))
      offset &+= 16
    }
    mix(Self.rest(bytes, from: offset), UInt64(count))
  }

  @inline(__always)
  private mutating func mix(_ first: UInt64, _ second: UInt64) {
    let low = (one ^ first).multipliedFullWidth(by: second ^ 0xa076_1d64_78bd_642f)
    let high = (two ^ second).multipliedFullWidth(by: first ^ 0xe703_7ed1_a0b4_28db)
    one = low.high ^ low.low &+ second
    two = high.high ^ high.low &+ first
  }

  /// Up to fifteen bytes, mixed into a word.
  @inline(__always)
  private static func rest(_ bytes: RawSpan, from offset: Int) -> UInt64 {
    let count = bytes.byteCount &- offset
    if count == 0 { return 0 }
    if count < 8 { return bytes.head(offset) }
    let first = bytes.load(offset, as: UInt64.self)
    return first &* 0x9fb2_1c65_1e98_df25 ^ bytes.load(offset &+ count &- 8, as: UInt64.self)
  }
}
