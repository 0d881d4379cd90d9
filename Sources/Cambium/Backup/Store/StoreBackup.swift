extension PersistentStore {
  /// Copies the newest committed state to a new store at `path`, while others read and write: all records, indexes, blobs,
  /// metadata, the history, and the descriptions of its versions. States from before migrations are not copied, so the
  /// copy cannot be rolled back to them.
  ///
  /// ```swift
  /// let report = try store.backUp(to: "backups/monday.cambium")
  /// ```
  ///
  /// The copy is made beside `path`, in a work directory with a random name (`.cambium-work-…`), and gets its name when all of
  /// it is on the disk: at `path` there is either nothing or a whole store. The next backup into the same directory removes
  /// the work directory of a process that was killed. The copy's directory has the permissions of the store's. There is no
  /// garbage between its pages; segments of blobs are copied with theirs. It is the same store at an earlier time: cursors
  /// into its history are valid in the copy, too. Stores in memory and stores opened for reading can be copied as well. The
  /// calling thread does the work.
  ///
  /// - Parameter progress: Called from time to time. It ends the backup by throwing.
  /// - Throws: Errors of `progress`; `StoreError.io` if there is anything at `path`; `.insideStore` if that is in
  ///   the directory of a store; `.corrupt`, `.full`, `.io`, `.closed`, `.forked`: then there is nothing at `path`.
  @discardableResult
  public func backUp(
    to path: String, progress: (BackupProgress) throws -> Void = { _ in }
  ) throws -> BackupReport {
    do {
      let access = try backend.directory?.access()
      let report = try BackupRun.run(to: path, like: access, progress) {
        medium, monitor throws(StoreError) in
        try StoreBackup(of: try backend.snapshot(), backend.names, monitor).run(into: medium)
      }
      log.backedUp(to: path, report)
      return report
    } catch {
      log.ended("The backup", error)
      throw error
    }
  }

  /// Copies the newest committed state on a thread of the library, while the task is suspended. It ends when the task is
  /// cancelled: then there is nothing at `path`.
  ///
  /// ```swift
  /// let report = try await store.backUp(to: "backups/monday.cambium")
  /// ```
  ///
  /// - Throws: as the other; `CancellationError`.
  @discardableResult
  @concurrent
  public func backUp(
    to path: String, progress: @Sendable (BackupProgress) throws -> Void = { _ in }
  ) async throws -> BackupReport {
    try await TaskThreads.working.run { () throws in
      try backUp(to: path) { done in
        try Task.checkCancellation()
        try progress(done)
      }
    }
  }
}

/// Writes a backup into a directory beside its destination, and renames that directory once everything in it is on disk.
/// So `path` either does not exist or is a complete store.
enum BackupRun {
  /// - Parameters:
  ///   - access: The users that may use the copy; without it, its owner only.
  ///   - tell: Is told how far it is, and ends it by throwing.
  ///   - copy: Copies the store into an empty directory.
  /// - Throws: errors of `tell` and `copy`; `.io(.fileExists, …)` where there is anything at `path`; `.insideStore`.
  static func run(
    to path: String, like access: DirectoryAccess?, _ tell: (BackupProgress) throws -> Void,
    _ copy: (PosixFileSystem, BackupMonitor) throws(StoreError) -> BackupContents
  ) throws -> BackupReport {
    let started = ContinuousClock.now
    try PosixFileSystem.checkIsFree(path, for: "back up")
    let work = try WorkDirectory(beside: path)
    try work.makeStoreDirectory(like: access)
    let medium = try PosixFileSystem(at: work.content, allowingNetwork: true)
    let contents = try withoutActuallyEscaping(tell) { tell in
      let monitor = BackupMonitor(tell)
      do {
        return try copy(medium, monitor)
      } catch {
        throw monitor.failure ?? error
      }
    }
    try work.finish()
    return BackupReport(contents, elapsed: .now - started)
  }
}

extension PosixFileSystem {
  /// Throws unless a new store may be made at a path.
  ///
  /// - Throws: `.io(.fileExists, …)` where there is anything; `.insideStore`; `.missing` if there is no directory for it.
  static func checkIsFree(_ path: String, for operation: String) throws(StoreError) {
    let place = try PathPlace(path)
    if try place.isTaken() { throw .io(.fileExists, operation: operation, path: path) }
    try place.checkIsOutsideStores()
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
  /// The time that it took.
  public let elapsed: Duration

  init(_ contents: BackupContents, elapsed: Duration) {
    sequence = contents.sequence
    entries = contents.entries
    bytes = contents.bytes
    blobBytes = contents.blobBytes
    self.elapsed = elapsed
  }
}

/// The copy of one state into an empty directory: blobs first, since a directory with a log is a store.
struct StoreBackup {
  private let state: SnapshotTrees
  private let names: TreeNames
  private let monitor: BackupMonitor

  init(of state: SnapshotTrees, _ names: TreeNames, _ monitor: BackupMonitor) {
    self.state = state
    self.names = names
    self.monitor = monitor
  }

  /// - Throws: as `Backup.run`.
  func run(into target: any FileSystem) throws(StoreError) -> BackupContents {
    let blobBytes = try copyBlobs(to: target)
    var contents = try state.backUp(to: target, names, monitor)
    contents.blobBytes = blobBytes
    return contents
  }

  /// The segments that the state has blobs in, as they are, garbage included: their content is compressed already, and
  /// every place in the map holds in the copy.
  private func copyBlobs(to target: any FileSystem) throws(StoreError) -> Int {
    guard let blobs = state.blobs else { return 0 }
    let ends = try ends(of: blobs)
    monitor.beginBlobs(ends.reduce(0) { $0 &+ Int(clamping: $1.end) })
    for (segment, end) in ends { try blobs.copy(segment, through: end, to: target, monitor) }
    return monitor.progress.blobBytes
  }

  /// The bytes of each segment to copy: all up to the last blob that the map has there, whatever the segment's account
  /// says. The tail of each blob is read: it must be whole.
  ///
  /// - Throws: `.corrupt`, `.missing`, `.io`.
  private func ends(
    of blobs: LocatedSegments
  ) throws(StoreError) -> [(segment: UInt32, end: UInt64)] {
    let trees = try BlobTrees(names)
    var ends: [UInt32: UInt64] = [:]
    try trees.forEach(in: .state(state)) { identity, entry throws(StoreError) in
      try blobs.reader(of: identity, at: entry.place).check(deep: false)
      ends[entry.place.segment] = max(ends[entry.place.segment] ?? 0, entry.place.end)
      return true
    }
    for (segment, account) in try trees.accounts(in: .state(state)) {
      let size = try blobs.size(of: segment)
      ends[segment] = max(ends[segment] ?? 0, min(account.end, size))
    }
    return ends.map { (segment: $0.key, end: $0.value) }.sortedRarely { $0.segment < $1.segment }
  }
}
