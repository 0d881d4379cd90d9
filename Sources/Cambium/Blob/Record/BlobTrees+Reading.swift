// Reading the trees of blobs, in whichever state.

extension BlobTrees {
  /// Returns the map's entry of a blob; nil if there is none.
  ///
  /// - Throws: `.corrupt` (X1), `.io`.
  func entry(
    of identity: BlobIdentity, in trees: TreeAccess
  ) throws(StoreError) -> BlobEntry? {
    let key = identity.key
    var value: [UInt8] = []
    guard try trees.copyValue(of: key.rawSpan, in: map, to: &value) else { return nil }
    return try BlobEntry(decoding: value.rawSpan, of: key)
  }

  /// - Throws: `.corrupt` (X2), `.io`.
  func account(
    of segment: UInt32, in trees: TreeAccess
  ) throws(StoreError) -> SegmentAccount? {
    let key = SegmentAccount.key(of: segment)
    var value: [UInt8] = []
    guard try trees.copyValue(of: key.rawSpan, in: segments, to: &value) else { return nil }
    return try SegmentAccount(decoding: value.rawSpan, of: key)
  }

  /// Returns nil if the store has never been open for blobs.
  ///
  /// - Throws: `.corrupt` (X2), `.io`.
  func header(in trees: TreeAccess) throws(StoreError) -> BlobHeader? {
    let key = BlobHeader.key
    var value: [UInt8] = []
    guard try trees.copyValue(of: key.rawSpan, in: segments, to: &value) else { return nil }
    return try BlobHeader(decoding: value.rawSpan)
  }

  /// All segments that have blobs of the map, ascending.
  ///
  /// - Throws: `.corrupt` (X2), `.io`.
  func accounts(
    in trees: TreeAccess
  ) throws(StoreError) -> [(segment: UInt32, account: SegmentAccount)] {
    var found: [(segment: UInt32, account: SegmentAccount)] = []
    let cursor = try trees.cursor(in: segments)
    while try cursor.advance() {
      let key = cursor.key.array()
      if !key.isEmpty {
        found.append(
          (try Self.segment(key), try SegmentAccount(decoding: try cursor.value(), of: key)))
      }
    }
    return found
  }

  private static func segment(_ key: [UInt8]) throws(StoreError) -> UInt32 {
    guard key.count == 4 else {
      throw .corrupt(
        .entry(tree: segmentsName, key: key), invariant: .blobAccounts,
        reason: "its key is not the number of a segment")
    }
    return key.rawSpan.load(0, as: UInt32.self).byteSwapped
  }

  /// Calls `body` with every blob of the map, in the order of identities, until it returns false.
  ///
  /// - Throws: `.corrupt` (X1), `.io`, and what `body` throws.
  func forEach(
    in trees: TreeAccess,
    _ body: (BlobIdentity, BlobEntry) throws(StoreError) -> Bool
  ) throws(StoreError) {
    let cursor = try trees.cursor(in: map)
    while try cursor.advance() {
      let key = cursor.key.array()
      guard let identity = BlobIdentity(key: key.rawSpan) else {
        throw .corrupt(
          .entry(tree: Self.mapName, key: key), invariant: .blobMap,
          reason: "its key is no identity")
      }
      let entry = try BlobEntry(decoding: try cursor.value(), of: key)
      guard try body(identity, entry) else { return }
    }
  }
}
