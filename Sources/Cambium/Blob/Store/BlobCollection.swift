extension PersistentStore {
  /// Reclaims the space of blobs that nothing refers to: moves live blobs out of files that are mostly garbage, and
  /// removes those files. Others read and write meanwhile; snapshots and blobs that were fetched stay readable.
  ///
  /// Each slice of a few megabytes is a commit. Files with blobs that are not in a record yet are left alone.
  ///
  /// - Returns: True if there is more to do.
  /// - Complexity: O(blobs that are moved) and O(segments); never O(blobs).
  /// - Throws: `StoreError.readOnly`, `.corrupt` if a blob to be moved is damaged, and what a commit throws. Blobs that
  ///   were moved by then stay moved.
  @discardableResult
  public func collectBlobs(_ budget: BlobBudget = .unlimited) throws(StoreError) -> Bool {
    if backend.isReadOnly { throw .readOnly(path: path) }
    guard let keeper = backend.blobs.keeper else {
      _ = try backend.snapshot()
      return false
    }
    if try keptVersions().isEmpty { try dropUnreferencedBlobs() }
    var collection = BlobCollection(self, keeper, budget)
    return try collection.run()
  }
}

/// One run of collection.
private struct BlobCollection {
  private let store: PersistentStore
  private let keeper: BlobKeeper
  private let blobs: BlobTrees
  private let garbageShare: Double
  private var bytesLeft: Int
  /// Segments that were taken in hand: each once.
  private var taken: Set<UInt32> = []

  /// The approximate number of bytes that are moved in one commit.
  private static var sliceSize: UInt64 { 8 << 20 }

  init(_ store: PersistentStore, _ keeper: BlobKeeper, _ budget: BlobBudget) {
    self.store = store
    self.keeper = keeper
    blobs = store.entities.blobs
    garbageShare = budget.garbageShare
    bytesLeft = budget.bytes
  }

  /// - Returns: True if there is more to do.
  mutating func run() throws(StoreError) -> Bool {
    try removeUnused()
    while let segment = try nextSegment() {
      if bytesLeft <= 0 { return true }
      taken.insert(segment)
      while bytesLeft > 0, try moveSlice(of: segment) {}
      store.removeEmptiedSegments()
    }
    return false
  }

  /// Removes segments that no blob of the map is in: of blobs that nobody has put into a record.
  private func removeUnused() throws(StoreError) {
    let used = Set(try blobs.accounts(in: try store.backend.trees()).map(\.segment))
    let pinned = Set(keeper.pinnedSegments)
    store.backend.blobs.bin.add(
      keeper.openSegments.filter { !used.contains($0) && !pinned.contains($0) })
    store.removeEmptiedSegments()
  }

  /// The segment with the smallest share of blobs, of those that are worth it; no stream goes on in it.
  private func nextSegment() throws(StoreError) -> UInt32? {
    var found: (segment: UInt32, share: Double)?
    for (segment, account) in try blobs.accounts(in: try store.backend.trees())
    where !taken.contains(segment) {
      let room = Double(try keeper.size(of: segment)) - Double(BlobLayout.firstOffset)
      let share = room > 0 ? Double(account.live) / room : 1
      guard 1 - share >= garbageShare, share < 1, share < found?.share ?? 2 else { continue }
      // One that is pinned is for later.
      if keeper.retire(segment) { found = (segment, share) }
    }
    return found?.segment
  }

  /// Moves some of a segment's blobs, in one commit. False where none is left.
  private mutating func moveSlice(of segment: UInt32) throws(StoreError) -> Bool {
    let (blobs, keeper) = (blobs, keeper)
    let limit = min(Self.sliceSize, UInt64(bytesLeft))
    var moved: UInt64 = 0
    try store.commit { trees throws(StoreError) in
      guard let session = trees.blobSession else { return }
      let accounts = BlobAccounts(trees, blobs, session)
      let slice = try blobs.slice(of: segment, atMost: limit, in: .transaction(trees))
      for (identity, entry) in slice {
        let content = try keeper.copy(identity, from: entry.place)
        session.add(content)
        try accounts.move(entry, to: content)
        moved &+= entry.place.size
      }
    }
    bytesLeft -= Int(clamping: moved)
    return moved > 0
  }
}

extension BlobTrees {
  /// The first blobs of a segment, by their places: at least one, if there is one.
  ///
  /// - Throws: `.corrupt` (X1) where a place leads to no blob that is there; `.io`.
  fileprivate func slice(
    of segment: UInt32, atMost limit: UInt64, in trees: TreeAccess
  ) throws(StoreError) -> [(BlobIdentity, BlobEntry)] {
    var found: [(BlobIdentity, BlobEntry)] = []
    var size: UInt64 = 0
    let prefix = SegmentAccount.key(of: segment)
    let cursor = try trees.cursor(in: places)
    var isOn = try cursor.seek(to: prefix.rawSpan)
    while isOn, size < limit {
      let key = cursor.key.array()
      guard key.starts(with: prefix) else { break }
      let value = try cursor.value()
      guard let identity = BlobIdentity(key: value),
        let entry = try entry(of: identity, in: trees), entry.place.key == key
      else {
        throw .corrupt(
          .entry(tree: Self.placesName, key: key), invariant: .blobMap,
          reason: "it leads to no blob that is there")
      }
      found.append((identity, entry))
      size &+= entry.place.size
      isOn = try cursor.next()
    }
    return found
  }
}
