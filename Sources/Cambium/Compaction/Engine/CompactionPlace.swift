/// The scope of a compaction.
enum CompactionScope: UInt8, Sendable {
  /// All there is, so that all nodes become full.
  case whole = 1
  /// Segments that are garbage to a good part, those with the least that lives first.
  case segments = 2
}

/// Where a compaction continues: its entry among a footer's pending work.
///
/// A pass goes over all trees in the order of their names, over each in the order of its keys, and moves the pages
/// in its segments. Pages before the place were moved already; pages that are written meanwhile lie in newer segments.
struct CompactionPlace: Equatable, Sendable {
  /// The kind of pending work.
  static let kind: UInt16 = 1
  /// The segments that one pass empties at most, so that the place fits into any footer.
  static let segmentsMax = 1024

  let scope: CompactionScope
  /// The passes empty segments below this one: those that were there when the first began.
  let below: UInt32
  let segments: SegmentSet
  /// The tree to continue with, or the next after it.
  var tree = ""
  /// The first key there that was not looked at.
  var key: [UInt8] = []
}

// MARK: - Bytes

extension CompactionPlace {
  /// The place that a footer has; nil if no compaction is pending.
  ///
  /// - Throws: `.corrupt`.
  init?(in footer: Footer, at position: PagePosition) throws(StoreError) {
    guard let work = footer.pendingWork.first(where: { $0.kind == Self.kind }) else { return nil }
    try self.init(decoding: work.cursor.rawSpan, at: position)
  }

  private init(decoding bytes: RawSpan, at position: PagePosition) throws(StoreError) {
    var reader = ByteReader(bytes, at: .page(position), invariant: .compactionCursor)
    guard let scope = CompactionScope(rawValue: try reader.integer(UInt8.self)) else {
      throw reader.fault("a compaction of unknown scope")
    }
    self.scope = scope
    below = try reader.integer(UInt32.self)
    var numbers: [UInt32] = []
    let count = Int(try reader.integer(UInt16.self))
    for _ in 0..<count {
      let number = try reader.integer(UInt32.self)
      if let last = numbers.last, last >= number { throw reader.fault("segments do not ascend") }
      numbers.append(number)
    }
    segments = SegmentSet(numbers)
    tree = try reader.shortString()
    let length = Int(try reader.integer(UInt16.self))
    key = try reader.run(length).array()
    guard reader.remaining == 0 else { throw reader.fault("it is longer than it says") }
  }

  func encoded() throws(StoreError) -> [UInt8] {
    var bytes: [UInt8] = [scope.rawValue]
    bytes.append(integer: below)
    bytes.append(integer: UInt16(segments.numbers.count))
    for number in segments.numbers { bytes.append(integer: number) }
    try bytes.append(shortString: tree)
    bytes.append(integer: UInt16(key.count))
    bytes.append(contentsOf: key)
    return bytes
  }
}

extension Footer {
  /// Says where the compaction continues, or that none is pending.
  mutating func setCompaction(_ place: CompactionPlace?) throws(StoreError) {
    pendingWork.removeAll { $0.kind == CompactionPlace.kind }
    guard let place else { return }
    pendingWork.append(
      PendingWork(kind: CompactionPlace.kind, cursor: try place.encoded(), trees: []))
  }
}
