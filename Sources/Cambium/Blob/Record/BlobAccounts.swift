/// Changes the map of blobs and the accounts with it, in a transaction.
///
/// The map has a blob as long as a row refers to it, or while states are kept from before migrations, which may.
struct BlobAccounts {
  let trees: TransactionTrees
  let blobs: BlobTrees
  let session: BlobSession

  private var reading: TreeAccess { .transaction(trees) }

  init(_ trees: TransactionTrees, _ blobs: BlobTrees, _ session: BlobSession) {
    self.trees = trees
    self.blobs = blobs
    self.session = session
  }

  func entry(of identity: BlobIdentity) throws(StoreError) -> BlobEntry? {
    try blobs.entry(of: identity, in: reading)
  }

  /// The blob with a content, if a field that deduplicates has one.
  func identity(with hash: SipHash128) throws(StoreError) -> BlobIdentity? {
    var value: [UInt8] = []
    guard
      try reading.copyValue(of: hash.key.rawSpan, in: blobs.contents, to: &value)
    else { return nil }
    return BlobIdentity(key: value.rawSpan)
  }
}

// MARK: References

extension BlobAccounts {
  /// Adds references to the count of a blob. A blob that the transaction has written is added to the map, and one that it has
  /// removed is added again.
  ///
  /// - Throws: `.corrupt` (R5) where there is no such blob; `.full`, `.io`.
  func retain(_ identity: BlobIdentity, count: UInt64 = 1) throws(StoreError) {
    if let entry = try entry(of: identity) {
      try setReferences(entry.references &+ count, of: identity, entry)
    } else if let content = session.contents[identity] {
      try add(identity, at: content.place, content.hash, references: count)
    } else if let entry = session.released[identity] {
      try add(identity, at: entry.place, entry.hash, references: count)
    } else {
      throw .corrupt(
        .entry(tree: BlobTrees.mapName, key: identity.key), invariant: .rowExternal,
        reason: "a row refers to a blob that is not there")
    }
  }

  /// Counts so many references less. A blob that nothing refers to goes.
  ///
  /// - Throws: `.corrupt` (X1) where there are not so many; `.full`, `.io`.
  func release(_ identity: BlobIdentity, count: UInt64 = 1) throws(StoreError) {
    guard let entry = try entry(of: identity), entry.references >= count else {
      throw .corrupt(
        .entry(tree: BlobTrees.mapName, key: identity.key), invariant: .blobMap,
        reason: "fewer references to it are counted than rows have")
    }
    try setReferences(entry.references - count, of: identity, entry)
  }

  /// Says how many references there are.
  func setReferences(
    _ count: UInt64, of identity: BlobIdentity, _ entry: BlobEntry
  ) throws(StoreError) {
    if count == 0, !trees.keepsStates { return try remove(identity, entry) }
    if count == entry.references { return }
    if count == 0, var header = try blobs.header(in: reading), !header.mayHaveUnreferenced {
      header.mayHaveUnreferenced = true
      try header.put(into: trees, blobs)
    }
    var entry = entry
    entry.references = count
    try put(identity.key, entry.encoded(), in: blobs.map)
  }
}

// MARK: Coming, moving, going

extension BlobAccounts {
  private func add(
    _ identity: BlobIdentity, at place: BlobPlace, _ hash: SipHash128?, references: UInt64
  ) throws(StoreError) {
    // Meanwhile another blob with the same content may have taken its place.
    var shared = hash
    if let hash, session.released[identity] != nil, try self.identity(with: hash) != nil {
      shared = nil
    }
    let entry = BlobEntry(place: place, references: references, hash: shared)
    try put(identity.key, entry.encoded(), in: blobs.map)
    try put(place.key, identity.key, in: blobs.places)
    if let shared { try put(shared.key, identity.key, in: blobs.contents) }
    try enter(place)
    session.released[identity] = nil
  }

  /// Says that a blob is somewhere else.
  func move(_ entry: BlobEntry, to content: BlobContent) throws(StoreError) {
    var moved = entry
    moved.place = content.place
    try put(content.identity.key, moved.encoded(), in: blobs.map)
    _ = try trees.remove(entry.place.key.rawSpan, in: blobs.places)
    try put(content.place.key, content.identity.key, in: blobs.places)
    try enter(content.place)
    try leave(entry.place)
  }

  func remove(_ identity: BlobIdentity, _ entry: BlobEntry) throws(StoreError) {
    _ = try trees.remove(identity.key.rawSpan, in: blobs.map)
    _ = try trees.remove(entry.place.key.rawSpan, in: blobs.places)
    if let hash = entry.hash, try self.identity(with: hash) == identity {
      _ = try trees.remove(hash.key.rawSpan, in: blobs.contents)
    }
    try leave(entry.place)
    session.released[identity] = entry
  }

  private func enter(_ place: BlobPlace) throws(StoreError) {
    var account = try blobs.account(of: place.segment, in: reading) ?? SegmentAccount()
    account.end = max(account.end, place.end)
    account.live &+= place.size
    try put(SegmentAccount.key(of: place.segment), account.encoded(), in: blobs.segments)
    session.use(place)
    guard var header = try blobs.header(in: reading), header.highest < place.segment else { return }
    header.highest = place.segment
    try header.put(into: trees, blobs)
  }

  private func leave(_ place: BlobPlace) throws(StoreError) {
    let key = SegmentAccount.key(of: place.segment)
    guard var account = try blobs.account(of: place.segment, in: reading),
      account.live >= place.size
    else {
      throw .corrupt(
        .entry(tree: BlobTrees.segmentsName, key: key), invariant: .blobAccounts,
        reason: "it has fewer bytes of blobs than blobs that are in it")
    }
    account.live -= place.size
    if account.live > 0 { return try put(key, account.encoded(), in: blobs.segments) }
    _ = try trees.remove(key.rawSpan, in: blobs.segments)
    session.empty(place.segment)
  }

  private func put(
    _ key: [UInt8], _ value: [UInt8], in tree: TreeSlot
  ) throws(StoreError) {
    try trees.put(key.rawSpan, value.rawSpan, in: tree)
  }
}

extension BlobHeader {
  func put(into trees: TransactionTrees, _ blobs: BlobTrees) throws(StoreError) {
    let (key, bytes) = (Self.key, encoded())
    try trees.put(key.rawSpan, bytes.rawSpan, in: blobs.segments)
  }
}

extension SipHash128 {
  /// Its key in `blobs.contents`.
  var key: [UInt8] {
    var key: [UInt8] = []
    key.append(integer: low)
    key.append(integer: high)
    return key
  }
}
