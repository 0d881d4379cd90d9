package import Cambium

/// Another file system, and something that happens before each call on it: as other threads and processes
/// may do there. Its writes and flushes can be made to fail.
package final class InterposedFileSystem: FileSystem, @unchecked Sendable {
  package let inner: any FileSystem
  private let guardian = ThreadLock()
  private var body: ((Site) -> Void)?
  private var failure: ((Site) -> SystemErrorCode?)?

  package init(_ inner: any FileSystem) {
    self.inner = inner
  }

  package var path: String { inner.path }

  /// Has `body` run before each call from now on, but not within itself; nil for nothing.
  package func beforeCalls(_ body: ((Site) -> Void)?) {
    guardian.lock()
    defer { guardian.unlock() }
    self.body = body
  }

  /// Makes writes and flushes fail from now on where `failure` returns an error; nil for none.
  package func failWriting(_ failure: ((Site) -> SystemErrorCode?)?) {
    guardian.lock()
    defer { guardian.unlock() }
    self.failure = failure
  }

  fileprivate func failIfDue(_ operation: String, at site: Site) throws(StoreError) {
    guardian.lock()
    let errno = failure?(site)
    guardian.unlock()
    if let errno { throw .failed(operation, errno, path: path) }
  }

  fileprivate func before(_ site: Site) {
    guardian.lock()
    let body = self.body
    self.body = nil
    guardian.unlock()
    guard let body else { return }
    body(site)
    beforeCalls(body)
  }

  package func open(
    _ name: FileName, _ mode: OpenMode, at site: Site
  ) throws(StoreError) -> any File {
    before(site)
    return InterposedFile(try inner.open(name, mode, at: site), in: self)
  }

  package func syncDirectory(at site: Site) throws(StoreError) {
    before(site)
    try inner.syncDirectory(at: site)
  }

  package func rename(_ name: FileName, to newName: FileName, at site: Site) throws(StoreError) {
    before(site)
    try inner.rename(name, to: newName, at: site)
  }

  package func unlink(_ name: FileName, at site: Site) throws(StoreError) {
    before(site)
    try inner.unlink(name, at: site)
  }

  package func list(at site: Site) throws(StoreError) -> [FileName] {
    before(site)
    return try inner.list(at: site)
  }

  package func lockDirectory(at site: Site) throws(StoreError) -> (any File)? {
    before(site)
    guard let file = try inner.lockDirectory(at: site) else { return nil }
    return InterposedFile(file, in: self)
  }
}

/// A file of an `InterposedFileSystem`.
private final class InterposedFile: File {
  private let inner: any File
  private let fileSystem: InterposedFileSystem

  init(_ inner: any File, in fileSystem: InterposedFileSystem) {
    self.inner = inner
    self.fileSystem = fileSystem
  }

  func size(at site: Site) throws(StoreError) -> Int {
    fileSystem.before(site)
    return try inner.size(at: site)
  }

  func read(
    into buffer: inout MutableRawSpan, from offset: Int, at site: Site
  ) throws(StoreError) -> Int {
    fileSystem.before(site)
    return try inner.read(into: &buffer, from: offset, at: site)
  }

  func write(_ bytes: RawSpan, from offset: Int, at site: Site) throws(StoreError) {
    fileSystem.before(site)
    try fileSystem.failIfDue("write", at: site)
    try inner.write(bytes, from: offset, at: site)
  }

  func sync(at site: Site) throws(StoreError) {
    fileSystem.before(site)
    try fileSystem.failIfDue("sync", at: site)
    try inner.sync(at: site)
  }

  func truncate(to size: Int, at site: Site) throws(StoreError) {
    fileSystem.before(site)
    try inner.truncate(to: size, at: site)
  }

  func lock(at site: Site) throws(StoreError) {
    fileSystem.before(site)
    try inner.lock(at: site)
  }

  func isLocked(at site: Site) throws(StoreError) -> Bool {
    fileSystem.before(site)
    return try inner.isLocked(at: site)
  }

  func isNamed(_ name: FileName, at site: Site) throws(StoreError) -> Bool {
    fileSystem.before(site)
    return try inner.isNamed(name, at: site)
  }

  func map(capacity: Int, at site: Site) throws(StoreError) -> FileMapping {
    fileSystem.before(site)
    return try inner.map(capacity: capacity, at: site)
  }

  func willNeed(_ range: Range<Int>, at site: Site) {
    fileSystem.before(site)
    inner.willNeed(range, at: site)
  }
}
