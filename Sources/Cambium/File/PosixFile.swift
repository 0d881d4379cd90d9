internal import Synchronization

#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// An open file of the operating system. `site` is ignored throughout.
package final class PosixFile: File {
  let descriptor: Syscall.Descriptor
  /// For messages; a rename does not change it.
  let path: String
  /// True if opened for direct writes. The kernel knows whether they still are.
  let isDirect: Bool
  /// Nil if it is in no store's directory.
  private let fileSystem: PosixFileSystem?
  private let forks = ForkGuard()
  private let hasLock = Atomic(false)

  /// Takes over the descriptor.
  init(
    _ descriptor: Syscall.Descriptor, path: String, isDirect: Bool = false,
    in fileSystem: PosixFileSystem? = nil
  ) {
    self.descriptor = descriptor
    self.path = path
    self.isDirect = isDirect
    self.fileSystem = fileSystem
  }

  /// Remembers that a lock was taken.
  func noteLock() {
    hasLock.store(true, ordering: .relaxed)
  }

  /// Closing gives a lock back only with the last descriptor of the description, and a forked child has
  /// one too. So the parent gives it back in so many words, and a child never.
  deinit {
    if hasLock.load(ordering: .relaxed), !forks.isForked {
      Syscall.unlock(descriptor)
      Syscall.unlockDirectory(descriptor)
    }
    Syscall.close(descriptor)
  }
}

// MARK: - Bytes

extension PosixFile {
  package func size(at site: Site) throws(StoreError) -> Int {
    Int(try Syscall.status(descriptor).get("size", path: path).st_size)
  }

  package func read(
    into buffer: inout MutableRawSpan, from offset: Int, at site: Site
  ) throws(StoreError) -> Int {
    let result = unsafe buffer.withUnsafeMutableBytes { bytes in
      transferAll(bytes.count) { done in
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
        return bufferedIfRefused {
          unsafe Syscall.read(descriptor, into: rest, from: offset + done)
        }
      }
    }
    return try result.get("read", path: path)
  }

  package func write(
    _ bytes: RawSpan, from offset: Int, at site: Site
  ) throws(StoreError) {
    fileSystem?.noteWriting(bytes.byteCount)
    let result = unsafe bytes.withUnsafeBytes { bytes in
      transferWhole(bytes.count) { done in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
        return bufferedIfRefused {
          unsafe Syscall.write(rest, to: descriptor, from: offset + done)
        }
      }
    }
    try result.get("write", path: path)
  }

  package func sync(at site: Site) throws(StoreError) {
    try Syscall.syncBytes(descriptor).get("sync", path: path)
  }

  package func truncate(to size: Int, at site: Site) throws(StoreError) {
    try Syscall.truncate(descriptor, to: size).get("truncate", path: path)
  }

  package func allocate(_ size: Int, at site: Site) throws(StoreError) {
    try Syscall.allocate(descriptor, size).get("allocate", path: path)
  }

  /// The least that a device's readahead commonly is.
  private static var readAhead: Int { 128 << 10 }

  package func willNeed(_ range: Range<Int>, at site: Site) {
    // Linux reads no more for one call than the device's readahead, whatever the range.
    for start in stride(from: range.lowerBound, to: range.upperBound, by: Self.readAhead) {
      Syscall.willNeed(descriptor, start..<min(start + Self.readAhead, range.upperBound))
    }
  }
}

extension PosixFile {
  /// Makes the call again through the page cache if it was refused on a file opened for direct output.
  ///
  /// Some media say only then that they cannot, or ask for a larger alignment than 4096; and the rest
  /// after a short write begins wherever it ended.
  fileprivate func bufferedIfRefused(_ call: () -> Result<Int, SystemErrorCode>) -> Result<
    Int, SystemErrorCode
  > {
    let result = call()
    guard isDirect, case .failure(.invalidArgument) = result else { return result }
    return Syscall.setDirect(descriptor, false).flatMap(call)
  }
}

// MARK: - Lock and map

extension PosixFile {
  package func lock(at site: Site) throws(StoreError) {
    let result = Syscall.lock(descriptor)
    switch result {
    case .failure(.wouldBlock), .failure(.permissionDenied):
      throw .locked(path: path, holder: Syscall.lockHolder(descriptor))
    default: try result.get("lock", path: path)
    }
    noteLock()
  }

  package func isLocked(at site: Site) throws(StoreError) -> Bool {
    // If this file has it, no other has; and there are systems that can only ask by taking it.
    if hasLock.load(ordering: .relaxed) { return false }
    return try Syscall.isLocked(descriptor).get("look for a lock", path: path)
  }

  package func isNamed(
    _ name: FileName, at site: Site
  ) throws(StoreError) -> Bool {
    guard let fileSystem else { return false }
    let named = try Syscall.status(name.description, in: fileSystem.directory)
      .get("compare", path: fileSystem.path(of: name))
    let open = try Syscall.status(descriptor).get("compare", path: path)
    guard let named else { return false }
    return named.st_ino == open.st_ino && named.st_dev == open.st_dev
  }

  package func map(
    capacity: Int, at site: Site
  ) throws(StoreError) -> FileMapping {
    let base = try unsafe Syscall.map(descriptor, capacity: capacity)
      .get("map", path: path)
    return unsafe FileMapping(base: UnsafeRawPointer(base), capacity: capacity) { base, capacity in
      unsafe Syscall.unmap(UnsafeMutableRawPointer(mutating: base), capacity: capacity)
    }
  }
}
