internal import Glibc

/// A directory that is gone with the process, for scratch stores.
///
/// A map of a file is the very memory the file is written to. A sync has nothing to do.
///
/// Unchecked, as `ThreadLock` is what guards the names.
package final class InMemoryFileSystem: FileSystem, @unchecked Sendable {
  package let path: String
  /// The largest size of a file. Addresses are reserved for it; memory is taken as it is written.
  private let capacity: Int
  private let guardian = ThreadLock()
  private var contents: [FileName: InMemoryContent] = [:]
  /// Bears the lock on the directory, once somebody took it.
  private var directory: InMemoryContent?

  package init(path: String = "memory", capacity: Int = 1 << 30) {
    self.path = path
    self.capacity = capacity
  }

  private func path(of name: FileName) -> String { "\(path)/\(name)" }
}

// MARK: - Names

extension InMemoryFileSystem {
  package func open(_ name: FileName, _ mode: OpenMode, at site: Site) throws(StoreError)
    -> InMemoryFile
  {
    let content = mode.creates ? try create(name) : try find(name)
    return InMemoryFile(content, path: path(of: name), isWritable: mode != .read)
  }

  private func create(_ name: FileName) throws(StoreError) -> InMemoryContent {
    guardian.lock()
    defer { guardian.unlock() }
    guard contents[name] == nil else {
      throw .failed("create", .fileExists, path: path(of: name))
    }
    let memory = try AnonymousMemory.reserve(capacity: capacity)
      .get("create", path: path(of: name))
    let content = InMemoryContent(memory)
    contents[name] = content
    return content
  }

  private func find(_ name: FileName) throws(StoreError) -> InMemoryContent {
    guardian.lock()
    defer { guardian.unlock() }
    guard let content = contents[name] else { throw .missing(path: path(of: name)) }
    return content
  }

  package func syncDirectory(at site: Site) throws(StoreError) {}

  package func rename(_ name: FileName, to newName: FileName, at site: Site) throws(StoreError) {
    guardian.lock()
    defer { guardian.unlock() }
    guard let content = contents[name] else { throw .missing(path: path(of: name)) }
    guard contents[newName] == nil else {
      throw .failed("rename", .fileExists, path: path(of: newName))
    }
    contents[name] = nil
    contents[newName] = content
  }

  package func unlink(_ name: FileName, at site: Site) throws(StoreError) {
    guardian.lock()
    defer { guardian.unlock() }
    guard contents.removeValue(forKey: name) != nil else {
      throw .missing(path: path(of: name))
    }
  }

  package func list(at site: Site) throws(StoreError) -> [FileName] {
    guardian.lock()
    defer { guardian.unlock() }
    return Array(contents.keys)
  }
}

// MARK: - Bytes

extension InMemoryFileSystem {
  package func size(of file: InMemoryFile, at site: Site) throws(StoreError) -> Int {
    file.content.size
  }

  package func read(
    _ file: InMemoryFile, into buffer: inout MutableRawSpan, from offset: Int, at site: Site
  ) throws(StoreError) -> Int {
    guard offset >= 0 else { throw .failed("read", .invalidArgument, path: file.path) }
    return file.content.read(into: &buffer, from: offset)
  }

  package func write(
    _ bytes: RawSpan, to file: InMemoryFile, from offset: Int, at site: Site
  ) throws(StoreError) {
    let (end, overflow) = offset.addingReportingOverflow(bytes.byteCount)
    try file.check("write", from: offset, to: overflow ? .max : end)
    if bytes.byteCount > 0 { file.content.write(bytes, from: offset) }
  }

  package func sync(_ file: InMemoryFile, at site: Site) throws(StoreError) {}

  package func truncate(_ file: InMemoryFile, to size: Int, at site: Site) throws(StoreError) {
    try file.check("truncate", from: size, to: size)
    file.content.resize(to: size)
  }

  package func preallocate(_ file: InMemoryFile, size: Int, at site: Site) throws(StoreError) {
    try file.check("preallocate", from: size, to: size)
    file.content.grow(to: size)
  }

  package func advise(_ file: InMemoryFile, _ range: Range<Int>, _ advice: Advice, at site: Site) {}
}

extension InMemoryFile {
  /// Refuses what the operating system would.
  fileprivate func check(_ operation: String, from offset: Int, to end: Int) throws(StoreError) {
    if !isWritable { throw .failed(operation, .badDescriptor, path: path) }
    if offset < 0 { throw .failed(operation, .invalidArgument, path: path) }
    if end > content.capacity { throw .failed(operation, .fileTooLarge, path: path) }
  }
}

// MARK: - Lock and map

extension InMemoryFileSystem {
  package func lock(_ file: InMemoryFile, at site: Site) throws(StoreError) {
    guard file.isWritable else { throw .failed("lock", .badDescriptor, path: file.path) }
    guard file.content.lock(for: ObjectIdentifier(file)) else {
      throw .locked(path: file.path, holder: getpid())
    }
  }

  package func isLocked(_ file: InMemoryFile, at site: Site) throws(StoreError) -> Bool {
    file.content.isLocked(besides: ObjectIdentifier(file))
  }

  package func lockDirectory(at site: Site) throws(StoreError) -> InMemoryFile? {
    let file = InMemoryFile(try directoryContent(), path: path, isWritable: true)
    try lock(file, at: site)
    return file
  }

  private func directoryContent() throws(StoreError) -> InMemoryContent {
    guardian.lock()
    defer { guardian.unlock() }
    if let directory { return directory }
    let memory = try AnonymousMemory.reserve(capacity: 4096).get("lock directory", path: path)
    let content = InMemoryContent(memory)
    directory = content
    return content
  }

  package func leads(
    _ name: FileName, to file: InMemoryFile, at site: Site
  ) throws(StoreError) -> Bool {
    guardian.lock()
    defer { guardian.unlock() }
    return contents[name] === file.content
  }

  package func map(
    _ file: InMemoryFile, capacity: Int, at site: Site
  ) throws(StoreError) -> FileMapping {
    guard capacity > 0 else { throw .failed("map", .invalidArgument, path: file.path) }
    guard capacity <= file.content.capacity else {
      throw .failed("map", .outOfMemory, path: file.path)
    }
    return file.content.mapping(capacity: capacity)
  }
}
