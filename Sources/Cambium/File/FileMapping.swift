/// A file's bytes in memory, read-only, at an address that does not move.
///
/// The bytes stay as long as a reference to the mapping does, even after the file is unlinked.
@safe package final class FileMapping: @unchecked Sendable {
  private let base: UnsafeRawPointer
  package let capacity: Int
  private let release: @Sendable (UnsafeRawPointer, Int) -> Void

  /// Takes over `capacity` bytes at `base`; `release` gives them back.
  package init(
    base: UnsafeRawPointer, capacity: Int,
    release: @escaping @Sendable (UnsafeRawPointer, Int) -> Void
  ) {
    unsafe self.base = base
    self.capacity = capacity
    unsafe self.release = release
  }

  deinit {
    unsafe release(base, capacity)
  }

  /// The bytes in `range`, for as long as the mapping is held.
  ///
  /// Reading bytes that the file does not have ends the process (`SIGBUS`): callers stay within
  /// the bytes that they know to be written.
  @_lifetime(borrow self)
  package func bytes(_ range: Range<Int>) -> RawSpan {
    precondition(range.lowerBound >= 0 && range.upperBound <= capacity, "outside the mapping")
    let span = unsafe RawSpan(
      _unsafeStart: base + range.lowerBound, byteCount: range.upperBound - range.lowerBound)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// Where the byte at `offset` is. The mapping must be held as long as the pointer is used.
  @inline(__always)
  func pointer(at offset: Int) -> UnsafeRawPointer {
    unsafe base + offset
  }
}
