/// Two blocks of a file of the log, one copy each: the store of the file, the use that is made of it, and the state from
/// which that use begins.
///
///     offset  0          8        12      16        32        40        64      72     80              88    96
///             ┌──────────┬────────┬───────┬─────────┬─────────┬─────────┬───────┬──────┬───────────────┬─────┬─ ─ ─
///             │CAMBLOG␀  │version │blocks │identity │checksum │features │number │epoch │first sequence │salt │
///             └──────────┴────────┴───────┴─────────┴─────────┴─────────┴───────┴──────┴───────────────┴─────┴─ ─ ─
///             96      128   136             140           144     152   156
///             ┌───────┬─────┬───────────────┬─────────────┬───────┬─────┬─ ─ ─
///             │footer │time │opening blocks │earlier uses │before │file │ reserved up to 4096
///             └───────┴─────┴───────────────┴─────────────┴───────┴─────┴─ ─ ─
///
/// The checksum covers all of the block but itself, in every version of the format, so that a newer
/// header can be told from a damaged one. Its reserved bytes may be anything: a later version that puts something there says
/// so by a feature. They are kept, since the first frame of the use has the checksum of the whole block. The header of a use
/// is written once, when the use begins.
struct LogHeader: Equatable, Sendable {
  /// "CAMBLOG" and a zero byte.
  static let magic: UInt64 = 0x0047_4f4c_424d_4143
  /// The part of the block that has a meaning.
  static let size = 156
  /// The place of the checksum, which it does not cover.
  static let checksumOffset = 32

  var identity: StoreIdentity
  /// The number of the use, which counts those of all files; 0 is that of a file never used.
  var number: UInt64
  /// A fence: a log with a lower epoch than that of another file or a footer is of before its store was handed over.
  var epoch: UInt64 = 0
  /// The blocks of the file that the use may take, header included.
  var blocks: UInt32
  /// Random: tells the use's frames from those of all others.
  var salt: UInt64
  /// The sequence of the first commit of the use itself: those before it are in the footer or the opening.
  var firstSequence: UInt64
  /// The newest true one when the use began.
  var footer: FooterReference
  var features = Features()
  /// The time of the last frame before the use, in nanoseconds since 1970; 0 if there was none.
  var time: UInt64 = 0
  /// The blocks of the opening, from the block of the first frame on.
  var openingBlocks: UInt32 = 0
  /// The number of uses right before this one that hold what neither the footer nor an opening does.
  var earlierUses: UInt32 = 0
  /// The checksum of the last frame of the use before, or of its header if it has no frame; 0 if there was no use before.
  var before = PageChecksum(rawValue: 0)
  /// The rest of the block, if a later version put something there; else empty.
  var reserved: [UInt8] = []

  /// The number in the name of the file.
  var file: UInt32 = 0
  /// False in a header that was written before headers had the number.
  var namesFile = true

  /// The sequence after which the frames of the use begin.
  var start: UInt64 { openingBlocks > 0 ? footer.coveredSequence : firstSequence - 1 }
  /// The block after the opening.
  var openingEnd: UInt32 { UInt32(LogLayout.firstFrameBlock) + openingBlocks }

  /// The checksum of the block. The first frame of the use has it, too, as that of what comes before.
  var checksum: PageChecksum {
    var block = AlignedBuffer(count: Layout.blockSize)
    var span = block.mutableBytes(0..<Layout.blockSize)
    return encode(to: &span)
  }
}

extension LogHeader {
  /// The header of the next use, in a file of this number: without an opening, and without earlier uses.
  func next(in file: Int, salt: UInt64) -> LogHeader {
    var next = self
    next.number += 1
    next.salt = salt
    next.openingBlocks = 0
    next.earlierUses = 0
    next.file = UInt32(file)
    next.namesFile = true
    return next
  }

  /// Writes a whole block, and returns its checksum.
  @discardableResult
  func encode(to block: inout MutableRawSpan) -> PageChecksum {
    block.zero(0..<Layout.blockSize)
    block.store(Self.magic, at: 0)
    block.store(SegmentHeader.formatVersion, at: 8)
    block.store(blocks, at: 12)
    block.store(identity.low, at: 16)
    block.store(identity.high, at: 24)
    features.encode(to: &block, at: 40)
    block.store(number, at: 64)
    block.store(epoch, at: 72)
    block.store(firstSequence, at: 80)
    block.store(salt, at: 88)
    var reference: [UInt8] = []
    footer.encode(to: &reference)
    block.copy(reference.rawSpan, to: 96)
    block.store(time, at: 128)
    block.store(openingBlocks, at: 136)
    block.store(earlierUses, at: 140)
    block.store(before.rawValue, at: 144)
    block.store(namesFile ? file + 1 : 0, at: 152)
    block.copy(reserved.rawSpan, to: Self.size)
    let checksum = PageChecksum.ofBlock(block.bytes, but: Self.checksumOffset)
    block.store(checksum.rawValue, at: Self.checksumOffset)
    return checksum
  }

  /// Reads copy `copy`, 0 or 1, of the header of the file with the number `file` in its name, in the store at `path`.
  ///
  /// - Throws: `.newerFormat`, `.corrupt`.
  init(decoding block: RawSpan, file: UInt32, copy: Int, path: String) throws(StoreError) {
    var reader = ByteReader(
      block, at: .log(file: file, block: LogLayout.copyBlocks[copy]), invariant: .logHeader)
    guard block.byteCount == Layout.blockSize else {
      throw reader.fault("the file is too short for a header")
    }
    guard try reader.integer(UInt64.self) == Self.magic else {
      throw reader.fault("it does not begin as a log does")
    }
    let version = try reader.integer(UInt32.self)
    guard
      block.load(Self.checksumOffset, as: UInt64.self)
        == PageChecksum.ofBlock(block, but: Self.checksumOffset).rawValue
    else { throw reader.fault("the header's checksum does not match") }
    guard version <= SegmentHeader.formatVersion else {
      throw .newerFormat(
        path: path,
        reason: "format \(version), and this program knows \(SegmentHeader.formatVersion)")
    }
    guard version > 0 else { throw reader.fault("there is no format 0") }
    try self.init(reading: &reader, path: path)
    let named = try reader.integer(UInt32.self)
    namesFile = named != 0
    guard !namesFile || named == file + 1 else {
      throw reader.fault("it is the header of log-\(named - 1)")
    }
    self.file = file
    try checkBounds(reader)
    let rest = block.extracting(droppingFirst: Self.size)
    if !rest.isZero { reserved = rest.array() }
  }

  /// Reads the fields after the version.
  private init(reading reader: inout ByteReader, path: String) throws(StoreError) {
    blocks = try reader.integer(UInt32.self)
    identity = StoreIdentity(
      low: try reader.integer(UInt64.self), high: try reader.integer(UInt64.self))
    _ = try reader.integer(UInt64.self)
    features = try Features(reading: &reader)
    try features.checkReadable(path: path, subject: "its log")
    number = try reader.integer(UInt64.self)
    epoch = try reader.integer(UInt64.self)
    firstSequence = try reader.integer(UInt64.self)
    salt = try reader.integer(UInt64.self)
    footer = try FooterReference(reading: &reader)
    time = try reader.integer(UInt64.self)
    openingBlocks = try reader.integer(UInt32.self)
    earlierUses = try reader.integer(UInt32.self)
    before = PageChecksum(rawValue: try reader.integer(UInt64.self))
  }

  private func checkBounds(_ reader: borrowing ByteReader) throws(StoreError) {
    let free = LogLayout.blocksMin...LogLayout.blocksMax
    guard free.contains(Int(blocks)) else { throw reader.fault("a file of \(blocks) blocks") }
    guard openingBlocks <= blocks - UInt32(LogLayout.firstFrameBlock) else {
      throw reader.fault("an opening of \(openingBlocks) blocks in a file of \(blocks)")
    }
    let covered = footer.coveredSequence
    let bound = LogLayout.sequenceMax
    guard number <= bound, epoch <= bound, covered <= bound, (1...bound + 1).contains(firstSequence)
    else {
      throw reader.fault("use \(number) of epoch \(epoch), from sequence \(firstSequence) on")
    }
    guard UInt64(earlierUses) < max(1, number), earlierUses == 0 || openingBlocks == 0 else {
      throw reader.fault(
        "use \(number) needs \(earlierUses) earlier ones, and has \(openingBlocks) blocks of opening"
      )
    }
    let hasMore = openingBlocks > 0 || earlierUses > 0
    guard hasMore ? firstSequence > covered + 1 : firstSequence == covered + 1 else {
      throw reader.fault(
        "\(openingBlocks) blocks of opening and \(earlierUses) earlier uses lead from \(covered) to"
          + " before \(firstSequence)")
    }
  }
}

extension LogHeader: FileHeader {
  static var invariant: Invariant { .logHeader }
  var place: StoreError.CorruptPlace { .log(file: file, block: 0) }

  func fill(_ block: inout MutableRawSpan) { encode(to: &block) }

  static func read(_ block: RawSpan, for header: LogHeader) throws(StoreError) -> LogHeader {
    try LogHeader(decoding: block, file: header.file, copy: 0, path: "")
  }
}
