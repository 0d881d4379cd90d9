/// Writes out one buffer on a thread of its own while the next one is being filled.
///
/// There is one write under way at most, so pages reach the disk in the order in which they were appended, and
/// memory is two buffers. A failure is thrown by the next call, whichever that is.
///
/// While others wait for the disk, a buffer is written in parts: a commit's flush that came after a MiB took ten
/// times as long as one that did not.
final class WriteBehind: @unchecked Sendable {
  private struct Write {
    let file: any File
    let count: Int
    let offset: Int
  }

  /// The bytes that are written at once while others wait for the disk.
  private static var partSize: Int { 128 << 10 }

  /// True if another caller is waiting for the disk, or will be soon.
  private let isShared: @Sendable () -> Bool
  private let lock = ThreadLock()
  private let changed: ThreadCondition
  // Under the lock:
  /// The bytes to be written from `buffer`, which no other code touches until it is done.
  private var write: Write?
  private var failure: StoreError?
  private var isEnding = false
  private var buffer: AlignedBuffer
  /// Nil if the system gave out no more threads: then there is no thread to wait for.
  private var thread: BackgroundThread?

  /// - Parameter isShared: Is asked for each buffer, on the thread that writes.
  init(bufferSize: Int, isShared: @escaping @Sendable () -> Bool) {
    self.isShared = isShared
    changed = ThreadCondition(lock)
    buffer = AlignedBuffer(count: bufferSize)
  }

  /// Takes a buffer of which the first `count` bytes are to be written, and leaves the one before in its place.
  ///
  /// - Throws: The error of an earlier write.
  func write(
    _ full: inout AlignedBuffer, count: Int, to file: any File, from offset: Int
  ) throws(StoreError) {
    if thread == nil { thread = try BackgroundThread(name: "cambium-write") { self.work() } }
    lock.lock()
    defer { lock.unlock() }
    try waitForWrite()
    swap(&full, &buffer)
    write = Write(file: file, count: count, offset: offset)
    changed.broadcast()
  }

  /// Returns when everything was written.
  ///
  /// - Throws: The error of a write.
  func finish() throws(StoreError) {
    lock.lock()
    defer { lock.unlock() }
    try waitForWrite()
  }

  /// Ends the thread when it has written its bytes, whatever comes of it.
  func end() {
    lock.lock()
    isEnding = true
    changed.broadcast()
    lock.unlock()
    thread?.join()
    thread = nil
  }

  /// With the lock.
  private func waitForWrite() throws(StoreError) {
    while write != nil { changed.wait() }
    if let failure { throw failure }
  }

  private func work() {
    lock.lock()
    defer { lock.unlock() }
    while true {
      while write == nil, !isEnding { changed.wait() }
      guard let next = write else { return }
      lock.unlock()
      let failed = perform(next)
      lock.lock()
      write = nil
      failure = failure ?? failed
      changed.broadcast()
    }
  }

  private func perform(_ write: Write) -> StoreError? {
    let size = isShared() ? Self.partSize : write.count
    do throws(StoreError) {
      for start in stride(from: 0, to: write.count, by: size) {
        let part = start..<min(start + size, write.count)
        try write.file.write(buffer, part, from: write.offset + start)
      }
      return nil
    } catch {
      return error
    }
  }
}

extension File {
  /// Writes a part of a buffer of pages.
  func write(
    _ buffer: borrowing AlignedBuffer, _ part: Range<Int>, from offset: Int
  ) throws(StoreError) {
    try write(
      buffer.bytes.part(part.lowerBound, part.count), from: offset, at: .pageWrite)
  }
}
