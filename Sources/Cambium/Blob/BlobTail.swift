/// The bytes after the frames of a blob: the checksum and the place of each.
///
///     ┌ skippable frame ──────────────┬ skippable frame: seek table ────────────────────────────────┐
///     │ 184d2a5c │ size │ checksum… │ 184d2a5e │ size │ (size, length)… │ (size, 0) │ count │0│magic │
///     └──────────┴──────┴───────────┴──────────┴──────┴─────────────────┴───────────┴───────┴─┴──────┘
///
/// The second is the table of zstd's seekable format, whose last entry is that of the first. So stock tools recognize a
/// blob that was cut out of its segment and can begin in its middle.
struct BlobTail: Equatable, Sendable {
  static let checksumsMagic: UInt32 = 0x184d_2a5c
  static let seekTableMagic: UInt32 = 0x184d_2a5e
  static let seekTableFooterMagic: UInt32 = 0x8f92_eab1
  /// The number of frames, a byte that says that the table has no checksums of its own, and the magic.
  private static let footerSize = 9

  /// A frame as the tail describes it.
  struct Frame: Equatable, Sendable {
    let size: UInt32
    let checksum: Checksum
  }

  private(set) var frames: [Frame] = []
  /// How much content the frames hold.
  private(set) var length = 0

  var size: Int { BlobLayout.tailSize(frames: frames.count) }

  /// Takes in the next frame.
  mutating func append(_ frame: Frame, length: Int) {
    frames.append(frame)
    self.length += length
  }

  /// The tail as it is written.
  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(size)
    encodeChecksums(to: &bytes)
    bytes.append(integer: Self.seekTableMagic)
    bytes.append(integer: UInt32(8 * (frames.count + 1) + Self.footerSize))
    for (index, frame) in frames.enumerated() {
      bytes.append(integer: frame.size)
      bytes.append(integer: UInt32(Self.length(of: index, in: length)))
    }
    bytes.append(integer: UInt32(8 + 4 * frames.count))
    bytes.append(integer: UInt32(0))
    bytes.append(integer: UInt32(frames.count + 1))
    bytes.append(0)
    bytes.append(integer: Self.seekTableFooterMagic)
    return bytes
  }

  private func encodeChecksums(to bytes: inout [UInt8]) {
    bytes.append(integer: Self.checksumsMagic)
    bytes.append(integer: UInt32(4 * frames.count))
    for frame in frames { bytes.append(integer: frame.checksum.rawValue) }
  }

  /// How much content of `length` bytes is in the frame with this index.
  static func length(of index: Int, in length: Int) -> Int {
    min(BlobLayout.frameLength, length - index * BlobLayout.frameLength)
  }
}

// MARK: - Reading

extension BlobTail {
  /// Reads the tail of the blob at `place`, whose bounds were checked.
  ///
  /// - Throws: `.corrupt` unless every byte is what the writer of such a blob writes.
  init(
    decoding bytes: RawSpan, of identity: BlobIdentity, at place: BlobPlace, seed: BlobSeed
  ) throws(StoreError) {
    var reader = ByteReader(bytes, at: place.corruptPlace, invariant: .blobTail)
    guard Checksum.ofTail(bytes, of: identity, seed: seed) == place.checksum else {
      throw reader.fault("the tail's checksum is not that of the reference")
    }
    let count = BlobLayout.frameCount(length: Int(clamping: place.length))
    try reader.expect(Self.checksumsMagic, "checksums")
    try reader.expect(UInt32(4 * count), "size of the checksums")
    var checksums = ByteReader(
      try reader.run(4 * count), at: place.corruptPlace, invariant: .blobTail)
    try reader.expect(Self.seekTableMagic, "seek table")
    try reader.expect(UInt32(8 * (count + 1) + Self.footerSize), "size of the seek table")
    frames.reserveCapacity(count)
    for index in 0..<count {
      let length = Self.length(of: index, in: Int(place.length))
      let size = try reader.integer(UInt32.self)
      guard size > 0, size <= BlobLayout.frameSizeMax(length: length) else {
        throw reader.fault("frame \(index) of \(length) bytes of content has \(size)")
      }
      try reader.expect(UInt32(length), "length of frame \(index)")
      let checksum = Checksum(rawValue: try checksums.integer(UInt32.self))
      append(Frame(size: size, checksum: checksum), length: length)
    }
    try Self.expectEnd(count, of: &reader)
    guard frames.reduce(UInt64(size), { $0 + UInt64($1.size) }) == place.size else {
      throw reader.fault("the frames do not fill the \(place.size) bytes of the blob")
    }
  }

  /// The entry of the checksums, and the end of a seek table.
  private static func expectEnd(_ count: Int, of reader: inout ByteReader) throws(StoreError) {
    try reader.expect(UInt32(8 + 4 * count), "entry of the checksums")
    try reader.expect(UInt32(0), "length of the checksums' content")
    try reader.expect(UInt32(count + 1), "number of frames")
    try reader.expect(UInt8(0), "descriptor")
    try reader.expect(seekTableFooterMagic, "end of the seek table")
    guard reader.remaining == 0 else { throw reader.fault("there is something after the tail") }
  }
}

extension ByteReader {
  fileprivate mutating func expect<Value: FixedWidthInteger & BitwiseCopyable>(
    _ value: Value, _ what: String
  ) throws(StoreError) {
    let found = try integer(Value.self)
    guard found == value else { throw fault("\(what): \(found) where \(value) belongs") }
  }
}

// MARK: - Checksums

extension Checksum {
  /// The checksum of a frame of a blob.
  ///
  ///     ┌ blob seed ┬ identity ┬ index ┐┌ frame, compressed ─┄
  ///     │ 8         │ 16       │ 8     ││
  ///     └───────────┴──────────┴───────┘└────────────────────┄
  ///
  /// The first part keeps a whole, valid frame from being taken for another, of this or of another blob.
  static func ofFrame(
    _ frame: RawSpan, index: Int, of identity: BlobIdentity, seed: BlobSeed
  ) -> Checksum {
    of(frame, UInt64(index), identity, seed)
  }

  /// The checksum of a blob's tail: as that of a frame, with an index that no frame has.
  static func ofTail(_ tail: RawSpan, of identity: BlobIdentity, seed: BlobSeed) -> Checksum {
    of(tail, .max, identity, seed)
  }

  private static func of(
    _ bytes: RawSpan, _ index: UInt64, _ identity: BlobIdentity, _ seed: BlobSeed
  ) -> Checksum {
    var checksum = Checksum()
    checksum.update(seed.rawValue)
    checksum.update(identity.low)
    checksum.update(identity.high)
    checksum.update(index)
    checksum.update(bytes)
    return checksum
  }
}
