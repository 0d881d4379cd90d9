/// Counts the references to all blobs anew, where rows were changed as wholes: by a migration, or by going back to
/// an older state.
///
/// Whoever changes rows so says in the same commit that the count is due. Until it is done nobody changes records:
/// it is part of opening.
struct BlobRecount {
  private let backend: any StoreBackend

  init(_ backend: any StoreBackend) {
    self.backend = backend
  }

  /// Says that the count is due, in a commit that changes rows as wholes.
  static func markDue(
    in trees: TransactionTrees, _ names: TreeNames
  ) throws(StoreError) {
    let blobs = try BlobTrees(names)
    guard var header = try blobs.header(in: .transaction(trees)), !header.isCountDue else { return }
    header.isCountDue = true
    try header.put(into: trees, blobs)
  }

  /// Counts, if that is due.
  ///
  /// - Parameter types: Of the store's present version.
  /// - Complexity: all rows with external fields are read, and all of the map.
  /// - Throws: `.corrupt`, and what a commit throws: then it stays due.
  func runIfDue(_ entities: Entities) throws(StoreError) {
    guard !backend.isReadOnly, backend.blobs.keeper != nil else { return }
    let blobs = try BlobTrees(backend.names)
    guard try blobs.header(in: try backend.trees())?.isCountDue == true else { return }
    try count(entities, blobs)
  }

  /// Counts all, and takes blobs out of the map that nothing refers to.
  func count(_ entities: Entities, _ blobs: BlobTrees) throws(StoreError) {
    let before = try backend.trees()
    try backend.commit { trees throws(StoreError) in
      guard let session = trees.blobSession else { return }
      let accounts = BlobAccounts(trees, blobs, session)
      try BlobCount(entities.all, in: before).compare(with: blobs) {
        identity, entry, count throws(StoreError) in
        try accounts.setReferences(count, of: identity, entry)
      }
      guard var header = try blobs.header(in: .transaction(trees)) else { return }
      header.isCountDue = false
      header.countedIn = trees.sequence
      try header.put(into: trees, blobs)
    }
  }
}
