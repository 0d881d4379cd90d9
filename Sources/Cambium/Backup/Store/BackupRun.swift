/// The way of a backup to its directory: it is made beside it, under a name of its own, and renamed when all of it is
/// on the medium. So at `path` there is nothing, or a whole store.
enum BackupRun {
  /// The suffix of the directory's name until then.
  private static let suffix = ".backup"

  /// - Parameters:
  ///   - tell: Is told how far it is, and ends it by throwing.
  ///   - copy: Copies the store into an empty directory.
  /// - Throws: what `tell` and `copy` do; `.io(.fileExists, …)` where there is anything at `path`; `.locked` where
  ///   another backup to it is under way.
  static func run(
    to path: String, _ tell: (BackupProgress) throws -> Void,
    _ copy: (PosixFileSystem, BackupMonitor) throws(StoreError) -> BackupContents
  ) throws -> BackupReport {
    let started = ContinuousClock.now
    try PosixFileSystem.checkIsFree(path, for: "back up")
    let medium = try PosixFileSystem(
      at: path.withoutTrailingSlashes + suffix, creating: true, allowingNetwork: true)
    let contents = try withoutActuallyEscaping(tell) { tell in
      try make(in: medium, BackupMonitor(tell), copy)
    }
    do {
      try medium.rename(to: path.withoutTrailingSlashes)
    } catch {
      try? medium.remove()
      throw error
    }
    return BackupReport(contents, elapsed: .now - started)
  }

  private static func make(
    in medium: PosixFileSystem, _ monitor: BackupMonitor,
    _ copy: (PosixFileSystem, BackupMonitor) throws(StoreError) -> BackupContents
  ) throws -> BackupContents {
    let lock = try WriterLock(in: medium)
    defer { withExtendedLifetime(lock) {} }
    do {
      // What one that was broken off left there.
      for name in try medium.list(at: .directoryList) where name != .lock {
        try medium.unlink(name, at: .orphanUnlink)
      }
      return try copy(medium, monitor)
    } catch {
      try? medium.remove()
      throw monitor.failure ?? error
    }
  }

}

extension PosixFileSystem {
  /// Throws where there is anything at a path.
  static func checkIsFree(_ path: String, for operation: String) throws(StoreError) {
    do throws(StoreError) {
      _ = try PosixFileSystem(at: path, allowingNetwork: true)
    } catch {
      if case .missing = error { return }
      throw error
    }
    throw .io(.fileExists, operation: operation, path: path)
  }
}

extension String {
  var withoutTrailingSlashes: String {
    var path = self
    while path.count > 1, path.last == "/" { path.removeLast() }
    return path
  }
}

/// The result of a backup.
public struct BackupReport: Hashable, Sendable {
  /// The number of the last commit that is in the copy.
  public let sequence: UInt64
  /// The entries of trees: rows, index entries, and the store's own.
  public let entries: Int
  /// The bytes of the copy's pages.
  public let bytes: Int
  /// The bytes of the copy's files of blobs.
  public let blobBytes: Int
  public let elapsed: Duration

  init(_ contents: BackupContents, elapsed: Duration) {
    sequence = contents.sequence
    entries = contents.entries
    bytes = contents.bytes
    blobBytes = contents.blobBytes
    self.elapsed = elapsed
  }
}
