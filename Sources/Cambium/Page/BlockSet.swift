internal import Synchronization

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
    unsafe words = .allocate(capacity: wordCount)
    for index in 0..<wordCount { unsafe (words + index).initialize(to: Atomic(0)) }
  }

  deinit {
    unsafe words.deinitialize(count: wordCount)
    unsafe words.deallocate()
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
