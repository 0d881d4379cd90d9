@testable import Cambium

/// Another file system, whose calls are moments that a thread can be held at. It notes what is changed in it after
/// the writer's locks were given back, when the directory may be another's.
final class HeldFileSystem: FileSystem, @unchecked Sendable {
  private let inner: any FileSystem
  private let moments: Moments
  private let guardian = ThreadLock()
  // Under `guardian`:
  private var locks = 0
  private var wasLocked = false
  private var changing: [Site] = []
  private var late: [Site] = []

  init(_ inner: any FileSystem, _ moments: Moments) {
    self.inner = inner
    self.moments = moments
  }

  var path: String { inner.path }

  /// Whether the locks were taken and given back.
  var isReleased: Bool {
    guardian.lock()
    defer { guardian.unlock() }
    return wasLocked && locks == 0
  }

  /// What was changed, or being changed, though the locks were given back.
  var lateChanges: [Site] {
    guardian.lock()
    defer { guardian.unlock() }
    return late
  }

  fileprivate func before(_ site: Site) { moments.pass("\(site)") }

  /// A call comes that changes what is in the directory.
  fileprivate func beginChange(_ site: Site) {
    before(site)
    guardian.lock()
    defer { guardian.unlock() }
    if wasLocked, locks == 0 { late.append(site) }
    changing.append(site)
  }

  fileprivate func endChange(_ site: Site) {
    guardian.lock()
    defer { guardian.unlock() }
    if let index = changing.firstIndex(of: site) { changing.remove(at: index) }
  }

  fileprivate func tookLock() {
    guardian.lock()
    defer { guardian.unlock() }
    locks += 1
    wasLocked = true
  }

  fileprivate func gaveLockBack() {
    guardian.lock()
    defer { guardian.unlock() }
    locks -= 1
    if locks == 0 { late += changing }
  }

  func open(_ name: FileName, _ mode: OpenMode, at site: Site) throws(StoreError) -> any File {
    if mode.creates { beginChange(site) } else { before(site) }
    defer { if mode.creates { endChange(site) } }
    return HeldFile(try inner.open(name, mode, at: site), in: self)
  }

  func syncDirectory(at site: Site) throws(StoreError) {
    beginChange(site)
    defer { endChange(site) }
    try inner.syncDirectory(at: site)
  }

  func rename(_ name: FileName, to newName: FileName, at site: Site) throws(StoreError) {
    beginChange(site)
    defer { endChange(site) }
    try inner.rename(name, to: newName, at: site)
  }

  func unlink(_ name: FileName, at site: Site) throws(StoreError) {
    beginChange(site)
    defer { endChange(site) }
    try inner.unlink(name, at: site)
  }

  func list(at site: Site) throws(StoreError) -> [FileName] {
    before(site)
    return try inner.list(at: site)
  }

  func lockDirectory(at site: Site) throws(StoreError) -> (any File)? {
    before(site)
    guard let file = try inner.lockDirectory(at: site) else { return nil }
    return HeldFile(file, in: self, hasLock: true)
  }
}

/// A file of a `HeldFileSystem`.
private final class HeldFile: File, @unchecked Sendable {
  private let inner: any File
  private let fileSystem: HeldFileSystem
  /// Changed by the thread that opens the store, before others know the file.
  private var hasLock: Bool

  init(_ inner: any File, in fileSystem: HeldFileSystem, hasLock: Bool = false) {
    self.inner = inner
    self.fileSystem = fileSystem
    self.hasLock = hasLock
    if hasLock { fileSystem.tookLock() }
  }

  deinit {
    if hasLock { fileSystem.gaveLockBack() }
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
    fileSystem.beginChange(site)
    defer { fileSystem.endChange(site) }
    try inner.write(bytes, from: offset, at: site)
  }

  func sync(at site: Site) throws(StoreError) {
    fileSystem.beginChange(site)
    defer { fileSystem.endChange(site) }
    try inner.sync(at: site)
  }

  func truncate(to size: Int, at site: Site) throws(StoreError) {
    fileSystem.beginChange(site)
    defer { fileSystem.endChange(site) }
    try inner.truncate(to: size, at: site)
  }

  func lock(at site: Site) throws(StoreError) {
    fileSystem.before(site)
    try inner.lock(at: site)
    hasLock = true
    fileSystem.tookLock()
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
