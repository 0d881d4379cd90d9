#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif
#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Memory for content on its way, at an address that does not move.
///
/// Several threads may fill parts of it that do not overlap; no thread reads a part that is still being filled. That
/// is up to its owners: nothing here keeps them apart.
@safe final class BlobMemory: @unchecked Sendable {
  private let base: UnsafeMutableRawPointer
  let count: Int

  /// Allocates `count` bytes with anything in them, aligned to a block.
  ///
  /// - Throws: `.io` if there is not as much memory.
  init(count: Int) throws(StoreError) {
    let (size, overflows) = max(count, 1).addingReportingOverflow(Layout.blockSize - 1)
    guard count >= 0, !overflows,
      let base = unsafe aligned_alloc(Layout.blockSize, size / Layout.blockSize * Layout.blockSize)
    else {
      throw .failed("allocate \(count) bytes", .outOfMemory, path: "memory")
    }
    unsafe self.base = base
    self.count = count
  }

  deinit {
    unsafe free(base)
  }

  /// The bytes in `range`.
  @_lifetime(borrow self)
  func bytes(_ range: Range<Int>) -> RawSpan {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "outside the memory")
    let span = unsafe RawSpan(
      _unsafeStart: UnsafeRawPointer(base + range.lowerBound), byteCount: range.count)
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// The bytes in `range`, to be written to.
  @_lifetime(borrow self)
  func mutableBytes(_ range: Range<Int>) -> MutableRawSpan {
    precondition(range.lowerBound >= 0 && range.upperBound <= count, "outside the memory")
    let span = unsafe MutableRawSpan(
      _unsafeBytes: UnsafeMutableRawBufferPointer(
        start: base + range.lowerBound, count: range.count))
    return unsafe _overrideLifetime(span, borrowing: self)
  }

  /// Where the byte at `offset` is. The memory must be held as long as the pointer is used.
  func pointer(at offset: Int) -> UnsafeRawPointer {
    precondition(offset >= 0 && offset <= count, "outside the memory")
    return unsafe UnsafeRawPointer(base + offset)
  }

  /// All of it, without a copy. The memory is no longer written to.
  func data() -> Data {
    if count == 0 { return Data() }
    return unsafe Data(
      bytesNoCopy: base, count: count,
      deallocator: .custom { _, _ in withExtendedLifetime(self) {} })
  }
}
