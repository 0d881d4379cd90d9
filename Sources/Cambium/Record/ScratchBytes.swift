#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Memory in which a row or a key is put together: it grows, and is used again for the next.
///
/// After the reserved bytes there is always space for another word, so that short runs can be stored as
/// whole words.
@safe struct ScratchBytes: ~Copyable {
  private var memory: UnsafeMutableRawPointer
  private var capacity: Int

  init(capacity: Int = 512) {
    self.capacity = capacity
    unsafe memory = .allocate(byteCount: capacity + 8, alignment: 8)
  }

  deinit {
    unsafe memory.deallocate()
  }

  /// Makes room for `count` bytes, of which the first `kept` stay as they are.
  @inline(__always)
  mutating func reserve(_ count: Int, keeping kept: Int) {
    if count > capacity { grow(to: count, keeping: kept) }
  }

  @inline(never)
  private mutating func grow(to count: Int, keeping kept: Int) {
    precondition(kept <= capacity, "nothing is kept that was not reserved")
    let size = max(count, 2 * capacity)
    let grown = UnsafeMutableRawPointer.allocate(byteCount: size + 8, alignment: 8)
    unsafe memcpy(grown, memory, kept)
    unsafe memory.deallocate()
    unsafe memory = grown
    capacity = size
  }

  /// Gives memory back that something unusually long has needed. No byte is kept.
  mutating func trim() {
    if capacity > 1 << 16 { self = ScratchBytes() }
  }

  /// The first `count` bytes.
  @_lifetime(borrow self)
  @inline(__always)
  func bytes(_ count: Int) -> RawSpan {
    precondition(count <= capacity, "nothing is there that was not reserved")
    let span = unsafe RawSpan(_unsafeStart: UnsafeRawPointer(memory), byteCount: count)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// The reserved bytes and another word, to be written to; use it before anything else is done with
  /// the memory.
  @unsafe @_lifetime(borrow self)
  @inline(__always)
  func mutableBytes() -> MutableRawSpan {
    let span = unsafe MutableRawSpan(_unsafeStart: memory, byteCount: capacity &+ 8)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// Sets the first `count` bytes to zero, which are reserved.
  @inline(__always)
  mutating func zero(_ count: Int) {
    var span = unsafe mutableBytes()
    var offset = 0
    while offset < count {
      span.store(UInt64(0), at: offset)
      offset &+= 8
    }
  }

  /// Moves `count` bytes from one offset to a higher one; both runs are reserved.
  mutating func move(_ count: Int, from source: Int, to target: Int) {
    precondition(source >= 0 && count >= 0 && source <= target && target + count <= capacity)
    unsafe memmove(memory + target, memory + source, count)
  }
}
