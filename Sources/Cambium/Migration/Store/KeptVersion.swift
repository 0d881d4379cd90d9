/// A state from before a migration, to which the store can be rolled back.
public struct KeptVersion: Hashable, Sendable {
  /// The version of its records.
  public let version: Int
  public let label: String?
  /// The number of the last commit in it.
  public let sequence: UInt64
}

extension PersistentStore {
  /// Rolls the store at `path` back to its state before it was migrated from `version`. It must not be open for writing.
  /// Processes that have it open for reading keep their state until they call `refresh()`, which throws.
  ///
  /// Everything is rolled back, in one commit and without copying anything: records, indexes, metadata, the descriptions of
  /// versions, and the history, which begins again, so that all earlier cursors expire. The state is then no longer kept,
  /// nor are those of later versions. Programs of the abandoned version are refused (`StoreError.rolledBack`) until they
  /// ask to migrate again, by `StoreOptions.allowsMigrationAfterRollback`.
  ///
  /// - Parameters:
  ///   - version: One of `keptVersions`.
  ///   - discardingCommits: True to discard the commits made since the migration.
  /// - Throws: `StoreError.notKept`; `.wouldDiscard` with the number of such commits; `.locked`, `.missing`, `.corrupt`,
  ///   `.newerFormat`, `.networkFileSystem`, `.full`, `.io`: then nothing has changed. `.outcomeUnknown`.
  public static func rollback(
    at path: String, to version: Int, discardingCommits: Bool = false,
    options: StoreOptions = StoreOptions()
  ) throws(StoreError) {
    var options = options
    options.access = .writingExisting
    let backend = try EngineBackend(at: path, options)
    do throws(StoreError) {
      try Rollback(backend: backend, version: UInt32(clamping: version))
        .run(discardingCommits: discardingCommits)
    } catch {
      try? backend.close()
      throw error
    }
    try backend.close()
  }

  /// Returns the states to which the store can be rolled back, oldest first.
  ///
  /// - Throws: `StoreError.closed`, `.forked`.
  public func keptVersions() throws(StoreError) -> [KeptVersion] { try snapshot().keptVersions }

  /// Drops the state that is kept of a version, and releases the space that only it needs. Does nothing if there is none.
  ///
  /// - Throws: as a write.
  public func dropKeptVersion(_ version: Int) throws(StoreError) {
    try drop(.drop(version: UInt32(clamping: version)))
  }

  /// Drops the states that are kept of all versions before `version`; of all versions by default.
  public func dropKeptVersions(before version: Int = .max) throws(StoreError) {
    try drop(.dropBefore(version: UInt32(clamping: version)))
  }

  private func drop(_ change: KeptStateChange) throws(StoreError) {
    // A transaction without anything to commit would still be one.
    if try keptVersions().isEmpty { return }
    try backend.commit { trees throws(StoreError) in trees.addWork { $0.keeping = [change] } }
    if try keptVersions().isEmpty { try dropUnreferencedBlobs() }
  }
}

extension StoreSnapshot {
  var keptVersions: [KeptVersion] {
    footer.keptStates.map {
      KeptVersion(
        version: Int($0.version), label: $0.label.isEmpty ? nil : $0.label,
        sequence: $0.footer.coveredSequence)
    }
  }

  /// The bytes of the page segments that have nothing of the present state.
  var keptBytes: Int {
    footer.segments.filter { $0.kind == .pages && $0.liveBytes == 0 }.reduce(0) {
      $0 + Int(clamping: $1.end) * Layout.blockSize
    }
  }
}
