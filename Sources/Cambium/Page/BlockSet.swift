internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// A set of blocks of one segment that any number of threads may read and add to.
///
/// Readers keep in it which pages this process has verified, by their first block. Verifying twice does
/// no harm, so the bits need no lock: a bit is set after the page was checked, and read by code that
/// trusts the check.
@safe final class BlockSet: @unchecked Sendable {
  private let words: UnsafeMutablePointer<Atomic<UInt64>>
  private let wordCount: Int

  init(blocks: Int) {
    wordCount = (blocks + 63) / 64
    // Zeros from the system: a segment takes no memory for the parts of it that nothing reads.
    guard let zeros = unsafe calloc(max(1, wordCount), MemoryLayout<Atomic<UInt64>>.stride) else {
      preconditionFailure("there is no memory for the bits of \(blocks) blocks")
    }
    unsafe words = zeros.assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  deinit {
    unsafe free(words)
  }

  /// Adds all blocks of `other` that this set has bits for.
  func formUnion(_ other: BlockSet) {
    for word in 0..<min(wordCount, other.wordCount) {
      let bits = unsafe other.words[word].load(ordering: .acquiring)
      if bits != 0 { unsafe words[word].bitwiseOr(bits, ordering: .releasing) }
    }
  }

  @inline(__always)
  func contains(_ block: UInt32) -> Bool {
    let word = Int(block >> 6)
    guard word < wordCount else { return false }
    return unsafe words[word].load(ordering: .acquiring) & (1 << UInt64(block & 63)) != 0
  }

  func insert(_ block: UInt32) {
    let word = Int(block >> 6)
    guard word < wordCount else { return }
    unsafe words[word].bitwiseOr(1 << UInt64(block & 63), ordering: .releasing)
  }
}
