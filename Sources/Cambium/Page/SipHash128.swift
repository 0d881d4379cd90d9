/// A SipHash-2-4 of 128 bits: it is the hash of fingerprints, and stands for the rest of a key that is cut.
///
/// J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast short-input PRF" (2012), in the form with two
/// words of output of its reference implementation.
package struct SipHash128: Hashable, Sendable {
  /// The first eight bytes of the hash, lowest first.
  package let low: UInt64
  /// The last eight bytes of the hash, lowest first.
  package let high: UInt64

  /// The hash of `bytes`.
  ///
  /// - Complexity: O(count), about a byte a nanosecond.
  init(of bytes: RawSpan, key: Key = .format) {
    var state = State(key)
    let words = bytes.byteCount / 8
    for word in 0..<words { state.absorb(bytes.load(word * 8, as: UInt64.self)) }
    var last = UInt64(truncatingIfNeeded: bytes.byteCount) << 56
    for index in words * 8..<bytes.byteCount {
      last |= UInt64(bytes.load(index, as: UInt8.self)) << UInt64(index % 8 * 8)
    }
    state.absorb(last)
    (low, high) = state.finish()
  }

  package init(hashing bytes: [UInt8]) {
    self.init(of: bytes.rawSpan)
  }

  init(low: UInt64, high: UInt64) {
    self.low = low
    self.high = high
  }
}

extension SipHash128 {
  /// The size of a hash in bytes.
  static let size = 16

  struct Key: Equatable, Sendable {
    var low: UInt64
    var high: UInt64

    /// The key of the format's hashes: the bytes of "Cambium format 1".
    static let format = Key(low: 0x206d_7569_626d_6143, high: 0x3120_7461_6d72_6f66)
  }

  /// Hashes bytes that come one after the other.
  struct Stream: Sendable {
    private var state: State
    /// The bytes that do not fill a word yet, lowest first, and how many they are.
    private var word: UInt64 = 0
    private var count = 0
    private var length: UInt64 = 0

    init(key: Key) {
      state = State(key)
    }

    mutating func update(_ bytes: RawSpan) {
      length &+= UInt64(bytes.byteCount)
      var index = 0
      while count > 0, index < bytes.byteCount {
        take(bytes.load(index, as: UInt8.self))
        index += 1
      }
      while index + 8 <= bytes.byteCount {
        state.absorb(bytes.load(index, as: UInt64.self))
        index += 8
      }
      while index < bytes.byteCount {
        take(bytes.load(index, as: UInt8.self))
        index += 1
      }
    }

    private mutating func take(_ byte: UInt8) {
      word |= UInt64(byte) << UInt64(8 * count)
      count += 1
      guard count == 8 else { return }
      state.absorb(word)
      word = 0
      count = 0
    }

    /// The hash of all that came.
    func finish() -> SipHash128 {
      var state = state
      state.absorb(word | length << 56)
      let (low, high) = state.finish()
      return SipHash128(low: low, high: high)
    }
  }

  private struct State: Sendable {
    private var v0, v1, v2, v3: UInt64

    init(_ key: Key) {
      v0 = key.low ^ 0x736f_6d65_7073_6575
      v1 = key.high ^ 0x646f_7261_6e64_6f6d ^ 0xee
      v2 = key.low ^ 0x6c79_6765_6e65_7261
      v3 = key.high ^ 0x7465_6462_7974_6573
    }

    @inline(__always)
    mutating func absorb(_ word: UInt64) {
      v3 ^= word
      round()
      round()
      v0 ^= word
    }

    mutating func finish() -> (UInt64, UInt64) {
      v2 ^= 0xee
      let low = squeeze()
      v1 ^= 0xdd
      return (low, squeeze())
    }

    private mutating func squeeze() -> UInt64 {
      for _ in 0..<4 { round() }
      return v0 ^ v1 ^ v2 ^ v3
    }

    @inline(__always)
    private mutating func round() {
      v0 &+= v1
      v1 = v1.rotated(by: 13) ^ v0
      v0 = v0.rotated(by: 32)
      v2 &+= v3
      v3 = v3.rotated(by: 16) ^ v2
      v0 &+= v3
      v3 = v3.rotated(by: 21) ^ v0
      v2 &+= v1
      v1 = v1.rotated(by: 17) ^ v2
      v2 = v2.rotated(by: 32)
    }
  }
}

extension UInt64 {
  /// Its bits, moved up by `count`; those that leave at the top come back at the bottom.
  @inline(__always)
  fileprivate func rotated(by count: UInt64) -> UInt64 { self &<< count | self &>> (64 - count) }
}

extension SipHash128: CustomStringConvertible {
  /// Reads a hash that is written as its description is; nil if `text` is none.
  init?(hexadecimal text: String) {
    let digits = Array(text.utf8)
    guard digits.count == 32,
      digits.allSatisfy({
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0
          || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
      }),
      let low = UInt64(text.prefix(16), radix: 16), let high = UInt64(text.suffix(16), radix: 16)
    else { return nil }
    self.init(low: low.byteSwapped, high: high.byteSwapped)
  }

  /// 32 hexadecimal digits, in the order of the bytes.
  package var description: String {
    [low, high].map { word in
      let digits = String(word.byteSwapped, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

extension [UInt8] {
  /// Appends the 16 bytes of a hash.
  mutating func append(_ hash: SipHash128) {
    append(integer: hash.low)
    append(integer: hash.high)
  }
}
