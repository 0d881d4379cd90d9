#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// Zeroed memory of the process at an address that does not move, which takes up room only where it
/// has been written.
///
/// It stands for a file's bytes where there is no file. Its owners keep readers away from
/// bytes that are being written; nothing here does.
@safe package final class AnonymousMemory: @unchecked Sendable {
  private let base: UnsafeMutableRawPointer
  package let capacity: Int

  /// Reserves `capacity` bytes of addresses, or says why there are none.
  package static func reserve(capacity: Int) -> Result<AnonymousMemory, SystemErrorCode> {
    unsafe Syscall.mapAnonymous(capacity: capacity).map {
      unsafe AnonymousMemory(base: $0, capacity: capacity)
    }
  }

  private init(base: UnsafeMutableRawPointer, capacity: Int) {
    unsafe self.base = base
    self.capacity = capacity
  }

  deinit {
    unsafe Syscall.unmap(base, capacity: capacity)
  }

  /// A view of the first `capacity` bytes for readers, at the same address; it keeps the memory.
  package func mapping(capacity: Int) -> FileMapping {
    precondition(capacity <= self.capacity, "outside the memory")
    return unsafe FileMapping(base: UnsafeRawPointer(base), capacity: capacity) { _, _ in
      withExtendedLifetime(self) {}
    }
  }

  package func read(into buffer: inout MutableRawSpan, count: Int, from offset: Int) {
    precondition(offset >= 0 && count >= 0 && count <= capacity - offset, "outside the memory")
    unsafe buffer.withUnsafeMutableBytes { buffer in
      unsafe buffer.copyMemory(from: UnsafeRawBufferPointer(start: base + offset, count: count))
    }
  }

  package func write(_ bytes: RawSpan, from offset: Int) {
    precondition(offset >= 0 && bytes.byteCount <= capacity - offset, "outside the memory")
    unsafe bytes.withUnsafeBytes { bytes in
      unsafe UnsafeMutableRawBufferPointer(start: base + offset, count: bytes.count)
        .copyMemory(from: bytes)
    }
  }

  /// Makes the bytes in `range` zeros, and releases the space that they took.
  package func clear(_ range: Range<Int>) {
    precondition(range.lowerBound >= 0 && range.upperBound <= capacity, "outside the memory")
    let page = 4096
    let firstWhole = min((range.lowerBound + page - 1) / page * page, range.upperBound)
    unsafe memset(base + range.lowerBound, 0, firstWhole - range.lowerBound)
    let rest = range.upperBound - firstWhole
    if rest == 0 { return }
    if case .failure = unsafe Syscall.discard(base + firstWhole, count: rest) {
      unsafe memset(base + firstWhole, 0, rest)
    }
  }
}
