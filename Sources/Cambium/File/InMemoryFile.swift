/// An open file of an `InMemoryFileSystem`.
package final class InMemoryFile: Sendable {
  let content: InMemoryContent
  /// For messages; a rename does not change it.
  let path: String
  let isWritable: Bool

  init(_ content: InMemoryContent, path: String, isWritable: Bool) {
    self.content = content
    self.path = path
    self.isWritable = isWritable
  }

  deinit {
    content.unlock(from: ObjectIdentifier(self))
  }
}

/// The bytes of a file, apart from its name: they live as long as something has the file open or
/// mapped.
///
/// Unchecked, as `ThreadLock` is what guards the size and the holder. Bytes are guarded against
/// writers too, but not against readers of a mapping, who stay within what they know to be written.
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

  func grow(to size: Int) {
    guardian.lock()
    defer { guardian.unlock() }
    count = max(count, size)
  }

  /// The memory itself, so that what is written later shows at the same addresses.
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
