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
    let discarded = try discardedCommits()
    if discarded > 0, !discardingCommits { throw .wouldDiscard(commits: discarded) }
    // Blobs stay where they are, whatever state is gone back to: so their trees stay as well.
    try BlobOpening(backend).open(for: newest)
    if backend.blobs.keeper != nil { try backend.fold() }
    let marks =
      try RollbackMark.all(in: trees, names).filter { $0.from != newest.version }
      + [RollbackMark(from: newest.storedVersion, to: version)]
    try restore { trees throws(StoreError) in
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

  /// The commits behind the one that ended the migration, but for the library's own that counted the references to blobs.
  private func discardedCommits() throws(StoreError) -> Int {
    let state = try backend.snapshot()
    let kept = state.footer.keptStates
    guard let target = kept.last(where: { $0.version == version }) else {
      throw .notKept(version: Int(version), kept: kept.map { Int($0.version) })
    }
    let last = target.footer.coveredSequence
    let header = try BlobTrees(backend.names).header(in: try backend.trees())
    let hasCounted = header.map { $0.countedIn &- last == 2 } ?? false
    return max(0, Int(clamping: state.sequence) - Int(clamping: last) - (hasCounted ? 2 : 1))
  }

  private func restore(_ body: (TransactionTrees) throws(StoreError) -> Void) throws(StoreError) {
    do {
      try backend.restore(version) { trees in try body(trees) }
    } catch let error as StoreError {
      throw error
    } catch {
      preconditionFailure("only the store's own errors come from it: \(error)")
    }
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
