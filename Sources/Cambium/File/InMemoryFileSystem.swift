#if canImport(Glibc)
  internal import Glibc
#elseif canImport(Musl)
  internal import Musl
#else
  internal import Darwin
#endif

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
  /// Bears the lock on the directory, once it was taken.
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
    -> any File
  {
    let content = mode.creates ? try create(name) : try find(name)
    return InMemoryFile(content, path: path(of: name), isWritable: mode != .read, in: self)
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

// MARK: - Lock

extension InMemoryFileSystem {
  package func lockDirectory(at site: Site) throws(StoreError) -> (any File)? {
    let file = InMemoryFile(try directoryContent(), path: path, isWritable: true, in: self)
    try file.lock(at: site)
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

  func leads(_ name: FileName, to content: InMemoryContent) -> Bool {
    guardian.lock()
    defer { guardian.unlock() }
    return contents[name] === content
  }
}
