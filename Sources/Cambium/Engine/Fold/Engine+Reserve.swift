// The reserve gives a fold of removals, or a slice, that found the disk full a second attempt.

extension Engine {
  /// Takes space for the next time that the disk is full, if there is some. Not with the lock.
  ///
  /// - Complexity: O(segments), and two or three system calls if the reserve is not held.
  func holdReserve(for file: PageFile) {
    reserve.hold(for: file.publishedSize)
  }

  /// Whether what is to be folded removes more entries than it adds. Not with the lock.
  var isFoldShrinking: Bool {
    lock.lock()
    defer { lock.unlock() }
    return working.frozen?.overlay.isShrinking ?? false
  }

  /// Releases the reserve after `error`, if that was for want of space and what was written has been given back;
  /// takes it again if it was released before. Not with the lock.
  ///
  /// - Returns: whether to try once more.
  func releaseReserve(after error: StoreError) -> Bool {
    guard case .full = error else { return false }
    if reserve.release() { return true }
    reserve.hold()
    return false
  }
}

extension PageFile {
  /// The bytes of the segments up to their published ends.
  ///
  /// - Complexity: O(segments).
  var publishedSize: Int {
    pages.segments.entries.reduce(0) { $0 + Int($1.endBlock) } * Layout.blockSize
  }
}
