#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

/// An open file of an `InMemoryFileSystem`.
package final class InMemoryFile: File {
  let content: InMemoryContent
  /// For messages; a rename does not change it.
  let path: String
  let isWritable: Bool
  private let fileSystem: InMemoryFileSystem

  init(
    _ content: InMemoryContent, path: String, isWritable: Bool, in fileSystem: InMemoryFileSystem
  ) {
    self.fileSystem = fileSystem
    self.content = content
    self.path = path
    self.isWritable = isWritable
  }

  deinit {
    content.unlock(from: ObjectIdentifier(self))
  }
}

// MARK: - Bytes

extension InMemoryFile {
  package func size(at site: Site) throws(StoreError) -> Int {
    content.size
  }

  package func read(
    into buffer: inout MutableRawSpan, from offset: Int, at site: Site
  ) throws(StoreError) -> Int {
    guard offset >= 0 else { throw .failed("read", .invalidArgument, path: path) }
    return content.read(into: &buffer, from: offset)
  }

  package func write(
    _ bytes: RawSpan, from offset: Int, at site: Site
  ) throws(StoreError) {
    let (end, overflow) = offset.addingReportingOverflow(bytes.byteCount)
    try check("write", from: offset, to: overflow ? .max : end)
    if bytes.byteCount > 0 { content.write(bytes, from: offset) }
  }

  package func sync(at site: Site) throws(StoreError) {}

  package func truncate(to size: Int, at site: Site) throws(StoreError) {
    try check("truncate", from: size, to: size)
    content.resize(to: size)
  }

  package func willNeed(_ range: Range<Int>, at site: Site) {}
}

extension InMemoryFile {
  /// Refuses arguments that the operating system would refuse.
  fileprivate func check(_ operation: String, from offset: Int, to end: Int) throws(StoreError) {
    if !isWritable { throw .failed(operation, .badDescriptor, path: path) }
    if offset < 0 { throw .failed(operation, .invalidArgument, path: path) }
    if end > content.capacity { throw .failed(operation, .fileTooLarge, path: path) }
  }
}

// MARK: - Lock and map

extension InMemoryFile {
  package func lock(at site: Site) throws(StoreError) {
    guard isWritable else { throw .failed("lock", .badDescriptor, path: path) }
    guard content.lock(for: ObjectIdentifier(self)) else {
      throw .locked(path: path, holder: getpid())
    }
  }

  package func isLocked(at site: Site) throws(StoreError) -> Bool {
    content.isLocked(besides: ObjectIdentifier(self))
  }

  package func isNamed(_ name: FileName, at site: Site) throws(StoreError) -> Bool {
    fileSystem.leads(name, to: content)
  }

  package func map(
    capacity: Int, at site: Site
  ) throws(StoreError) -> FileMapping {
    guard capacity > 0 else { throw .failed("map", .invalidArgument, path: path) }
    guard capacity <= content.capacity else {
      throw .failed("map", .outOfMemory, path: path)
    }
    return content.mapping(capacity: capacity)
  }
}

/// The bytes of a file, apart from its name: they live as long as something has the file open or
/// mapped.
///
/// Unchecked, as `ThreadLock` is what guards the size and the holder. Bytes are guarded against
/// writers too, but not against readers of a mapping, which stay within the bytes that they know to be written.
final class InMemoryContent: @unchecked Sendable {
  private let memory: AnonymousMemory
  private let guardian = ThreadLock()
  private var count = 0
  private var lockHolder: ObjectIdentifier?

  init(_ memory: AnonymousMemory) {
    self.memory = memory
  }

  var capacity: Int { memory.capacity }

  var size: Int {
    guardian.lock()
    defer { guardian.unlock() }
    return count
  }

  func read(into buffer: inout MutableRawSpan, from offset: Int) -> Int {
    guardian.lock()
    defer { guardian.unlock() }
    guard offset < count else { return 0 }
    let available = min(buffer.byteCount, count - offset)
    memory.read(into: &buffer, count: available, from: offset)
    return available
  }

  func write(_ bytes: RawSpan, from offset: Int) {
    guardian.lock()
    defer { guardian.unlock() }
    memory.write(bytes, from: offset)
    count = max(count, offset + bytes.byteCount)
  }

  func resize(to size: Int) {
    guardian.lock()
    defer { guardian.unlock() }
    if size < count { memory.clear(size..<count) }
    count = size
  }

  /// The memory itself, so that later writes show at the same addresses.
  func mapping(capacity: Int) -> FileMapping { memory.mapping(capacity: capacity) }

  /// Returns false if another open file has the lock.
  func lock(for holder: ObjectIdentifier) -> Bool {
    guardian.lock()
    defer { guardian.unlock() }
    if lockHolder == nil { lockHolder = holder }
    return lockHolder == holder
  }

  func isLocked(besides holder: ObjectIdentifier) -> Bool {
    guardian.lock()
    defer { guardian.unlock() }
    return lockHolder != nil && lockHolder != holder
  }

  func unlock(from holder: ObjectIdentifier) {
    guardian.lock()
    defer { guardian.unlock() }
    if lockHolder == holder { lockHolder = nil }
  }
}
