/// The first block of a page segment: the kind of the file, and its store.
///
///     offset  0          8        12       16         32        36        40        64      80       88
///             ┌──────────┬────────┬────────┬──────────┬─────────┬─────────┬─────────┬───────┬────────┬─ ─ ─
///             │CAMBIUM␀  │version │number  │identity  │reserved │checksum │features │key    │created │ reserved
///             └──────────┴────────┴────────┴──────────┴─────────┴─────────┴─────────┴───────┴────────┴─ ─ ─
///
/// The checksum covers all of the block but itself, and its reserved bytes may be anything: a later version that puts
/// something there says so by a feature. Nothing in the block changes after it was written, so it can be trusted whatever
/// happened to the rest of the file.
struct SegmentHeader: Equatable, Sendable {
  /// The part of the block that has a meaning.
  static let size = 88
  /// "CAMBIUM" and a zero byte.
  static let magic: UInt64 = 0x004d_5549_424d_4143
  /// The version of the format. It grows only when a file of one version is unreadable to another
  /// in a way that `Features` cannot say.
  static let formatVersion: UInt32 = 1

  let identity: StoreIdentity
  let number: UInt32
  let features: Features

  func encode(to block: inout MutableRawSpan) {
    block.zero(0..<Layout.blockSize)
    block.store(Self.magic, at: 0)
    block.store(Self.formatVersion, at: 8)
    block.store(number, at: 12)
    block.store(identity.low, at: 16)
    block.store(identity.high, at: 24)
    // No key, and no time when it was made.
    features.encode(to: &block, at: 40)
    block.store(Checksum.ofBlock(block.bytes, but: 36).rawValue, at: 36)
  }

  /// Reads the header of segment `number`, whose first block this is, in the store at `path`.
  init(decoding block: RawSpan, number: UInt32, path: String) throws(StoreError) {
    func fault(_ reason: String) -> StoreError {
      .corrupt(.segment(number), invariant: .segmentHeader, reason: reason)
    }
    guard block.byteCount >= Layout.blockSize else {
      throw fault("the file is too short for a header")
    }
    guard block.load(0, as: UInt64.self) == Self.magic else {
      throw fault("it does not begin as a page segment does")
    }
    let version = block.load(8, as: UInt32.self)
    let checksum = Checksum.ofBlock(block, but: 36)
    guard block.load(36, as: UInt32.self) == checksum.rawValue else {
      throw fault("the header's checksum does not match")
    }
    guard version <= Self.formatVersion else {
      throw .newerFormat(
        path: path, reason: "format \(version), and this program knows \(Self.formatVersion)")
    }
    guard version > 0 else { throw fault("there is no format 0") }
    features = Features(decoding: block, at: 40)
    try features.checkReadable(path: path, subject: "segment \(number)")
    let found = block.load(12, as: UInt32.self)
    guard found == number else { throw fault("it is segment \(found) under another name") }
    self.number = number
    identity = StoreIdentity(
      low: block.load(16, as: UInt64.self), high: block.load(24, as: UInt64.self))
  }

  init(identity: StoreIdentity, number: UInt32, features: Features = Features()) {
    self.identity = identity
    self.number = number
    self.features = features
  }
}

extension SegmentHeader: FileHeader {
  static var invariant: Invariant { .segmentHeader }
  var place: StoreError.CorruptPlace { .segment(number) }

  func fill(_ block: inout MutableRawSpan) { encode(to: &block) }

  static func read(_ block: RawSpan, for header: SegmentHeader) throws(StoreError) -> SegmentHeader
  {
    try SegmentHeader(decoding: block, number: header.number, path: "")
  }
}
