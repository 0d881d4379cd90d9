package import Cambium

/// Another file system, and something that happens before each call on it: what other threads and processes
/// may do there. Its writes and flushes can be made to fail.
package final class InterposedFileSystem<Inner: FileSystem>: FileSystem, @unchecked Sendable {
  package typealias File = Inner.File

  package let inner: Inner
  private let guardian = ThreadLock()
  private var body: ((Site) -> Void)?
  private var failure: ((Site) -> Errno?)?

  package init(_ inner: Inner) {
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
  package func failWriting(_ failure: ((Site) -> Errno?)?) {
    guardian.lock()
    defer { guardian.unlock() }
    self.failure = failure
  }

  private func failIfDue(_ operation: String, at site: Site) throws(StoreError) {
    guardian.lock()
    let errno = failure?(site)
    guardian.unlock()
    if let errno { throw .failed(operation, errno, path: path) }
  }

  private func before(_ site: Site) {
    guardian.lock()
    let body = self.body
    self.body = nil
    guardian.unlock()
    guard let body else { return }
    body(site)
    beforeCalls(body)
  }

  package func open(_ name: FileName, _ mode: OpenMode, at site: Site) throws(StoreError) -> File {
    before(site)
    return try inner.open(name, mode, at: site)
  }

  package func size(of file: File, at site: Site) throws(StoreError) -> Int {
    before(site)
    return try inner.size(of: file, at: site)
  }

  package func read(
    _ file: File, into buffer: inout MutableRawSpan, from offset: Int, at site: Site
  ) throws(StoreError) -> Int {
    before(site)
    return try inner.read(file, into: &buffer, from: offset, at: site)
  }

  package func write(
    _ bytes: RawSpan, to file: File, from offset: Int, at site: Site
  ) throws(StoreError) {
    before(site)
    try failIfDue("write", at: site)
    try inner.write(bytes, to: file, from: offset, at: site)
  }

  package func sync(_ file: File, at site: Site) throws(StoreError) {
    before(site)
    try failIfDue("sync", at: site)
    try inner.sync(file, at: site)
  }

  package func syncDirectory(at site: Site) throws(StoreError) {
    before(site)
    try inner.syncDirectory(at: site)
  }

  package func truncate(_ file: File, to size: Int, at site: Site) throws(StoreError) {
    before(site)
    try inner.truncate(file, to: size, at: site)
  }

  package func preallocate(_ file: File, size: Int, at site: Site) throws(StoreError) {
    before(site)
    try inner.preallocate(file, size: size, at: site)
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

  package func lock(_ file: File, at site: Site) throws(StoreError) {
    before(site)
    try inner.lock(file, at: site)
  }

  package func isLocked(_ file: File, at site: Site) throws(StoreError) -> Bool {
    before(site)
    return try inner.isLocked(file, at: site)
  }

  package func lockDirectory(at site: Site) throws(StoreError) -> File? {
    before(site)
    return try inner.lockDirectory(at: site)
  }

  package func leads(_ name: FileName, to file: File, at site: Site) throws(StoreError) -> Bool {
    before(site)
    return try inner.leads(name, to: file, at: site)
  }

  package func map(_ file: File, capacity: Int, at site: Site) throws(StoreError) -> FileMapping {
    before(site)
    return try inner.map(file, capacity: capacity, at: site)
  }

  package func advise(_ file: File, _ range: Range<Int>, _ advice: Advice, at site: Site) {
    before(site)
    inner.advise(file, range, advice, at: site)
  }
}
