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
      + [RollbackMark(from: newest.version, to: version)]
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
