import Glibc

/// One new file, written from front to back and flushed: the limit of the disk.
enum SequentialFile {
  enum Way {
    /// Past the page cache, a MiB at a time.
    case direct
    case buffered
  }

  #if arch(x86_64)
    private static let directFlag: Int32 = 0o40000
  #else
    private static let directFlag: Int32 = 0o200000
  #endif

  /// - Parameter mebibytes: How much is written, if not the content once; the content, some whole MiB, again and
  ///   again.
  static func write(
    _ content: [UInt8], to path: String, _ way: Way, mebibytes: Int? = nil
  ) throws {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | (way == .direct ? directFlag : 0)
    let file = unsafe open(path, flags, 0o600)
    guard file >= 0 else { throw error("open") }
    defer { close(file) }
    let size = 1 << 20
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 4096)
    defer { unsafe buffer.deallocate() }
    let total = mebibytes.map { $0 << 20 } ?? content.count
    for position in stride(from: 0, to: total, by: size) {
      let start = position % content.count
      let count = min(size, content.count - start)
      unsafe content.withUnsafeBytes { content in
        unsafe buffer.copyMemory(
          from: UnsafeRawBufferPointer(rebasing: content[start..<start + count]))
      }
      guard unsafe Glibc.write(file, buffer.baseAddress, count) == count else {
        throw error("write")
      }
    }
    guard fdatasync(file) == 0 else { throw error("fdatasync") }
    try syncParent(of: path)
  }

  /// Writes the bytes, through the page cache, and flushes file and directory.
  static func write(
    to path: String, _ body: ((RawSpan) throws -> Void) throws -> Void
  ) throws {
    let file = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard file >= 0 else { throw error("open") }
    defer { close(file) }
    try body { bytes in
      let count = unsafe bytes.withUnsafeBytes { bytes in
        unsafe Glibc.write(file, bytes.baseAddress, bytes.count)
      }
      guard count == bytes.byteCount else { throw error("write") }
    }
    guard fdatasync(file) == 0 else { throw error("fdatasync") }
    try syncParent(of: path)
  }

  /// All of a file.
  static func read(_ path: String) throws -> [UInt8] {
    let file = unsafe open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw error("open") }
    defer { close(file) }
    var status = stat()
    guard unsafe fstat(file, &status) == 0 else { throw error("fstat") }
    return try unsafe [UInt8](unsafeUninitializedCapacity: status.st_size) { buffer, count in
      count = unsafe max(0, Glibc.read(file, buffer.baseAddress, status.st_size))
      guard count == status.st_size else { throw error("read") }
    }
  }

  private static func syncParent(of path: String) throws {
    let parent = path.split(separator: "/", omittingEmptySubsequences: false).dropLast()
      .joined(separator: "/")
    let directory = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard directory >= 0 else { throw error("open") }
    defer { close(directory) }
    guard fsync(directory) == 0 else { throw error("fsync") }
  }

  private static func error(_ call: String) -> BlobEngineError {
    BlobEngineError(engine: "file", message: "\(call): errno \(errno)")
  }
}
