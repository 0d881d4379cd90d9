import Glibc

/// The least that a durable commit can take: one block of 4 KiB, which was written and flushed before, written
/// again and flushed (`pwrite`, `fdatasync`), block after block.
enum RawFlush {
  private static let blockSize = 4096
  private static let blockCount = 4096

  /// The time of each of `count` flushes, in nanoseconds and ascending.
  static func measure(_ count: Int, in directory: String) throws -> [Int] {
    let descriptor = unsafe open("\(directory)/flushed", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    var block = [UInt8](repeating: 0x5a, count: blockSize)
    for index in 0..<blockCount { try write(block, index, to: descriptor) }
    guard fsync(descriptor) == 0 else { throw RawFlushError(errno: errno) }
    let times = try (0..<count).map { index in
      block[0] = UInt8(truncatingIfNeeded: index)
      let start = ContinuousClock.now
      try write(block, index % blockCount, to: descriptor)
      guard fdatasync(descriptor) == 0 else { throw RawFlushError(errno: errno) }
      return (ContinuousClock.now - start).nanoseconds
    }
    return times.sorted()
  }

  private static func write(_ block: [UInt8], _ index: Int, to descriptor: Int32) throws {
    guard unsafe pwrite(descriptor, block, blockSize, index * blockSize) == blockSize else {
      throw RawFlushError(errno: errno)
    }
  }
}

struct RawFlushError: Error {
  let errno: Int32
}

extension Duration {
  var nanoseconds: Int { Int(self / .nanoseconds(1)) }
}
