/// What a frame of the log holds.
enum FrameKind: UInt8, Sendable, CaseIterable {
  /// Commits one after the other, each its operations behind their size.
  case commits = 1
  /// The operations of one overlay that stands for a range of sequences.
  case overlay = 2
  /// A reference to a footer, which makes it true.
  case footer = 3
  /// Nothing: it says that what is before it was flushed.
  case seal = 4

  /// Whether a frame of this kind stands for sequences of its own.
  var hasOperations: Bool { self == .commits || self == .overlay }
}

/// The first 48 bytes of every frame.
///
///     offset  0         4         8     16     20              24      28    29    32     40
///             ┌─────────┬─────────┬─────┬──────┬───────────────┬───────┬─────┬─────┬──────┬─────┐
///             │checksum │previous │salt │block │flushedThrough │length │kind │zero │first │last │
///             └─────────┴─────────┴─────┴──────┴───────────────┴───────┴─────┴─────┴──────┴─────┘
///
/// The checksum covers the store's identity, the rest of the header and the payload.
struct FrameHeader: Equatable, Sendable {
  static let size = 48

  /// That of the frame before; of a use's first frame, that of the use's header.
  var previous: Checksum
  /// That of the use.
  var salt: UInt64
  /// Where the frame begins.
  var block: UInt32
  /// All blocks below this one were known to be flushed when the frame was written.
  var flushedThrough: UInt32
  /// The bytes of the payload.
  var length: UInt32
  /// A `FrameKind`, or what a newer version or damage put there.
  var kind: UInt8
  /// The first and the last sequence that the frame is about.
  var first: UInt64
  var last: UInt64

  /// What the frame takes; no more than 2^20.
  var blockCount: UInt32 { UInt32(LogLayout.blocks(payload: Int(length))) }

  /// Writes the header in front of the payload that `frame` holds, and returns the checksum.
  func encode(to frame: inout MutableRawSpan, in store: StoreIdentity) -> Checksum {
    frame.store(previous.rawValue, at: 4)
    frame.store(salt, at: 8)
    frame.store(block, at: 16)
    frame.store(flushedThrough, at: 20)
    frame.store(length, at: 24)
    frame.store(UInt32(kind), at: 28)
    frame.store(first, at: 32)
    frame.store(last, at: 40)
    let checksum = Self.checksum(of: frame.bytes.part(0, Self.size + Int(length)), in: store)
    frame.store(checksum.rawValue, at: 0)
    return checksum
  }

  /// Takes apart the header at the beginning of `block`, which holds it whole. It may say anything.
  init(decoding block: RawSpan) {
    previous = Checksum(rawValue: block.load(4, as: UInt32.self))
    salt = block.load(8, as: UInt64.self)
    self.block = block.load(16, as: UInt32.self)
    flushedThrough = block.load(20, as: UInt32.self)
    length = block.load(24, as: UInt32.self)
    kind = block.load(28, as: UInt8.self)
    first = block.load(32, as: UInt64.self)
    last = block.load(40, as: UInt64.self)
  }

  /// What `frame`, header and payload without padding, has to carry in its first bytes.
  static func checksum(of frame: RawSpan, in store: StoreIdentity) -> Checksum {
    var checksum = store.checksum
    checksum.update(frame.extracting(droppingFirst: Checksum.size))
    return checksum
  }

  init(
    _ kind: FrameKind, sequences: ClosedRange<UInt64>, length: Int, previous: Checksum,
    salt: UInt64, block: UInt32, flushedThrough: UInt32
  ) {
    self.previous = previous
    self.salt = salt
    self.block = block
    self.flushedThrough = flushedThrough
    self.length = UInt32(length)
    self.kind = kind.rawValue
    first = sequences.lowerBound
    last = sequences.upperBound
  }
}
