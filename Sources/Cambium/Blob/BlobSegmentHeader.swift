/// The first block of a blob segment: the kind of the file, and the seed of its checksums.
///
///     offset  0          8        12       16         24        28        32        56      72       80
///             ┌──────────┬────────┬────────┬──────────┬─────────┬─────────┬─────────┬───────┬────────┬─ ─ ─
///             │CAMBLOB␀  │version │number  │blob seed │checksum │reserved │features │key    │created │ reserved
///             └──────────┴────────┴────────┴──────────┴─────────┴─────────┴─────────┴───────┴────────┴─ ─ ─
///
/// As in the header of a page segment, the checksum covers all of the block but itself, and reserved bytes may be anything.
/// Nothing in the block changes after it was written.
struct BlobSegmentHeader: Equatable, Sendable {
  /// The part of the block that has a meaning.
  static let size = 80
  /// "CAMBLOB" and a zero byte.
  static let magic: UInt64 = 0x0042_4f4c_424d_4143

  let seed: BlobSeed
  let number: UInt32
  let features: Features

  init(seed: BlobSeed, number: UInt32, features: Features = Features()) {
    self.seed = seed
    self.number = number
    self.features = features
  }

  func encode(to block: inout MutableRawSpan) {
    block.zero(0..<Layout.blockSize)
    block.store(Self.magic, at: 0)
    block.store(SegmentHeader.formatVersion, at: 8)
    block.store(number, at: 12)
    block.store(seed.rawValue, at: 16)
    features.encode(to: &block, at: 32)
    block.store(Checksum.ofBlock(block.bytes, but: 24).rawValue, at: 24)
  }

  /// Reads the header of segment `number`, whose first block this is, in the store at `path`.
  init(decoding block: RawSpan, number: UInt32, path: String) throws(StoreError) {
    func fault(_ reason: String) -> StoreError {
      .corrupt(.blobSegment(number), invariant: .blobSegmentHeader, reason: reason)
    }
    guard block.byteCount >= Layout.blockSize else {
      throw fault("the file is too short for a header")
    }
    guard block.load(0, as: UInt64.self) == Self.magic else {
      throw fault("it does not begin as a blob segment does")
    }
    guard block.load(24, as: UInt32.self) == Checksum.ofBlock(block, but: 24).rawValue else {
      throw fault("the header's checksum does not match")
    }
    let version = block.load(8, as: UInt32.self)
    guard version <= SegmentHeader.formatVersion else {
      throw .newerFormat(
        path: path,
        reason: "format \(version), and this program knows \(SegmentHeader.formatVersion)")
    }
    guard version > 0 else { throw fault("there is no format 0") }
    features = Features(decoding: block, at: 32)
    try features.checkReadable(path: path, subject: "blob segment \(number)")
    let found = block.load(12, as: UInt32.self)
    guard found == number else { throw fault("it is segment \(found) under another name") }
    self.number = number
    seed = BlobSeed(rawValue: block.load(16, as: UInt64.self))
  }
}

extension BlobSegmentHeader: FileHeader {
  static var invariant: Invariant { .blobSegmentHeader }
  var place: StoreError.CorruptPlace { .blobSegment(number) }

  func fill(_ block: inout MutableRawSpan) { encode(to: &block) }

  static func read(
    _ block: RawSpan, for header: BlobSegmentHeader
  ) throws(StoreError) -> BlobSegmentHeader {
    try BlobSegmentHeader(decoding: block, number: header.number, path: "")
  }
}
