extension PersistentStore {
  /// Reclaims the space of blobs that nothing refers to: moves live blobs out of files that are mostly garbage, and
  /// removes those files. Others read and write meanwhile; snapshots and blobs that were fetched stay readable.
  ///
  /// ```swift
  /// try store.collectBlobs()
  /// ```
  ///
  /// Each slice of a few megabytes is a commit, and is copied before its transaction begins. Files with blobs that are not in
  /// a record yet are left alone. A store that is open for writing does the same in the background, under the conditions of
  /// `StoreOptions.automaticCompaction`.
  ///
  /// - Returns: True if there is more to do.
  /// - Complexity: O(blobs that are moved) and O(segments); O(blobs) once after states from before migrations were dropped, to
  ///   find the blobs that only they referred to. Other writers do not wait while blobs are looked for or copied.
  /// - Throws: `StoreError.readOnly`, `.corrupt` if a blob to be moved is damaged, and errors of a commit. Blobs that
  ///   were moved by then stay moved.
  @discardableResult
  public func collectBlobs(_ budget: BlobBudget = .unlimited) throws(StoreError) -> Bool {
    try collectBlobs(within: budget)
  }

  /// As the public one.
  ///
  /// - Parameter endsWhenCancelled: True if it ends when the task is cancelled, with more to do.
  func collectBlobs(
    within budget: BlobBudget, endsWhenCancelled: Bool = false
  ) throws(StoreError) -> Bool {
    if backend.isReadOnly { throw .readOnly(path: path) }
    guard let keeper = backend.blobs.keeper else {
      _ = try backend.snapshot()
      return false
    }
    if try keptVersions().isEmpty { try dropUnreferencedBlobs() }
    var collection = BlobCollection(self, keeper, budget, endsWhenCancelled: endsWhenCancelled)
    return try collection.run()
  }
}

/// A limit of the work that one call to `collectBlobs` does.
public struct BlobBudget: Hashable, Sendable {
  /// The most bytes of blobs that are moved; the last blob is always finished.
  package var bytes: Int
  /// The least share of garbage in a file for it to be rewritten.
  package var garbageShare: Double

  /// Creates a limit of the bytes that are moved.
  public init(bytes: Int, garbageShare: Double = 0.5) {
    self.bytes = bytes
    self.garbageShare = garbageShare
  }

  /// No limit.
  public static let unlimited = BlobBudget(bytes: .max)
}

/// One run of collection.
private struct BlobCollection {
  private let store: PersistentStore
  private let keeper: BlobKeeper
  private let blobs: BlobTrees
  private let garbageShare: Double
  private var bytesLeft: Int
  private let endsWhenCancelled: Bool
  /// Segments that were taken in hand: each once.
  private var taken: Set<UInt32> = []

  /// The approximate number of bytes that are moved in one commit.
  private static var sliceSize: UInt64 { 8 << 20 }

  init(
    _ store: PersistentStore, _ keeper: BlobKeeper, _ budget: BlobBudget, endsWhenCancelled: Bool
  ) {
    self.endsWhenCancelled = endsWhenCancelled
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
      if isOver { return true }
      taken.insert(segment)
      while !isOver, try moveSlice(of: segment) {}
      store.removeEmptiedSegments()
    }
    return false
  }

  private var isOver: Bool { bytesLeft <= 0 || endsWhenCancelled && Task.isCancelled }

  /// Removes segments that no blob of the map is in: of blobs that were never put into a record.
  private func removeUnused() throws(StoreError) {
    let used = Set(try blobs.accounts(in: try store.backend.trees()).map(\.segment))
    let pinned = Set(keeper.pinnedSegments)
    store.backend.blobs.bin.add(
      keeper.openSegments.filter { !used.contains($0) && !pinned.contains($0) })
    store.removeEmptiedSegments()
  }

  /// The segment with the largest share of garbage, of those that are worth it; no stream continues in it.
  private func nextSegment() throws(StoreError) -> UInt32? {
    var found: (segment: UInt32, share: Double)?
    for (segment, account) in try blobs.accounts(in: try store.backend.trees())
    where !taken.contains(segment) {
      let share = try keeper.garbage(of: segment, account).share
      guard share >= garbageShare, share > found?.share ?? 0 else { continue }
      // One that is pinned is for later.
      if keeper.retire(segment) { found = (segment, share) }
    }
    return found?.segment
  }

  /// Moves some of a segment's blobs in one commit. They are copied before it, while others write. Returns false if none is left.
  private mutating func moveSlice(of segment: UInt32) throws(StoreError) -> Bool {
    let (blobs, keeper) = (blobs, keeper)
    let limit = min(Self.sliceSize, UInt64(bytesLeft))
    let slice = try blobs.slice(of: segment, atMost: limit, in: try store.backend.trees())
    if slice.isEmpty { return false }
    let batch = BlobBatch()
    var copies: [(entry: BlobEntry, content: BlobContent)] = []
    for (identity, entry) in slice {
      copies.append((entry, try keeper.copy(identity, from: entry.place, in: batch)))
    }
    try keeper.sync(copies.map(\.content.place))
    try store.commit { trees throws(StoreError) in
      guard let session = trees.blobSession else { return }
      let accounts = BlobAccounts(trees, blobs, session)
      for (entry, content) in copies {
        // It may have been deleted meanwhile.
        guard let present = try accounts.entry(of: content.identity), present.place == entry.place
        else { continue }
        session.add(content)
        try accounts.move(present, to: content)
      }
    }
    keeper.noteMoved(copies.map(\.content.place))
    bytesLeft -= Int(clamping: copies.reduce(0) { $0 &+ $1.entry.place.size })
    return true
  }
}

extension BlobKeeper {
  /// The bytes of a segment that moving its blobs reclaims, and their share of it, from 0 to 1.
  ///
  /// - Throws: `.missing`, `.io`.
  fileprivate func garbage(
    of segment: UInt32, _ account: SegmentAccount
  ) throws(StoreError) -> (bytes: UInt64, share: Double) {
    let room = try movableBytes(of: segment)
    let bytes = room > account.live ? room - account.live : 0
    return (bytes, room > 0 ? Double(bytes) / Double(room) : 0)
  }
}

/// The gain of a collection, as far as it is known before it begins.
struct BlobGain {
  /// The bytes of all files of blobs.
  var size: UInt64 = 0
  /// The bytes that they will be smaller by.
  var bytes: UInt64 = 0
  /// The most bytes of blobs that are in one file to be rewritten: so many must be free meanwhile.
  var movedAtOnce: UInt64 = 0
}

extension PersistentStore {
  /// Returns the bytes that `collectBlobs` gains if it rewrites the files of which this share is garbage.
  ///
  /// - Complexity: O(files of blobs).
  /// - Throws: `.corrupt`, `.io`, `.closed`, `.forked`.
  func predictedBlobGain(_ garbageShare: Double) throws(StoreError) -> BlobGain {
    var gain = BlobGain()
    guard let keeper = backend.blobs.keeper else { return gain }
    var unused = Set(keeper.openSegments)
    for (segment, account) in try entities.blobs.accounts(in: try backend.trees()) {
      unused.remove(segment)
      gain.size &+= try keeper.size(of: segment)
      let garbage = try keeper.garbage(of: segment, account)
      guard garbage.share >= garbageShare, garbage.share > 0 else { continue }
      gain.bytes &+= garbage.bytes
      gain.movedAtOnce = Swift.max(gain.movedAtOnce, account.live)
    }
    // Their blobs are in no record.
    let pinned = Set(keeper.pinnedSegments)
    for segment in unused {
      let size = try keeper.size(of: segment)
      gain.size &+= size
      if !pinned.contains(segment) { gain.bytes &+= size }
    }
    return gain
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

extension PersistentStore {
  /// Removes segments without blobs, if the commits that emptied them are durable.
  ///
  /// A removal that fails is repeated later; it is no error of the commit before.
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
  /// The number of blobs that are taken out of the map in one commit.
  private static var droppedCount: Int { 4096 }

  /// Removes blobs from the map that only states referred to which are no longer kept. It looks for them in a snapshot, while
  /// others write.
  ///
  /// - Complexity: O(blobs) if there may be such blobs, otherwise O(1).
  func dropUnreferencedBlobs() throws(StoreError) {
    guard backend.blobs.keeper != nil else { return }
    let blobs = entities.blobs
    let trees = try backend.trees()
    guard try blobs.header(in: trees)?.mayHaveUnreferenced == true else { return }
    var found: [BlobIdentity] = []
    try blobs.forEach(in: trees) { identity, entry in
      if entry.references == 0 { found.append(identity) }
      return true
    }
    var rest = found[...]
    repeat {
      let slice = rest.prefix(Self.droppedCount)
      rest = rest.dropFirst(slice.count)
      let isLast = rest.isEmpty
      try commit { trees throws(StoreError) in
        guard !trees.keepsStates, let session = trees.blobSession else { return }
        let accounts = BlobAccounts(trees, blobs, session)
        for identity in slice {
          guard let entry = try accounts.entry(of: identity), entry.references == 0 else {
            continue
          }
          try accounts.remove(identity, entry)
        }
        guard isLast, var header = try blobs.header(in: .transaction(trees)) else { return }
        header.mayHaveUnreferenced = false
        try header.put(into: trees, blobs)
      }
    } while !rest.isEmpty
    removeEmptiedSegments()
  }
}

/// Counts the references to all blobs again after a migration or a rollback, which replace rows without counting.
///
/// Both note in the same commit that the count is due. Until it is done no record changes:
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
  /// - Parameter entities: Of the store's present version.
  /// - Complexity: all rows with external fields are read, and all of the map.
  /// - Throws: `.corrupt`, and errors of a commit: then it stays due.
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
      let history = HistoryReferences(entities, in: before)
      try BlobCount(entities.all, history, in: before).compare(with: blobs) {
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
