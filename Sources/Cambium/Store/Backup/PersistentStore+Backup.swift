extension PersistentStore {
  /// Copies the newest committed state to a store of its own at `path`, while others read and write: all records,
  /// indexes, blobs, metadata, the history, and what the store knows of its versions. States from before migrations are not
  /// copied, so the copy cannot be rolled back to them.
  ///
  /// The copy is made beside `path`, under that name with `.backup` behind it, and renamed when all of it is on the
  /// medium: at `path` there is nothing, or a whole store. It has no garbage, and is the same store at an earlier time:
  /// cursors into its history hold in the copy, too. A store that is only read, or in memory, can be copied as well.
  /// The calling thread does the work.
  ///
  /// - Parameter progress: Is told how far it is, now and then. It ends the backup by throwing.
  /// - Throws: what `progress` does; `StoreError.io` where there is anything at `path`; `.locked` where another backup
  ///   to it is under way; `.corrupt`, `.full`, `.io`, `.closed`, `.forked`: then there is nothing at `path`.
  @discardableResult
  public func backUp(
    to path: String, progress: (BackupProgress) throws -> Void = { _ in }
  ) throws -> BackupReport {
    try BackupRun.run(to: path, progress) { medium, monitor throws(StoreError) in
      try StoreBackup(of: try backend.snapshot(), backend.names, monitor).run(into: medium)
    }
  }

  /// The same for tasks: it is done on a thread of its own, and ends when the task is cancelled.
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
