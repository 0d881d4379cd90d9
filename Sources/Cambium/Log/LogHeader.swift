/// The first two blocks of a file of the log, one copy each: whose file it is, which use is being made
/// of it, and from what state that use begins.
///
///     offset  0          8        12        16        32      36      40   48    56
///             ┌──────────┬────────┬─────────┬─────────┬───────┬───────┬────┬─────┬─────────────────┐
///             │CAMBLOG␀  │version │checksum │identity │number │blocks │use │salt │opening sequence │
///             └──────────┴────────┴─────────┴─────────┴───────┴───────┴────┴─────┴─────────────────┘
///             64        88      120             124
///             ┌─────────┬───────┬───────────────┬─ ─ ─
///             │features │footer │opening blocks │ zero up to 4096
///             └─────────┴───────┴───────────────┴─ ─ ─
///
/// The checksum covers all of the block but itself, in every version of the format, so that a newer
/// header can be told from a damaged one. A use's header is written once, when the use begins.
struct LogHeader: Equatable, Sendable {
  /// "CAMBLOG" and a zero byte.
  static let magic: UInt64 = 0x0047_4f4c_424d_4143
  static let size = 124

  var identity: StoreIdentity
  /// The number in the file's name.
  var number: UInt32
  /// The blocks of the file that the use may take, header included.
  var blocks: UInt32
  /// Counts the uses of both files; 0 is that of a file never used.
  var use: UInt64
  /// Random: tells the use's frames from those of all others.
  var salt: UInt64
  /// The last sequence that is in the footer or the opening: the use's own follow it.
  var openingSequence: UInt64
  /// The newest true one when the use began.
  var footer: FooterReference
  var features = Features()
  /// The blocks of the opening, right behind the header.
  var openingBlocks: UInt32 = 0

  /// The block behind the opening.
  var openingEnd: UInt32 { UInt32(LogLayout.headerBlocks) + openingBlocks }

  /// What a copy of the header has to carry; the use's first frame says it too, as what comes before.
  var checksum: Checksum {
    var block = AlignedBuffer(count: Layout.blockSize)
    var span = block.mutableBytes(0..<Layout.blockSize)
    return encode(to: &span)
  }
}

extension LogHeader {
  /// Writes a whole block, and returns its checksum.
  @discardableResult
  func encode(to block: inout MutableRawSpan) -> Checksum {
    block.zero(0..<Layout.blockSize)
    block.store(Self.magic, at: 0)
    block.store(SegmentHeader.formatVersion, at: 8)
    block.store(identity.low, at: 16)
    block.store(identity.high, at: 24)
    block.store(number, at: 32)
    block.store(blocks, at: 36)
    block.store(use, at: 40)
    block.store(salt, at: 48)
    block.store(openingSequence, at: 56)
    features.encode(to: &block, at: 64)
    var reference: [UInt8] = []
    footer.encode(to: &reference)
    block.copy(reference.rawSpan, to: 88)
    block.store(openingBlocks, at: 120)
    let checksum = Checksum.ofBlock(block.bytes, but: 12)
    block.store(checksum.rawValue, at: 12)
    return checksum
  }

  /// Reads copy `copy`, 0 or 1, of the header of file `number`, in the store at `path`.
  ///
  /// - Throws: `.newerFormat`, `.corrupt`.
  init(decoding block: RawSpan, number: UInt32, copy: UInt32, path: String) throws(StoreError) {
    var reader = ByteReader(
      block, at: .log(file: number, block: copy), invariant: .logHeader)
    guard block.byteCount == Layout.blockSize else {
      throw reader.fault("the file is too short for a header")
    }
    let magic = try reader.integer(UInt64.self)
    guard magic == Self.magic else { throw reader.fault("it does not begin as a log does") }
    let version = try reader.integer(UInt32.self)
    guard try reader.integer(UInt32.self) == Checksum.ofBlock(block, but: 12).rawValue else {
      throw reader.fault("the header's checksum does not match")
    }
    guard version <= SegmentHeader.formatVersion else {
      throw .newerFormat(
        path: path,
        reason: "format \(version), and this program knows \(SegmentHeader.formatVersion)")
    }
    guard version > 0 else { throw reader.fault("there is no format 0") }
    try self.init(reading: &reader, path: path)
    guard self.number == number else {
      throw reader.fault("it is file \(self.number) under another name")
    }
    try checkBounds(reader)
    guard block.extracting(droppingFirst: Self.size).isZero else {
      throw reader.fault("there is something behind the header")
    }
  }

  /// Reads the fields behind the checksum.
  private init(reading reader: inout ByteReader, path: String) throws(StoreError) {
    identity = StoreIdentity(
      low: try reader.integer(UInt64.self), high: try reader.integer(UInt64.self))
    number = try reader.integer(UInt32.self)
    blocks = try reader.integer(UInt32.self)
    use = try reader.integer(UInt64.self)
    salt = try reader.integer(UInt64.self)
    openingSequence = try reader.integer(UInt64.self)
    features = try Features(reading: &reader)
    try features.checkReadable(path: path, subject: "its log")
    footer = try FooterReference(reading: &reader)
    openingBlocks = try reader.integer(UInt32.self)
  }

  private func checkBounds(_ reader: borrowing ByteReader) throws(StoreError) {
    let free = LogLayout.blocksMin...LogLayout.blocksMax
    guard free.contains(Int(blocks)) else { throw reader.fault("a file of \(blocks) blocks") }
    guard openingBlocks <= blocks - UInt32(LogLayout.headerBlocks) else {
      throw reader.fault("an opening of \(openingBlocks) blocks in a file of \(blocks)")
    }
    guard use <= LogLayout.sequenceMax, openingSequence <= LogLayout.sequenceMax else {
      throw reader.fault("use \(use), behind sequence \(openingSequence)")
    }
    let covered = footer.coveredSequence
    guard openingBlocks > 0 ? openingSequence > covered : openingSequence == covered else {
      throw reader.fault(
        "\(openingBlocks) blocks of opening lead from \(covered) to \(openingSequence)")
    }
  }
}

extension LogHeader: FileHeader {
  static var invariant: Invariant { .logHeader }
  var place: StoreError.CorruptPlace { .log(file: number, block: 0) }

  func fill(_ block: inout MutableRawSpan) { encode(to: &block) }

  static func read(_ block: RawSpan, for header: LogHeader) throws(StoreError) -> LogHeader {
    try LogHeader(decoding: block, number: header.number, copy: 0, path: "")
  }
}
