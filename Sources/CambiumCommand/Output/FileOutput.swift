import Cambium
import Glibc

/// Why output could not be written.
struct OutputFailure: Error {
  let message: String
}

/// A file that is written to, buffered.
final class FileOutput {
  private let descriptor: Int32
  private let name: String
  private var buffer: [UInt8] = []
  private static let bufferSize = 1 << 16

  init(descriptor: Int32, name: String) {
    self.descriptor = descriptor
    self.name = name
    buffer.reserveCapacity(Self.bufferSize + 4096)
  }

  /// Makes a file.
  ///
  /// - Parameter overwriting: Whether one that is there is replaced; otherwise it is refused.
  convenience init(creating path: String, overwriting: Bool) throws {
    let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (overwriting ? O_TRUNC : O_EXCL)
    let descriptor = unsafe open(path, flags, 0o644)
    guard descriptor >= 0 else {
      if errno == EEXIST {
        throw CommandFailure(.refused, "\(path) is there already. Say --force to overwrite it.")
      }
      throw OutputFailure(message: "\(path) cannot be made: \(Self.reason).")
    }
    self.init(descriptor: descriptor, name: path)
  }

  func write(_ text: String) throws {
    buffer.append(contentsOf: text.utf8)
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

  /// Forces what was written to the medium, and ends.
  func close() throws {
    try flush()
    if descriptor > 2 {
      guard fsync(descriptor) == 0 || errno == EINVAL || errno == EROFS else {
        throw OutputFailure(message: "\(name) cannot be flushed: \(Self.reason).")
      }
      _ = Glibc.close(descriptor)
    }
  }

  private static var reason: Errno { Errno(rawValue: errno) }
}
