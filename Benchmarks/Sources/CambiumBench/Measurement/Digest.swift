/// The digest of an engine's answers, in 16 bytes: equal answers in equal order have equal digests.
///
/// Each engine feeds its answers to it, so each touches the first and the last bytes of every key
/// and value it returns and pays the same for that, about a nanosecond.
struct Digest: Equatable, Sendable {
  private var bits: UInt64 = 0
  private(set) var count = 0

  init() {}

  /// Adds a byte string of at least eight bytes.
  @inline(__always)
  mutating func add(_ bytes: RawSpan) {
    let first = unsafe bytes.unsafeLoadUnaligned(as: UInt64.self)
    let last = unsafe bytes.unsafeLoadUnaligned(
      fromByteOffset: bytes.byteCount - 8, as: UInt64.self)
    mix(first, last, bytes.byteCount)
  }

  /// Adds an entry.
  @inline(__always)
  mutating func add(_ key: RawSpan, _ value: RawSpan) {
    add(key)
    add(value)
  }

  /// Adds a key that the engine has as a number, like its eight bytes in big-endian order.
  @inline(__always)
  mutating func add(integer key: UInt64) {
    mix(key.bigEndian, key.bigEndian, 8)
  }

  /// Adds that a key is not there.
  @inline(__always)
  mutating func addMiss() {
    mix(1, 0, 0)
  }

  @inline(__always)
  private mutating func mix(_ first: UInt64, _ last: UInt64, _ length: Int) {
    bits = (bits &<< 5 | bits &>> 59) &+ first &+ (last &<< 32 | last &>> 32)
    bits &+= UInt64(truncatingIfNeeded: length)
    count += 1
  }
}
