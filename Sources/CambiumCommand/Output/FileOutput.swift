import Cambium
import Glibc

/// Why output could not be written.
struct OutputFailure: Error {
  let message: String
}

/// A file that is written to, buffered. A new file gets its name when it is closed, and leaves nothing if it never is.
final class FileOutput {
  private let descriptor: Int32
  private let name: String
  /// Where a new file is written until it is whole; nil if `descriptor` was given, or is a device or a pipe.
  private var temporary: String?
  private var buffer: [UInt8] = []
  private static let bufferSize = 1 << 16

  init(descriptor: Int32, name: String, temporary: String? = nil) {
    self.descriptor = descriptor
    self.name = name
    self.temporary = temporary
    buffer.reserveCapacity(Self.bufferSize + 4096)
  }

  deinit {
    if let temporary { unsafe unlink(temporary) }
    if descriptor > 2 { Glibc.close(descriptor) }
  }

  /// Creates a file. Devices and pipes are written to as they are.
  ///
  /// - Parameter overwriting: Whether a file of that name is replaced; otherwise it is refused.
  convenience init(creating path: String, overwriting: Bool) throws {
    if !overwriting, NewName.isTaken(path) {
      throw CommandFailure(.refused, "\(path) is there already. Say --force to overwrite it.")
    }
    let path = NewName.target(of: path)
    let temporary = NewName.isOfStream(path) ? nil : NewName.temporary(for: path)
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
    let descriptor = unsafe open(temporary ?? path, flags, 0o644)
    guard descriptor >= 0 else {
      throw OutputFailure(message: "\(path) cannot be made: \(Self.reason).")
    }
    self.init(descriptor: descriptor, name: path, temporary: temporary)
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
        unsafe Glibc.write(
          descriptor, bytes.baseAddress.map { unsafe $0 + start }, bytes.count - start)
      }
      if count < 0 {
        if errno == EINTR { continue }
        throw OutputFailure(message: "\(name) cannot be written: \(Self.reason).")
      }
      start += count
    }
  }

  /// Forces what was written to the disk, and gives a new file its name.
  func close() throws {
    try flush()
    guard descriptor > 2 else { return }
    guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else {
      throw OutputFailure(message: "\(name) cannot be flushed: \(Self.reason).")
    }
    guard let temporary else { return }
    try NewName.move(temporary, to: name)
    self.temporary = nil
    try NewName.syncDirectory(of: name)
  }

  private static var reason: SystemErrorCode { SystemErrorCode(rawValue: errno) }
}

/// The names of files and directories that are made beside their place, and renamed when they are whole.
enum NewName {
  static func temporary(for path: String) -> String { path + ".new-\(getpid())" }

  /// Whether there is anything at `path`, be it a link to nothing.
  static func isTaken(_ path: String) -> Bool {
    unsafe faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) == 0
  }

  /// Whether `path` is a device, a pipe or a socket, which has no content to be replaced.
  static func isOfStream(_ path: String) -> Bool {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return false }
    return ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT)
  }

  /// The file that a link leads to; other paths as they are.
  static func target(of path: String) -> String {
    guard let resolved = unsafe realpath(path, nil) else { return path }
    defer { unsafe free(resolved) }
    return unsafe String(cString: resolved)
  }

  /// Renames what is at `path`, in place of what is at `other`.
  static func move(_ path: String, to other: String) throws {
    guard unsafe rename(path, other) == 0 else {
      throw OutputFailure(
        message: "\(path) cannot be renamed: \(SystemErrorCode(rawValue: errno)).")
    }
  }

  /// Makes the name of what is at `path` survive a power cut.
  static func syncDirectory(of path: String) throws {
    let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    let descriptor = unsafe open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 || errno == EINVAL else {
      throw OutputFailure(
        message: "\(parent) cannot be flushed: \(SystemErrorCode(rawValue: errno)).")
    }
  }
}
