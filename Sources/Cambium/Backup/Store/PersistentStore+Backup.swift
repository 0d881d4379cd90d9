extension PersistentStore {
  /// Copies the newest committed state to a new store at `path`, while others read and write: all records, indexes, blobs,
  /// metadata, the history, and the descriptions of its versions. States from before migrations are not copied, so the
  /// copy cannot be rolled back to them.
  ///
  /// The copy is made beside `path`, under that name followed by `.backup`, and renamed when all of it is on the disk: at
  /// `path` there is either nothing or a whole store. It has no garbage, and is the same store at an earlier time: cursors
  /// into its history are valid in the copy, too. Stores in memory and stores opened for reading can be copied as well. The
  /// calling thread does the work.
  ///
  /// - Parameter progress: Called from time to time. It ends the backup by throwing.
  /// - Throws: What `progress` throws; `StoreError.io` if there is anything at `path`; `.locked` if another backup to it
  ///   is under way; `.corrupt`, `.full`, `.io`, `.closed`, `.forked`: then there is nothing at `path`.
  @discardableResult
  public func backUp(
    to path: String, progress: (BackupProgress) throws -> Void = { _ in }
  ) throws -> BackupReport {
    try BackupRun.run(to: path, progress) { medium, monitor throws(StoreError) in
      try StoreBackup(of: try backend.snapshot(), backend.names, monitor).run(into: medium)
    }
  }

  /// Copies the newest committed state on a thread of its own, while the task is suspended. It ends when the task is
  /// cancelled.
  ///
  /// - Throws: as the other; `CancellationError`.
  @discardableResult
  nonisolated(nonsending)
    public func backUp(
      to path: String,
      progress: @escaping @Sendable (BackupProgress) throws -> Void = { _ in }
    ) async throws -> BackupReport
  {
    try await LongWork.run(name: "cambium-backup") { [self] pause in
      try backUp(to: path) { done in
        try pause.wait(.zero)
        try progress(done)
      }
    }
  }
}
