import Glibc

/// A directory with a file for each blob, as it is.
final class FilesBlobEngine: BlobEngine {
  static let promise = "survives a power cut (fsync of each file, then of the directory)"

  private let directory: String
  private var buffer = [UInt8](repeating: 0, count: 1 << 20)

  init(directory: String) {
    self.directory = directory
  }

  func open() {}
  func close() {}
  func settle() {}

  func write(_ contents: ArraySlice<[UInt8]>, from first: Int) throws {
    for (index, content) in contents.enumerated() {
      let file = try opened(path(of: first + index), O_WRONLY | O_CREAT | O_EXCL)
      defer { Glibc.close(file) }
      let count = unsafe Glibc.write(file, content, content.count)
      try check(count == content.count, "write")
      try check(fsync(file) == 0, "fsync")
    }
    let folder = try opened(directory, O_RDONLY | O_DIRECTORY)
    defer { Glibc.close(folder) }
    try check(fsync(folder) == 0, "fsync")
  }

  func read(_ number: Int, _ body: (RawSpan) throws -> Void) throws {
    let file = try opened(path(of: number), O_RDONLY)
    defer { Glibc.close(file) }
    var status = stat()
    try check(unsafe fstat(file, &status) == 0, "fstat")
    if buffer.count < status.st_size { buffer = [UInt8](repeating: 0, count: status.st_size) }
    let count = unsafe Glibc.read(file, &buffer, status.st_size)
    try check(count == status.st_size, "read")
    let lent = buffer
    try unsafe body(lent.span.bytes.extracting(first: count))
  }

  private func path(of number: Int) -> String { "\(directory)/\(number)" }

  private func opened(_ path: String, _ flags: Int32) throws -> Int32 {
    let descriptor = unsafe Glibc.open(path, flags | O_CLOEXEC, 0o644)
    try check(descriptor >= 0, "open")
    return descriptor
  }

  private func check(_ succeeded: Bool, _ call: String) throws {
    guard succeeded else {
      throw BlobEngineError(engine: "files", message: "\(call): errno \(errno)")
    }
  }
}
