/// A state from before a migration, to which the store can be rolled back.
public struct KeptVersion: Hashable, Sendable {
  /// The version of its records.
  public let version: Int
  /// The label of the version; nil if it has none.
  public let label: String?
  /// The number of the last commit in it.
  public let sequence: UInt64
}

extension PersistentStore {
  /// Rolls the store at `path` back to its state before it was migrated from `version`. It must not be open for writing.
  /// Processes that have it open for reading keep their state until they call `refresh()`, which throws.
  ///
  /// ```swift
  /// try PersistentStore.rollback(at: "shop.cambium", to: 1)
  /// ```
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
  /// ```swift
  /// for kept in try store.keptVersions() { print(kept.version) }
  /// ```
  ///
  /// - Throws: `StoreError.closed`, `.forked`.
  public func keptVersions() throws(StoreError) -> [KeptVersion] { try snapshot().keptVersions }

  /// Drops the state that is kept of a version, and releases the space that only it needs. Does nothing if there is none.
  package func dropKeptVersion(_ version: Int) throws(StoreError) {
    try drop(.drop(version: UInt32(clamping: version)))
  }

  /// Drops the states that are kept of all versions before `version`; of all versions by default.
  ///
  /// ```swift
  /// try store.dropKeptVersions(before: 3)
  /// ```
  ///
  /// - Throws: as a write.
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

/// Takes a store back to a state that is kept from before a migration, in one commit.
///
/// All of the store goes back: records, indexes, metadata, schemas and history. What remains are the marks of
/// versions that were left, and the numbers of commits, which go on upwards.
struct Rollback {
  let backend: any StoreBackend
  /// To go back to.
  let version: UInt32

  /// - Throws: `.notKept`, `.wouldDiscard`, `.corrupt`, and what a commit throws.
  func run(discardingCommits: Bool) throws(StoreError) {
    let (names, trees) = (backend.names, try backend.trees())
    guard let newest = try StoredSchemas(backend).newest() else { return }
    let passed = try passedCommits()
    let own = try OwnCommits.count(in: trees, names)
    // Blobs stay where they are, whatever state is gone back to: so their trees stay as well.
    try BlobOpening(backend).open(for: newest)
    if backend.blobs.keeper != nil { try backend.fold() }
    let marks =
      try RollbackMark.all(in: trees, names).filter { $0.from != newest.version }
      + [RollbackMark(from: newest.storedVersion, to: version)]
    try backend.restore(version) { trees throws(StoreError) in
      // The number in the kept state: own commits before it are no part of what has been committed since.
      let ownBefore = try OwnCommits.count(in: .transaction(trees), names)
      // Commits were not counted before there was such a count: then one of them ended the migration.
      let own = max(own, ownBefore &+ 1)
      let discarded = Int(clamping: passed) - Int(clamping: own &- ownBefore)
      if discarded > 0, !discardingCommits { throw .wouldDiscard(commits: discarded) }
      // Commits that are discarded now must not count again if an earlier state is restored. This commit is one more.
      try OwnCommits.set(ownBefore &+ passed &+ 1, in: trees, names)
      for mark in marks { try mark.put(into: trees, names) }
      try BlobRecount.markDue(in: trees, names)
      try HistoryWriter(trees, in: try names.slot(of: HistoryKey.treeName)).beginAnew()
    }
    // The state was kept at the end of the migration, with what that had made. Whoever writes to the store does this,
    // too.
    try MigrationMark.discard(in: backend)
    guard let present = try StoredSchemas(backend).newest() else { return }
    try BlobRecount(backend).runIfDue(
      try Entities(present, model: nil, names: backend.names))
  }

  /// The number of commits since the kept state.
  private func passedCommits() throws(StoreError) -> UInt64 {
    let state = try backend.snapshot()
    let kept = state.footer.keptStates
    guard let target = kept.last(where: { $0.version == version }) else {
      throw .notKept(version: Int(version), kept: kept.map { Int($0.version) })
    }
    return state.sequence &- target.footer.coveredSequence
  }
}

/// A mark in a store for a version from which it was rolled back: programs of that version must not migrate it again
/// unasked.
///
/// The marks are in a tree of their own, which every rollback keeps: the version to which the store was rolled back,
/// under the version that was abandoned.
struct RollbackMark: Hashable {
  static let treeName = "rollback"

  /// The version that was left.
  let from: UInt32
  let to: UInt32

  func put(into trees: TransactionTrees, _ names: TreeNames) throws(StoreError) {
    var value: [UInt8] = []
    value.append(integer: to)
    try trees.put(
      Schema.key(of: from).rawSpan, value.rawSpan, in: try names.slot(of: Self.treeName))
  }

  /// All of a state, ascending.
  ///
  /// - Throws: `.corrupt` (D2), `.io`.
  static func all(
    in trees: TreeAccess, _ names: TreeNames
  ) throws(StoreError) -> [RollbackMark] {
    let cursor = try trees.cursor(in: try names.slot(of: treeName))
    var marks: [RollbackMark] = []
    while try cursor.advance() {
      let (key, value) = (cursor.key.array(), try cursor.value())
      guard key.count == 4, value.byteCount == 4 else {
        throw .corrupt(
          .entry(tree: treeName, key: key), invariant: .schemaContents,
          reason: "it does not name two versions")
      }
      marks.append(
        RollbackMark(
          from: key.rawSpan.load(0, as: UInt32.self).byteSwapped,
          to: value.load(0, as: UInt32.self)))
    }
    return marks
  }

  /// Refuses to make a store of `stored` one of `wanted` where it was rolled back from that or a later version.
  ///
  /// - Throws: `.rolledBack`, `.corrupt`, `.io`.
  static func refuse(
    from stored: UInt32, to wanted: UInt32, in trees: TreeAccess, _ names: TreeNames
  ) throws(StoreError) {
    let marks = try all(in: trees, names)
    guard let mark = marks.first(where: { $0.from > stored && $0.from >= wanted }) else { return }
    throw .rolledBack(from: Int(mark.from), to: Int(stored))
  }
}
