/// The file system that a program's storage is to the engine.
///
/// Counts and sizes that a storage returns are checked here, once.
package final class BackedFileSystem: FileSystem {
  private let backend: any StorageBackend

  package init(_ backend: any StorageBackend) {
    self.backend = backend
  }

  package var path: String { backend.path }

  private func path(of name: FileName) -> String { "\(path)/\(name)" }
}

extension BackedFileSystem {
  package func open(
    _ name: FileName, _ mode: OpenMode, at site: Site
  ) throws(StoreError) -> any File {
    let (backend, path) = (backend, path(of: name))
    if mode.creates {
      let file = try calling("create", path) { try backend.create(name.description) }
      guard let file else { throw .failed("create", .fileExists, path: path) }
      return BackedFile(file, path: path, isWritable: true)
    }
    let file = try calling("open", path) { try backend.open(name.description) }
    guard let file else { throw .missing(path: path) }
    return BackedFile(file, path: path, isWritable: mode != .read)
  }

  package func syncDirectory(at site: Site) throws(StoreError) {
    try calling("sync directory", path) { try backend.syncDirectory() }
  }

  package func rename(_ name: FileName, to newName: FileName, at site: Site) throws(StoreError) {
    do throws(StoreError) {
      try calling("rename", path(of: name)) {
        try backend.rename(name.description, to: newName.description)
      }
    } catch .io(.fileExists, let operation, _) {
      throw .io(.fileExists, operation: operation, path: path(of: newName))
    }
  }

  package func unlink(_ name: FileName, at site: Site) throws(StoreError) {
    try calling("unlink", path(of: name)) { try backend.remove(name.description) }
  }

  package func list(at site: Site) throws(StoreError) -> [FileName] {
    let names = try calling("list", path) { try backend.list() }
    return Array(Set(names.compactMap { FileName($0) }))
  }

  /// The one lock of the storage. That on the file `LOCK` has nothing to add to it.
  package func lockDirectory(at site: Site) throws(StoreError) -> (any File)? {
    guard try calling("lock", path, { try backend.lock() }) else {
      throw .locked(path: path, holder: nil)
    }
    return HeldLock(of: backend)
  }
}

/// Calls a program's storage.
///
/// - Throws: `.full`, `.missing`, `.io`, with the storage's error.
private func calling<Result>(
  _ operation: String, _ path: String, _ body: () throws -> Result
) throws(StoreError) -> Result {
  do { return try body() } catch let error as StoreError {
    throw error
  } catch let error as SystemErrorCode {
    throw .failed(operation, error, path: path)
  } catch {
    throw .io(.ioError, operation: operation, path: "\(path) (\(error))")
  }
}

/// An open file of a program's storage.
private final class BackedFile: File {
  private let file: any StorageFile
  private let path: String
  private let isWritable: Bool

  /// No file of a store comes near it.
  private static var sizeMax: Int { 1 << 44 }

  init(_ file: any StorageFile, path: String, isWritable: Bool) {
    self.file = file
    self.path = path
    self.isWritable = isWritable
  }

  func size(at site: Site) throws(StoreError) -> Int {
    let size = try calling("size", path) { try file.size() }
    guard (0...Self.sizeMax).contains(size) else {
      throw .io(.ioError, operation: "size", path: "\(path) (the storage says \(size))")
    }
    return size
  }

  func read(
    into buffer: inout MutableRawSpan, from offset: Int, at site: Site
  ) throws(StoreError) -> Int {
    try check(offset, "read")
    var done = 0
    while done < buffer.byteCount {
      let left = buffer.byteCount - done
      var count = 0
      do {
        var rest = buffer._mutatingExtracting(done..<buffer.byteCount)
        count = try file.read(into: &rest, from: offset + done)
      } catch { try calling("read", path) { throw error } }
      guard (0...left).contains(count) else {
        throw .io(
          .ioError, operation: "read", path: "\(path) (the storage says \(count) of \(left) bytes)")
      }
      if count == 0 { break }
      done += count
    }
    return done
  }

  func write(_ bytes: RawSpan, from offset: Int, at site: Site) throws(StoreError) {
    try checkWritable("write")
    try check(offset, "write")
    guard bytes.byteCount <= Self.sizeMax - offset else {
      throw .failed("write", .fileTooLarge, path: path)
    }
    if bytes.byteCount == 0 { return }
    do { try file.write(bytes, from: offset) } catch {
      try calling("write", path) { throw error }
    }
  }

  func sync(at site: Site) throws(StoreError) {
    try calling("sync", path) { try file.sync() }
  }

  func truncate(to size: Int, at site: Site) throws(StoreError) {
    try checkWritable("truncate")
    try check(size, "truncate")
    try calling("truncate", path) { try file.truncate(to: size) }
  }

  private func checkWritable(_ operation: String) throws(StoreError) {
    if !isWritable { throw .failed(operation, .badDescriptor, path: path) }
  }

  private func check(_ offset: Int, _ operation: String) throws(StoreError) {
    guard offset >= 0 else { throw .failed(operation, .invalidArgument, path: path) }
    guard offset <= Self.sizeMax else { throw .failed(operation, .fileTooLarge, path: path) }
  }

  // The storage's one lock was taken before.
  func lock(at site: Site) throws(StoreError) { try checkWritable("lock") }
  func isLocked(at site: Site) throws(StoreError) -> Bool { false }
  func isNamed(_ name: FileName, at site: Site) throws(StoreError) -> Bool { true }

  func map(capacity: Int, at site: Site) throws(StoreError) -> FileMapping {
    throw .failed("map", .notSupported, path: path)
  }

  func willNeed(_ range: Range<Int>, at site: Site) {}
}

/// The lock of a program's storage, released with the last reference to this.
private final class HeldLock: File {
  private let backend: any StorageBackend
  private let forks = ForkGuard()

  init(of backend: any StorageBackend) {
    self.backend = backend
  }

  deinit {
    if !forks.isForked { backend.unlock() }
  }

  private var refusal: StoreError { .failed("use", .notSupported, path: backend.path) }

  func size(at site: Site) throws(StoreError) -> Int { throw refusal }
  func read(
    into buffer: inout MutableRawSpan, from offset: Int, at site: Site
  ) throws(StoreError) -> Int { throw refusal }
  func write(_ bytes: RawSpan, from offset: Int, at site: Site) throws(StoreError) {
    throw refusal
  }
  func sync(at site: Site) throws(StoreError) { throw refusal }
  func truncate(to size: Int, at site: Site) throws(StoreError) { throw refusal }
  func lock(at site: Site) throws(StoreError) {}
  func isLocked(at site: Site) throws(StoreError) -> Bool { false }
  func isNamed(_ name: FileName, at site: Site) throws(StoreError) -> Bool { true }
  func map(capacity: Int, at site: Site) throws(StoreError) -> FileMapping { throw refusal }
  func willNeed(_ range: Range<Int>, at site: Site) {}
}
