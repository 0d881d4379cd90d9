/// Entries in the order they came, kept to be sorted by key.
///
/// They lie in chunks that never move, each at a multiple of eight bytes, so that 32 bits say where
/// one is: ten million entries cost 40 MB beside their bytes.
@safe struct UnsortedEntries: ~Copyable {
  /// Where an entry is, in units of eight bytes over all chunks. In the order of appending.
  typealias Place = UInt32

  static let chunkSize = ChunkPool.chunkSize
  private static let unit = 8
  /// key length u16, tag u16, value length u32; key, value
  private static let headerSize = 8

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
    let valueCount = start.byteCount + value.byteCount
    let size = Self.headerSize + key.byteCount + valueCount
    let place = makeRoom(size)
    let chunk = unsafe chunks[chunks.count - 1]
    var bytes = unsafe MutableRawSpan(_unsafeStart: chunk + used, byteCount: size)
    bytes.store(UInt16(key.byteCount), at: 0)
    bytes.store(tag, at: 2)
    bytes.store(UInt32(valueCount), at: 4)
    bytes.copy(key, to: Self.headerSize)
    bytes.copy(start, to: Self.headerSize + key.byteCount)
    bytes.copy(value, to: Self.headerSize + key.byteCount + start.byteCount)
    used += (size + Self.unit - 1) / Self.unit * Self.unit
    shortenPrefix(to: key)
    if isAscending, let last = places.last { isAscending = self.key(last).compare(key) < 0 }
    places.append(place)
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
    if prefixLength == 0 { return }
    guard let first = places.first else {
      prefixLength = key.byteCount
      return
    }
    prefixLength = self.key(first).commonPrefix(with: key, atMost: prefixLength)
  }

  @_lifetime(borrow self)
  @inline(__always)
  func key(_ place: Place) -> RawSpan {
    let bytes = entry(place)
    return bytes.part(Self.headerSize, Int(bytes.load(0, as: UInt16.self)))
  }

  @_lifetime(borrow self)
  @inline(__always)
  func value(_ place: Place) -> RawSpan {
    let bytes = entry(place)
    return bytes.part(
      Self.headerSize + Int(bytes.load(0, as: UInt16.self)),
      Int(bytes.load(4, as: UInt32.self)))
  }

  @inline(__always)
  func tag(_ place: Place) -> UInt16 { entry(place).load(2, as: UInt16.self) }

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
