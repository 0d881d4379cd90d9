/// Entries in the order they came, kept to be sorted by key.
///
/// They lie in chunks that never move, each at a multiple of eight bytes, so that 32 bits say where
/// one is: ten million entries cost 40 MB beside their bytes.
@safe struct UnsortedEntries: ~Copyable {
  /// Where an entry is, in units of eight bytes over all chunks. In the order of appending.
  typealias Place = UInt32

  static let chunkSize = ChunkPool.chunkSize
  private static var unit: Int { EntryBytes.unit }

  private let pool: ChunkPool
  private var chunks: [UnsafeMutableRawPointer] = unsafe []
  private var used = UnsortedEntries.chunkSize
  private(set) var places: [Place] = []
  /// The length of what all keys begin with.
  private(set) var prefixLength = Int.max
  /// True if each key is above the one that came before it.
  private(set) var isAscending = true

  /// - Parameter pool: Where chunks are from, and go in the end.
  init(in pool: ChunkPool = ChunkPool(keepingUpTo: 0)) {
    self.pool = pool
  }

  private var chunkCount: Int { unsafe chunks.count }

  deinit {
    for index in 0..<chunkCount { unsafe pool.give(chunks[index]) }
  }

  /// Adds an entry.
  ///
  /// - Precondition: key and value are within the limits of a tree, and all entries within 32 GiB.
  mutating func append(_ key: RawSpan, _ value: RawSpan) {
    append(key, RawSpan(), value, tag: 0)
  }

  /// Adds an entry whose value comes in two parts, and with it a number that comes back with it.
  ///
  /// - Precondition: that of the other one.
  @inline(__always)
  mutating func append(_ key: RawSpan, _ start: RawSpan, _ value: RawSpan, tag: UInt16) {
    let size = EntryBytes.size(key.byteCount, start.byteCount + value.byteCount)
    let place = makeRoom(size)
    let chunk = unsafe chunks[chunks.count - 1]
    var bytes = unsafe MutableRawSpan(_unsafeStart: chunk + used, byteCount: size)
    EntryBytes.write(key, start, value, tag: tag, to: &bytes, at: 0)
    used += size
    if isAscending, let last = places.last { isAscending = self.key(last).compare(key) < 0 }
    places.append(place)
    shortenPrefix(to: key)
  }

  /// Adds all entries of a batch, with a number that comes back with each.
  ///
  /// - Precondition: the batch is not empty and fits a chunk, and all entries are within 32 GiB.
  mutating func append(_ batch: borrowing EntryBatch, tag: UInt16) {
    let start = makeRoom(batch.byteCount)
    let chunk = unsafe chunks[chunks.count - 1]
    var bytes = unsafe MutableRawSpan(_unsafeStart: chunk + used, byteCount: batch.byteCount)
    bytes.copy(batch.entries, to: 0)
    if tag != 0 {
      for place in batch.places { EntryBytes.store(tag, of: &bytes, at: Int(place) * Self.unit) }
    }
    used += batch.byteCount
    if isAscending, let last = places.last { isAscending = key(last).compare(batch.key(0)) < 0 }
    isAscending = isAscending && batch.isAscending
    for place in batch.places { places.append(start &+ place) }
    // Keys that ascend have in common what the first and the last have.
    let differing = batch.isAscending ? [0, batch.count - 1] : Array(0..<batch.count)
    for index in differing { shortenPrefix(to: batch.key(index)) }
  }

  private mutating func makeRoom(_ size: Int) -> Place {
    precondition(size <= Self.chunkSize, "an entry fits a chunk")
    if used + size > Self.chunkSize {
      unsafe chunks.append(pool.take())
      used = 0
    }
    return unsafe Place((chunks.count - 1) * (Self.chunkSize / Self.unit) + used / Self.unit)
  }

  private mutating func shortenPrefix(to key: RawSpan) {
    guard prefixLength > 0, let first = places.first else { return }
    prefixLength = self.key(first).commonPrefix(with: key, atMost: prefixLength)
  }

  @_lifetime(borrow self)
  @inline(__always)
  func key(_ place: Place) -> RawSpan {
    EntryBytes.key(entry(place))
  }

  @_lifetime(borrow self)
  @inline(__always)
  func value(_ place: Place) -> RawSpan {
    EntryBytes.value(entry(place))
  }

  @inline(__always)
  func tag(_ place: Place) -> UInt16 { EntryBytes.tag(entry(place)) }

  /// The keys that came first and last; `nil` if there are no entries.
  var ends: (first: [UInt8], last: [UInt8])? {
    guard let first = places.first, let last = places.last else { return nil }
    return (key(first).array(), key(last).array())
  }

  /// The chunk's bytes from an entry's beginning on.
  @_lifetime(borrow self)
  @inline(__always)
  private func entry(_ place: Place) -> RawSpan {
    let unitsPerChunk = Place(Self.chunkSize / Self.unit)
    let chunk = unsafe chunks[Int(place / unitsPerChunk)]
    let offset = Int(place % unitsPerChunk) * Self.unit
    let bytes = unsafe RawSpan(
      _unsafeStart: UnsafeRawPointer(chunk) + offset, byteCount: Self.chunkSize - offset)
    return unsafe _overrideLifetime(bytes, borrowing: self)
  }

  /// Asks the processor for the beginning of an entry.
  @inline(__always)
  func prefetch(_ place: Place, _ count: Int) {
    let bytes = entry(place)
    bytes.prefetch(0, min(count, bytes.byteCount))
  }

  /// Replaces the order of the places.
  mutating func reorder(_ body: (borrowing UnsortedEntries, inout [Place]) -> Void) {
    var places: [Place] = []
    swap(&places, &self.places)
    body(self, &places)
    swap(&places, &self.places)
  }
}
