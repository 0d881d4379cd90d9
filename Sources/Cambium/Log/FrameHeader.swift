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

/// The first 64 bytes of every frame.
///
///     offset  0         8         16    24     28              32      36    37     38        40     48    56
///             ┌─────────┬─────────┬─────┬──────┬───────────────┬───────┬─────┬──────┬─────────┬──────┬─────┬─────┐
///             │checksum │previous │salt │block │flushedThrough │length │kind │flags │reserved │first │last │time │
///             └─────────┴─────────┴─────┴──────┴───────────────┴───────┴─────┴──────┴─────────┴──────┴─────┴─────┘
///
/// The checksum covers the store's identity, the rest of the header and the payload.
struct FrameHeader: Equatable, Sendable {
  static let size = 64

  /// That of the frame before; of a use's first frame, that of the use's header.
  var previous: PageChecksum
  /// That of the use.
  var salt: UInt64
  /// Where the frame begins.
  var block: UInt32
  /// All blocks below this one were known to be flushed when the frame was written.
  var flushedThrough: UInt32
  /// The bytes of the payload.
  var length: UInt32
  /// A `FrameKind`, or one of a newer version.
  var kind: UInt8
  /// Properties of the payload. This version defines no flag, and refuses a frame that has one.
  var flags: UInt8 = 0
  /// The first and the last sequence that the frame is about.
  var first: UInt64
  var last: UInt64
  /// The nanoseconds from the beginning of 1970 to the moment when the frame was made. None is before that of the frame
  /// before it, whatever the writer's clock said.
  var time: UInt64

  /// What the frame takes; no more than 2^20.
  var blockCount: UInt32 { UInt32(LogLayout.blocks(payload: Int(length))) }

  /// Writes the header in front of the payload that `frame` holds, and returns the checksum.
  func encode(to frame: inout MutableRawSpan, in store: StoreIdentity) -> PageChecksum {
    frame.store(previous.rawValue, at: 8)
    frame.store(salt, at: 16)
    frame.store(block, at: 24)
    frame.store(flushedThrough, at: 28)
    frame.store(length, at: 32)
    frame.store(UInt32(kind) | UInt32(flags) << 8, at: 36)
    frame.store(first, at: 40)
    frame.store(last, at: 48)
    frame.store(time, at: 56)
    let checksum = Self.checksum(of: frame.bytes.part(0, Self.size + Int(length)), in: store)
    frame.store(checksum.rawValue, at: 0)
    return checksum
  }

  /// Takes apart the header at the beginning of `block`, which holds it whole. It may say anything.
  init(decoding block: RawSpan) {
    previous = PageChecksum(rawValue: block.load(8, as: UInt64.self))
    salt = block.load(16, as: UInt64.self)
    self.block = block.load(24, as: UInt32.self)
    flushedThrough = block.load(28, as: UInt32.self)
    length = block.load(32, as: UInt32.self)
    kind = block.load(36, as: UInt8.self)
    flags = block.load(37, as: UInt8.self)
    first = block.load(40, as: UInt64.self)
    last = block.load(48, as: UInt64.self)
    time = block.load(56, as: UInt64.self)
  }

  /// What `frame`, header and payload without padding, has to carry in its first bytes.
  static func checksum(of frame: RawSpan, in store: StoreIdentity) -> PageChecksum {
    var checksum = store.pageChecksum
    checksum.update(frame.extracting(droppingFirst: PageChecksum.size))
    return checksum
  }

  init(
    _ kind: FrameKind, sequences: ClosedRange<UInt64>, length: Int, previous: PageChecksum,
    salt: UInt64, block: UInt32, flushedThrough: UInt32, time: UInt64
  ) {
    self.previous = previous
    self.salt = salt
    self.block = block
    self.flushedThrough = flushedThrough
    self.length = UInt32(length)
    self.kind = kind.rawValue
    first = sequences.lowerBound
    last = sequences.upperBound
    self.time = time
  }
}
