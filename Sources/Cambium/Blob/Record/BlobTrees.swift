/// The trees that say what a store knows of its blobs. They change in the commits that change rows, so they are
/// true in every state.
///
/// | tree             | key                        | value                                       |
/// |------------------|----------------------------|---------------------------------------------|
/// | `blobs`          | identity                   | `BlobEntry`                                 |
/// | `blobs.places`   | segment, offset            | identity                                    |
/// | `blobs.contents` | hash                       | identity: only of fields that deduplicate   |
/// | `blobs.segments` | segment                    | `SegmentAccount`; under no key `BlobHeader` |
struct BlobTrees: Hashable, Sendable {
  let map: TreeSlot
  let places: TreeSlot
  let contents: TreeSlot
  let segments: TreeSlot

  static let mapName = "blobs"
  static let placesName = "blobs.places"
  static let contentsName = "blobs.contents"
  static let segmentsName = "blobs.segments"

  /// All of them; a store that goes back to an older state keeps these as they are.
  static let names = [mapName, contentsName, placesName, segmentsName]

  init(_ names: TreeNames) throws(StoreError) {
    map = try names.slot(of: Self.mapName)
    places = try names.slot(of: Self.placesName)
    contents = try names.slot(of: Self.contentsName)
    segments = try names.slot(of: Self.segmentsName)
  }
}

/// The map's entry of a blob.
struct BlobEntry: Hashable, Sendable {
  var place: BlobPlace
  /// The number of external values that refer to it, in all rows of the present state.
  var references: UInt64
  /// The hash of its content, if equal contents share it.
  let hash: SipHash128?

  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    place.encode(to: &bytes)
    bytes.append(integer: references)
    if let hash {
      bytes.append(integer: hash.low)
      bytes.append(integer: hash.high)
    }
    return bytes
  }

  init(place: BlobPlace, references: UInt64, hash: SipHash128?) {
    self.place = place
    self.references = references
    self.hash = hash
  }

  /// - Throws: `.corrupt` (X1).
  init(decoding bytes: RawSpan, of key: [UInt8]) throws(StoreError) {
    var reader = ByteReader(
      bytes, at: .entry(tree: BlobTrees.mapName, key: key), invariant: .blobMap)
    place = try BlobPlace(decoding: &reader)
    references = try reader.integer(UInt64.self)
    if reader.remaining == 0 {
      hash = nil
    } else {
      let low = try reader.integer(UInt64.self)
      hash = SipHash128(low: low, high: try reader.integer(UInt64.self))
    }
    guard reader.remaining == 0 else { throw reader.fault("\(reader.remaining) bytes follow it") }
    guard place.size > 0, place.end <= UInt64(Int.max) else {
      throw reader.fault("a blob of \(place.size) bytes cannot be at \(place.offset)")
    }
  }
}

extension BlobPlace {
  /// Its key in `blobs.places`: places of a segment follow one another.
  var key: [UInt8] {
    var key: [UInt8] = []
    key.append(integer: segment.byteSwapped)
    key.append(integer: offset.byteSwapped)
    return key
  }
}

extension BlobIdentity {
  var key: [UInt8] {
    var key: [UInt8] = []
    encode(to: &key)
    return key
  }

  /// - Returns: nil if it is not as long as one.
  init?(key: RawSpan) {
    guard key.byteCount == Self.size else { return nil }
    self.init(low: key.load(0, as: UInt64.self), high: key.load(8, as: UInt64.self))
  }
}

/// The part of a segment that blobs of the map take.
struct SegmentAccount: Hashable, Sendable {
  /// After the last blob that was ever committed in it.
  var end: UInt64 = 0
  /// The bytes of blobs that are in the map.
  var live: UInt64 = 0

  static func key(of segment: UInt32) -> [UInt8] {
    var key: [UInt8] = []
    key.append(integer: segment.byteSwapped)
    return key
  }

  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: end)
    bytes.append(integer: live)
    return bytes
  }

  init() {}

  /// Adds a blob of the map.
  mutating func add(_ place: BlobPlace) {
    end = max(end, place.end)
    live &+= place.size
  }

  /// - Throws: `.corrupt` (X2).
  init(decoding bytes: RawSpan, of key: [UInt8]) throws(StoreError) {
    var reader = ByteReader(
      bytes, at: .entry(tree: BlobTrees.segmentsName, key: key), invariant: .blobAccounts)
    end = try reader.integer(UInt64.self)
    live = try reader.integer(UInt64.self)
    guard reader.remaining == 0, live <= end else {
      throw reader.fault("a segment of \(end) bytes cannot have \(live) of blobs")
    }
  }
}

/// The properties common to all blobs of a store.
struct BlobHeader: Hashable, Sendable {
  static let key: [UInt8] = []

  let seed: BlobSeed
  /// The highest segment that ever had a blob in the map. No number is used again.
  var highest: UInt32
  /// True if references are still to be counted again, since rows were changed as wholes.
  var isCountDue: Bool
  /// True if the map may have blobs that nothing refers to: the last reference was removed while a state was kept.
  var mayHaveUnreferenced = false
  /// The commit in which they were last counted again, which is none of a program's; 0 if they never were.
  var countedIn: UInt64

  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(integer: seed.rawValue)
    bytes.append(integer: highest)
    bytes.append((isCountDue ? 1 : 0) | (mayHaveUnreferenced ? 2 : 0))
    bytes.append(integer: countedIn)
    return bytes
  }

  init(seed: BlobSeed) {
    self.seed = seed
    highest = 0
    isCountDue = false
    countedIn = 0
  }

  /// - Throws: `.corrupt` (X2).
  init(decoding bytes: RawSpan) throws(StoreError) {
    var reader = ByteReader(
      bytes, at: .entry(tree: BlobTrees.segmentsName, key: Self.key), invariant: .blobAccounts)
    seed = BlobSeed(rawValue: try reader.integer(UInt64.self))
    highest = try reader.integer(UInt32.self)
    let flags = try reader.integer(UInt8.self)
    countedIn = try reader.integer(UInt64.self)
    guard flags <= 3, reader.remaining == 0 else {
      throw reader.fault("the header's flags are \(flags)")
    }
    isCountDue = flags & 1 != 0
    mayHaveUnreferenced = flags & 2 != 0
  }
}

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
  /// - Throws: `.corrupt` (X1), `.io`, and errors of `body`.
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
