/// Has the blobs of a damaged store follow its records to a new one: copies their files as far as they are there, and
/// rebuilds the map for the blobs that rows refer to.
///
/// A blob that rows refer to, and whose entry or tail is lost, gets a place that is too short for any blob, in a segment for all
/// of these. So reading it throws, and records that have it can be changed and deleted like others.
struct BlobSalvage {
  private let backend: any StoreBackend
  private let blobs: BlobTrees
  private let files: SalvagedSegments

  /// - Parameter backend: Of the new store, whose trees were copied.
  init(
    from source: PosixFileSystem, to target: PosixFileSystem, _ backend: any StoreBackend
  ) throws(StoreError) {
    self.backend = backend
    blobs = try BlobTrees(backend.names)
    files = SalvagedSegments(source, target)
  }

  /// - Returns: how many blobs of the new store are damaged or gone.
  /// - Complexity: all rows with external fields are read, and all blobs; of each blob some bytes are in memory.
  /// - Throws: `.full`, `.io`, `.limitExceeded`; `.corrupt` where rows cannot be read.
  func run() throws(StoreError) -> Int {
    guard let schema = try StoredSchemas(backend).newest() else { return 0 }
    let known = try backend.trees().count(in: blobs.segments)
    if known == 0, !schema.hasExternalFields { return 0 }
    try MigrationMark.discard(in: backend)
    try DeferredOpening(backend).usePending()
    let entities = try Entities(schema, model: nil, names: backend.names)
    let trees = try backend.trees()
    var map = try SalvagedMap(of: entities, blobs, in: trees)
    let seed = try seed()
    map.lose(files.unreadable(map.entries, seed))
    try map.placeLost(behind: try files.highest)
    try files.copy(map.entries, seed)
    try map.write(to: backend, blobs, seed)
    return try files.countDamaged(map.entries, seed)
  }

  /// The seed of the checksums of all blobs, which the map and every segment state.
  private func seed() throws(StoreError) -> BlobSeed {
    let trees = try backend.trees()
    do throws(StoreError) {
      if let header = try blobs.header(in: trees) { return header.seed }
    } catch {
      guard case .corrupt = error else { throw error }
    }
    return try files.seed ?? BlobSeed(rawValue: backend.random())
  }
}

/// The map of blobs, from the rows and the remains of the old one.
private struct SalvagedMap {
  /// By identity.
  private(set) var entries: [(identity: BlobIdentity, entry: BlobEntry)] = []
  private var highest: UInt32 = 0

  init(
    of entities: Entities, _ blobs: BlobTrees, in trees: TreeAccess
  ) throws(StoreError) {
    var found: [BlobIdentity: (reference: BlobReference, count: UInt64)] = [:]
    func note(_ reference: BlobReference) {
      found[reference.identity, default: (reference, 0)].count += 1
    }
    try BlobCount(entities.all, nil, in: trees).forEachReference { note($0) }
    do throws(StoreError) {
      try HistoryReferences(entities, in: trees).forEachReference(in: trees) { note($0) }
    } catch {
      // Of a damaged history, the part before the damage counts.
      guard case .corrupt = error else { throw error }
    }
    let sorted = found.sortedRarely { $0.key.key.lexicographicallyPrecedes($1.key.key) }
    for (identity, row) in sorted {
      if var entry = try Self.entry(of: identity, blobs, in: trees), row.reference.isOf(entry.place)
      {
        entry.references = row.count
        highest = max(highest, entry.place.segment)
        entries.append((identity, entry))
      } else {
        let reference = row.reference
        entries.append(
          (identity, BlobEntry(lost: reference.length, reference.checksum, count: row.count)))
      }
    }
  }

  private static func entry(
    of identity: BlobIdentity, _ blobs: BlobTrees, in trees: TreeAccess
  ) throws(StoreError) -> BlobEntry? {
    do throws(StoreError) { return try blobs.entry(of: identity, in: trees) } catch {
      guard case .corrupt = error else { throw error }
      return nil
    }
  }

  /// Notes that blobs cannot be read, by their offsets in `entries`.
  mutating func lose(_ offsets: [Int]) {
    for offset in offsets {
      let entry = entries[offset].entry
      entries[offset].entry = BlobEntry(
        lost: entry.place.length, entry.place.checksum, count: entry.references)
    }
  }

  /// Gives all lost blobs places in a segment that does not exist yet: one after the other, as each place is of one blob.
  mutating func placeLost(behind number: UInt32) throws(StoreError) {
    highest = max(highest, number)
    let lost = entries.indices.filter { entries[$0].entry.place.segment == BlobEntry.noSegment }
    if lost.isEmpty { return }
    guard highest < .max else { throw .limitExceeded(.segmentNumber, found: Int(highest) + 1) }
    highest += 1
    for (offset, index) in lost.enumerated() {
      entries[index].entry.place.segment = highest
      entries[index].entry.place.offset = UInt64(BlobLayout.firstOffset + offset)
    }
  }

  /// Writes it to a store in place of the old one.
  func write(
    to backend: any StoreBackend, _ blobs: BlobTrees, _ seed: BlobSeed
  ) throws(StoreError) {
    var header = BlobHeader(seed: seed)
    header.highest = highest
    try backend.commit { trees throws(StoreError) in
      for tree in [blobs.map, blobs.places, blobs.contents, blobs.segments] {
        try trees.removeAll(in: tree)
      }
      for (identity, entry) in entries {
        try trees.put(identity.key, entry.encoded(), in: blobs.map)
        try trees.put(entry.place.key, identity.key, in: blobs.places)
        if let hash = entry.hash { try trees.put(hash.key, identity.key, in: blobs.contents) }
      }
      for (segment, account) in accounts {
        try trees.put(SegmentAccount.key(of: segment), account.encoded(), in: blobs.segments)
      }
      try header.put(into: trees, blobs)
    }
  }

  private var accounts: [(UInt32, SegmentAccount)] {
    var accounts: [UInt32: SegmentAccount] = [:]
    for (_, entry) in entries {
      let place = entry.place
      accounts[place.segment, default: SegmentAccount()].live &+= place.size
      accounts[place.segment, default: SegmentAccount()].end = max(
        accounts[place.segment]?.end ?? 0, place.end)
    }
    return accounts.sortedRarely { $0.key < $1.key }.map { ($0.key, $0.value) }
  }
}

extension BlobEntry {
  /// The number of no segment.
  fileprivate static var noSegment: UInt32 { 0 }

  /// Creates the entry of a blob of which only the references in rows are known: it has no place yet.
  fileprivate init(lost length: UInt64, _ checksum: Checksum, count: UInt64) {
    let place = BlobPlace(
      segment: Self.noSegment, offset: 0, size: 1, length: length, checksum: checksum)
    self.init(place: place, references: count, hash: nil)
  }
}

extension TransactionTrees {
  fileprivate func put(
    _ key: [UInt8], _ value: [UInt8], in tree: TreeSlot
  ) throws(StoreError) {
    try put(key.rawSpan, value.rawSpan, in: tree)
  }
}

/// The blob segments of a damaged store, and their copies.
struct SalvagedSegments {
  private let source: PosixFileSystem
  private let target: PosixFileSystem

  /// The bytes that are copied at once.
  private static var pieceSize: Int { 1 << 20 }

  init(_ source: PosixFileSystem, _ target: PosixFileSystem) {
    self.source = source
    self.target = target
  }

  /// The highest that has a file; 0 where none has.
  var highest: UInt32 {
    get throws(StoreError) { try source.blobSegments().last ?? 0 }
  }

  /// The seed in the first header that is whole; nil if none is.
  var seed: BlobSeed? {
    get throws(StoreError) {
      for number in try source.blobSegments() {
        if let seed = seed(of: number) { return seed }
      }
      return nil
    }
  }

  private func seed(of number: UInt32) -> BlobSeed? {
    do throws(StoreError) {
      let file = try source.open(.blobs(number), .read, at: .blobSegmentOpen)
      let block = try BlobMemory(count: Layout.blockSize)
      var span = block.mutableBytes(0..<Layout.blockSize)
      let count = try file.read(into: &span, from: 0, at: .blobHeaderRead)
      return try BlobSegmentHeader(
        decoding: block.bytes(0..<count), number: number, path: source.path
      ).seed
    } catch { return nil }
  }

  /// Returns the offsets of the blobs whose tails are not whole: without its tail no blob can be read.
  func unreadable(
    _ entries: [(identity: BlobIdentity, entry: BlobEntry)], _ seed: BlobSeed
  ) -> [Int] {
    var segments: [UInt32: BlobSegment] = [:]
    return entries.indices.filter { offset in
      let (identity, place) = (entries[offset].identity, entries[offset].entry.place)
      if place.segment != BlobEntry.noSegment, segments[place.segment] == nil,
        let file = try? source.open(.blobs(place.segment), .read, at: .blobSegmentOpen)
      {
        segments[place.segment] = BlobSegment(number: place.segment, file: file)
      }
      guard let segment = segments[place.segment] else { return true }
      let reader = BlobFrameReader(
        identity, at: place, in: segment, of: source, seed: seed, crew: BlobCrew(size: 0))
      return (try? reader.check(deep: false)) == nil
    }
  }

  /// Copies the blobs that are not lost, each to the same place: a file of the damaged store may be of any size.
  ///
  /// - Throws: `.full`, `.io` of the copies.
  func copy(
    _ entries: [(identity: BlobIdentity, entry: BlobEntry)], _ seed: BlobSeed
  ) throws(StoreError) {
    var segments: [UInt32: [BlobPlace]] = [:]
    for (_, entry) in entries { segments[entry.place.segment, default: []].append(entry.place) }
    for number in segments.keys.sortedRarely() { try copy(number, segments[number] ?? [], seed) }
    try target.syncDirectory(at: .blobDirectorySync)
  }

  /// Copies a segment. Its header is rewritten from known values, since the old one may be damaged.
  private func copy(
    _ number: UInt32, _ places: [BlobPlace], _ seed: BlobSeed
  ) throws(StoreError) {
    let copy = try target.open(.blobs(number), .create, at: .blobSegmentCreate)
    let memory = try BlobMemory(count: Self.pieceSize)
    try copy.write(BlobSegmentHeader(seed: seed, number: number), at: .blobHeaderWrite)
    if let file = try? source.open(.blobs(number), .read, at: .blobSegmentOpen) {
      for place in places {
        var offset = Int(place.offset)
        let end = Int(place.end)
        while offset < end {
          let count = read(file, offset..<end, into: memory)
          if count == 0 { break }
          try copy.write(memory.bytes(0..<count), from: offset, at: .blobWrite)
          offset += count
        }
      }
    }
    // Lost blobs have no bytes, and their accounts end after their places.
    let end = places.reduce(0) { max($0, Int($1.end)) }
    if try copy.size(at: .blobSegmentOpen) < end { try copy.truncate(to: end, at: .blobTruncate) }
    try copy.sync(at: .blobSync)
  }

  /// Returns the number of bytes read, up to a piece: none at the end, and if they cannot be read.
  private func read(
    _ file: any File, _ range: Range<Int>, into memory: BlobMemory
  ) -> Int {
    var span = memory.mutableBytes(0..<min(memory.count, range.count))
    let offset = range.lowerBound
    do throws(StoreError) {
      return try file.read(into: &span, from: offset, at: .blobRead)
    } catch { return 0 }
  }

  /// Returns the number of blobs that cannot be read completely in the copies.
  ///
  /// - Throws: `.io`.
  func countDamaged(
    _ entries: [(identity: BlobIdentity, entry: BlobEntry)], _ seed: BlobSeed
  ) throws(StoreError) -> Int {
    let files = BlobFiles(in: target, seed: seed, from: .max)
    var count = 0
    for (identity, entry) in entries {
      do throws(StoreError) {
        try files.reader(of: identity, at: entry.place).check(deep: true)
      } catch {
        guard case .corrupt = error else { throw error }
        count += 1
      }
    }
    return count
  }
}
