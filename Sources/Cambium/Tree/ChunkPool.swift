/// Chunks of memory that entries lay in before, to be used again.
///
/// Given back to the allocator and taken anew they would not lie where they were: small objects come in
/// between, and a load of five million entries took four times the memory that it used.
///
/// It has one owner, which uses it on one thread at a time.
@safe final class ChunkPool {
  static let chunkSize = 8 << 20

  private let keptMax: Int
  // One owner uses it, so accesses cannot overlap.
  @exclusivity(unchecked) private var free: [UnsafeMutableRawPointer] = unsafe []

  /// - Parameter keptMax: How many chunks are kept while nobody uses them.
  init(keepingUpTo keptMax: Int) {
    self.keptMax = keptMax
  }

  deinit {
    for index in unsafe free.indices { unsafe free[index].deallocate() }
  }

  func take() -> UnsafeMutableRawPointer {
    unsafe free.popLast() ?? .allocate(byteCount: Self.chunkSize, alignment: 64)
  }

  func give(_ chunk: UnsafeMutableRawPointer) {
    if unsafe free.count < keptMax {
      unsafe free.append(chunk)
    } else {
      unsafe chunk.deallocate()
    }
  }
}
