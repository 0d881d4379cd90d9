/// The puts into one tree that no run holds yet, in the order they came.
final class RunBuffer {
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var entries: UnsortedEntries
  /// The schema versions of the entries, by their tags.
  @exclusivity(unchecked) private var versions: [UInt32] = []
  @exclusivity(unchecked) private var containsLargePuts = false

  @exclusivity(unchecked) private var size = 0

  init(in pool: ChunkPool) {
    unsafe entries = UnsortedEntries(in: pool)
  }

  /// What an entry takes in memory, its place in the order included.
  static func size(_ key: RawSpan, _ value: RawSpan) -> Int {
    EntryBytes.size(key.byteCount, 1 + value.byteCount) + MemoryLayout<UnsortedEntries.Place>.size
  }

  /// What all entries of a batch take in memory, their places included.
  static func size(_ batch: borrowing PutBatch) -> Int {
    batch.entries.byteCount + batch.count * MemoryLayout<UnsortedEntries.Place>.size
  }

  /// The bytes of all entries, as `size` has them.
  var byteCount: Int { unsafe size }
  /// Whether a value is in pages of its own.
  var hasLargePuts: Bool { unsafe containsLargePuts }
  var isEmpty: Bool { unsafe entries.places.isEmpty }
  /// Whether each key is above the one put before it.
  var isAscending: Bool { unsafe entries.isAscending }

  /// The keys that were put first and last; `nil` if none was.
  var ends: (first: [UInt8], last: [UInt8])? { unsafe entries.ends }

  /// Adds a put. False if there are so many schema versions that no more can be told apart.
  @inline(__always)
  func append(
    _ kind: RunValue.Kind, _ key: RawSpan, _ value: RawSpan, schemaVersion: UInt32
  ) -> Bool {
    if unsafe versions.last != schemaVersion, !note(schemaVersion) { return false }
    let start: [1 of UInt8] = [kind.rawValue]
    unsafe entries.append(key, start.span.bytes, value, tag: UInt16(versions.count - 1))
    unsafe size &+= Self.size(key, value)
    if kind == .largePut { unsafe containsLargePuts = true }
    return true
  }

  /// Adds the puts of a batch, which is not empty. False as for one put.
  func append(_ batch: borrowing PutBatch, schemaVersion: UInt32) -> Bool {
    if unsafe versions.last != schemaVersion, !note(schemaVersion) { return false }
    unsafe entries.append(batch.entries, tag: UInt16(versions.count - 1))
    unsafe size &+= Self.size(batch)
    return true
  }

  private func note(_ version: UInt32) -> Bool {
    if unsafe versions.count == 1 << 16 { return false }
    unsafe versions.append(version)
    return true
  }

  /// Repeats the puts, in the order they came.
  func repeatPuts(_ body: (_ key: RawSpan, _ value: RawSpan, _ schemaVersion: UInt32) -> Void) {
    for place in unsafe entries.places {
      let version = unsafe versions[Int(entries.tag(place))]
      body(unsafe entries.key(place), RunValue.content(unsafe entries.value(place)), version)
    }
  }

  /// The puts, sorted, of those of one key the last. The buffer is empty then.
  func takeSorted() -> SortedPuts {
    var taken = UnsortedEntries()
    unsafe swap(&taken, &entries)
    return unsafe SortedPuts(taken.sorted(), versions)
  }
}

/// A buffer's puts in the order of their keys. If no value is in pages of its own, a merge can take them as they are.
struct SortedPuts: SortedInput, ~Copyable {
  private var entries: SortedEntries
  private let versions: [UInt32]

  fileprivate init(_ entries: consuming SortedEntries, _ versions: [UInt32]) {
    self.entries = entries
    self.versions = versions
  }

  /// The number of puts, several of one key included.
  var countMax: Int { entries.countMax }

  /// Goes back before the first put.
  mutating func rewind() { entries.rewind() }

  @inline(__always)
  mutating func advance() throws(StoreError) -> Bool { try entries.advance() }

  var key: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { entries.key }
  }

  /// The operation, as `RunValue` reads it.
  var stored: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { entries.value }
  }

  var value: RawSpan {
    @_lifetime(borrow self)
    @inline(__always)
    get { RunValue.content(stored) }
  }

  var isRemoval: Bool { false }
  var schemaVersion: UInt32 { versions[Int(entries.tag)] }
}

/// A buffer's puts as one of several inputs.
final class BufferInput {
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var puts: SortedPuts

  init(_ puts: consuming SortedPuts) {
    unsafe self.puts = puts
  }

  var countMax: Int { unsafe puts.countMax }

  /// Goes back before the first put.
  func rewind() { unsafe puts.rewind() }

  @inline(__always)
  func advance() throws(StoreError) -> Bool { try unsafe puts.advance() }

  var key: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(puts.key, borrowing: self) }
  }

  var stored: RawSpan {
    @_lifetime(borrow self)
    get { unsafe _overrideLifetime(puts.stored, borrowing: self) }
  }

  var schemaVersion: UInt32 { unsafe puts.schemaVersion }
}
