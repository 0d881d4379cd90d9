import Cambium

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Why output could not be written.
struct OutputFailure: Error {
  let message: String
}

/// A file that is written to, buffered. A new file is made in a work directory, gets its name when it is closed, and leaves
/// nothing if it never is.
final class FileOutput {
  private let descriptor: Int32
  private let name: String
  /// Where a new file is written until it is whole; nil if `descriptor` was given, or is a device or a pipe.
  private let work: WorkDirectory?
  private let isOverwriting: Bool
  private var buffer: [UInt8] = []
  private static let bufferSize = 1 << 16

  init(
    descriptor: Int32, name: String, in work: WorkDirectory? = nil, overwriting: Bool = false
  ) {
    self.descriptor = descriptor
    self.name = name
    self.work = work
    isOverwriting = overwriting
    buffer.reserveCapacity(Self.bufferSize + 4096)
  }

  deinit {
    if descriptor > 2 { systemClose(descriptor) }
  }

  /// Creates a file that those may read who may read the store. Devices and pipes are written to as they are.
  ///
  /// - Parameters:
  ///   - store: The store whose content is written.
  ///   - overwriting: True if a file of that name is replaced; otherwise it is refused, now and when it is closed.
  static func create(_ path: String, of store: String, overwriting: Bool) throws -> FileOutput {
    if !overwriting, NewName.isTaken(path) { throw NewName.taken(path) }
    if let stream = try NewName.openStream(path) {
      return FileOutput(descriptor: stream, name: path)
    }
    try WorkDirectory.checkIsOutsideStores(path)
    let work = try WorkDirectory(beside: path)
    let descriptor = try work.makeFile(like: DirectoryAccess(at: store))
    return FileOutput(descriptor: descriptor, name: path, in: work, overwriting: overwriting)
  }

  func write(_ text: String) throws {
    buffer.append(contentsOf: text.utf8)
    if buffer.count >= Self.bufferSize { try flush() }
  }

  func write(_ bytes: [UInt8]) throws {
    buffer += bytes
    if buffer.count >= Self.bufferSize { try flush() }
  }

  func flush() throws {
    var start = 0
    defer { buffer.removeAll(keepingCapacity: true) }
    while start < buffer.count {
      let count = unsafe buffer.withUnsafeBytes { bytes in
        unsafe systemWrite(
          descriptor, bytes.baseAddress.map { unsafe $0 + start }, bytes.count - start)
      }
      if count < 0 {
        if errno == EINTR { continue }
        throw OutputFailure(message: "\(name) cannot be written: \(Self.reason).")
      }
      start += count
    }
  }

  /// Forces the file to the disk, and gives a new file its name.
  func close() throws {
    try flush()
    guard descriptor > 2 else { return }
    guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else {
      throw OutputFailure(message: "\(name) cannot be flushed: \(Self.reason).")
    }
    do throws(StoreError) {
      try work?.finish(replacing: isOverwriting)
    } catch {
      guard case .io(let errno, _, _) = error, errno.rawValue == EEXIST else { throw error }
      throw NewName.taken(name)
    }
  }

  private static var reason: SystemErrorCode { SystemErrorCode(rawValue: errno) }
}

/// The kind of file that a name given for output leads to.
enum NewName {
  /// True if there is anything at `path`, be it a link to nothing.
  static func isTaken(_ path: String) -> Bool {
    unsafe faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0
  }

  static func taken(_ path: String) -> CommandFailure {
    CommandFailure(.refused, "\(path) already exists. Use --force to overwrite it.")
  }

  /// True if two paths lead to the same directory or file, by whatever names and links.
  static func isSame(_ path: String, _ other: String) -> Bool {
    var (status, otherStatus) = (stat(), stat())
    guard unsafe stat(path, &status) == 0, unsafe stat(other, &otherStatus) == 0 else {
      return false
    }
    return status.st_ino == otherStatus.st_ino && status.st_dev == otherStatus.st_dev
  }

  /// Opens a device, a pipe or a socket, which has no content to be replaced; nil if `path` is none.
  static func openStream(_ path: String) throws -> Int32? {
    var status = stat()
    guard unsafe stat(path, &status) == 0, isStream(status) else { return nil }
    let descriptor = unsafe open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY)
    guard descriptor >= 0, unsafe fstat(descriptor, &status) == 0, isStream(status) else {
      if descriptor >= 0 { close(descriptor) }
      throw OutputFailure(
        message: "\(path) cannot be written: \(SystemErrorCode(rawValue: errno)).")
    }
    return descriptor
  }

  private static func isStream(_ status: stat) -> Bool {
    ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
  }
}
