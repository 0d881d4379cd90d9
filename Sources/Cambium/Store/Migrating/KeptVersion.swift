/// A state from before a migration, which the store can be taken back to.
public struct KeptVersion: Hashable, Sendable {
  /// Of its records.
  public let version: Int
  public let label: String?
  /// The last commit that is in it.
  public let sequence: UInt64
}

extension PersistentStore {
  /// Takes the store at `path` back to the state that it had before it was migrated from `version`. Nobody must have
  /// it open for writing. Who reads it keeps what he sees, and is told by `refresh()`.
  ///
  /// All of it goes back, in one commit and without copying anything: records, indexes, metadata, what the store
  /// knows of its versions, and its history, which then begins anew: every cursor from before has expired. The
  /// state is kept no more, nor are those of later versions. Programs of the version that is left are refused
  /// (`StoreError.rolledBack`) until they ask to migrate again, by `StoreOptions.migratesAgain`.
  ///
  /// - Parameters:
  ///   - version: One of `keptVersions`.
  ///   - discardingCommits: Whether what was committed since the migration may go.
  /// - Throws: `StoreError.notKept`; `.wouldDiscard` with the number of such commits; `.locked`, `.missing`,
  ///   `.corrupt`, `.newerFormat`, `.networkFileSystem`, `.full`, `.io`: then nothing has changed.
  ///   `.outcomeUnknown`.
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

  /// The states that the store can be taken back to, oldest first.
  ///
  /// - Throws: `StoreError.closed`, `.forked`.
  public func keptVersions() throws(StoreError) -> [KeptVersion] { try snapshot().keptVersions }

  /// Lets go of the state that is kept of a version, and of the room that only it needs. Nothing happens where none
  /// is.
  ///
  /// - Throws: as a write.
  public func dropKeptVersion(_ version: Int) throws(StoreError) {
    try drop(.drop(version: UInt32(clamping: version)))
  }

  /// The same of all versions before one; of all that there are, without it.
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
