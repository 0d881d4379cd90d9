extension PersistentStore {
  /// Removes segments that no blob is left in, as far as that is committed for good.
  ///
  /// What cannot be removed now is tried again later: that is no error of the commit before.
  func removeEmptiedSegments() {
    let segments = backend.blobs.bin.take()
    if segments.isEmpty { return }
    do throws(StoreError) {
      try remove(segments)
    } catch {
      backend.blobs.bin.add(segments)
    }
  }

  private func remove(_ segments: [UInt32]) throws(StoreError) {
    guard let keeper = backend.blobs.keeper else { return }
    // No crash may bring back a state that refers to them, and no reader beside may still look for them.
    try backend.seal()
    let blobs = try BlobTrees(backend.names)
    for segment in segments {
      if try blobs.account(of: segment, in: try backend.trees()) != nil { continue }
      if try !keeper.remove(segment) { backend.blobs.bin.add([segment]) }
    }
  }
}

extension PersistentStore {
  /// Takes the blobs out of the map that only states were kept for which are kept no more.
  ///
  /// - Complexity: O(blobs).
  func dropUnreferencedBlobs() throws(StoreError) {
    guard backend.blobs.keeper != nil else { return }
    let blobs = entities.blobs
    try commit { trees throws(StoreError) in
      guard !trees.keepsStates, let session = trees.blobSession else { return }
      var unreferenced: [(BlobIdentity, BlobEntry)] = []
      try blobs.forEach(in: .transaction(trees)) { identity, entry in
        if entry.references == 0 { unreferenced.append((identity, entry)) }
        return true
      }
      let accounts = BlobAccounts(trees, blobs, session)
      for (identity, entry) in unreferenced { try accounts.remove(identity, entry) }
    }
    removeEmptiedSegments()
  }
}
