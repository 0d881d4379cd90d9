/// Reads the frames of a log, first to last: those of the use that it is in, or also those of the uses that this one needs.
///
/// Recovery reads to the end. A process that follows a log while another writes it takes frames only as
/// far as `position.flushedThrough`, which later frames move on, and asks `LogFiles.isSuperseded` both
/// at the end and when something looks damaged: the file may have been begun anew under its eyes.
///
/// - Complexity: linear in the bytes of the frames; at a torn end also in what is left of the file.
struct LogReader: ~Copyable {
  private let files: LogFiles
  /// The files of the uses that are still to be read, in order.
  private var following: ArraySlice<Int>
  /// That of the use that is read.
  private var header: LogHeader
  /// The store's path, for errors.
  private var path: String { files.medium.path }
  private var window: LogWindow
  private(set) var position: LogPosition
  /// Set when `next` has returned nil.
  private(set) var end: LogEnd?
  /// The payload of the last frame, in the window.
  private var held: (block: UInt32, length: Int)?

  /// Reads the use that `files` are in.
  ///
  /// - Parameter position: Where to go on; the beginning of the use where nil.
  init(_ files: LogFiles, from position: LogPosition? = nil) {
    self.init(files, uses: [files.inUse])
    guard let position else { return }
    precondition(position.use == files.header.number, "the position is of another use")
    self.position = position
  }

  /// Reads all that `footer` does not cover, in the use that `files` are in and in those before it.
  ///
  /// - Parameter footer: One that the log names. No other one covers less that is read.
  /// - Throws: `.corrupt` (L9) if a use is not there.
  init(_ files: LogFiles, after footer: FooterReference) throws(StoreError) {
    self.init(files, uses: try files.uses(after: footer)[...])
  }

  private init(_ files: LogFiles, uses: ArraySlice<Int>) {
    self.files = files
    let first = uses.first ?? files.inUse
    following = uses.dropFirst()
    header = files.files[first].header
    window = LogWindow(files.files[first].file, blocks: header.blocks)
    position = LogPosition(header)
  }

  /// The payload of the frame that `next` returned last, checked to the last operation.
  var payload: RawSpan {
    @_lifetime(borrow self)
    get {
      guard let held else { return RawSpan() }
      return window.bytes(held.block, FrameHeader.size + held.length)
        .extracting(droppingFirst: FrameHeader.size)
    }
  }

  /// The next frame; nil at the end, of which `end` then says what it is.
  ///
  /// - Throws: `.corrupt` for damage to what was flushed; `.newerFormat` for a frame of an unknown kind; `.io`.
  mutating func next() throws(StoreError) -> LogFrame? {
    try passReadUses()
    if end != nil { return nil }
    switch try findAgain() {
    case .success(let frame): return try accept(frame)
    case .failure(let fault):
      if !following.isEmpty { throw broken(fault.reason) }
      do throws(StoreError) {
        end = try end(at: position.block, fault)
        return nil
      } catch {
        // A writer may have completed and flushed the frame while the search went on.
        guard case .corrupt = error, case .success(let frame) = try findAgain() else { throw error }
        return try accept(frame)
      }
    }
  }

  /// Where the operations of the frame that `next` returned last are, for errors.
  var place: StoreError.CorruptPlace { place(held?.block ?? position.block) }

  private func place(_ block: UInt32) -> StoreError.CorruptPlace {
    .log(file: header.file, block: block)
  }
}

// MARK: From use to use

extension LogReader {
  /// Goes on with the next use that is to be read, wherever one has been read up to that.
  ///
  /// - Throws: `.corrupt` (L9).
  mutating func passReadUses() throws(StoreError) {
    held = nil
    while try goOn() {}
  }

  /// Goes on with the next use, if this one has been read up to the frame that the next one's header names.
  ///
  /// - Returns: whether it did.
  private mutating func goOn() throws(StoreError) -> Bool {
    guard let next = following.first else { return false }
    let file = files.files[next]
    guard position.block >= header.openingEnd, position.previous == file.header.before else {
      return false
    }
    guard file.header.start == position.lastSequence,
      file.header.footer.coveredSequence >= position.footer.coveredSequence,
      file.header.time >= position.time
    else {
      throw .corrupt(
        .log(file: file.header.file, block: 0), invariant: .logChain,
        reason: "it begins after sequence \(file.header.start), with a footer that covers"
          + " \(file.header.footer.coveredSequence), and the use before it ends with"
          + " \(position.lastSequence)")
    }
    following = following.dropFirst()
    header = file.header
    window = LogWindow(file.file, blocks: header.blocks)
    position.goOn(with: header)
    return true
  }

  /// The error for a use that ends before the next one begins.
  private func broken(_ reason: String) -> StoreError {
    .corrupt(
      place, invariant: .logChain,
      reason: "\(reason), and use \(header.number + 1) needs what was here")
  }
}

// MARK: Whether a frame is there

/// Why there is no frame where one could be.
private struct NoFrame: Error {
  let reason: String
  /// Whether there is something of this use.
  let isOfUse: Bool
}

extension LogReader {
  /// Looks for the frame that has to come next, and again from the file where there is none: it may
  /// have been in the making when it was read, or the read itself was wrong.
  private mutating func findAgain() throws(StoreError) -> Result<FrameHeader, NoFrame> {
    if case .success(let frame) = try find() { return .success(frame) }
    window.drop()
    return try find()
  }

  private mutating func find() throws(StoreError) -> Result<FrameHeader, NoFrame> {
    let block = position.block
    switch try frame(at: block) {
    case .success(let frame):
      guard frame.previous == position.previous else {
        return .failure(NoFrame(reason: "it does not follow the frame before it", isOfUse: true))
      }
      return .success(frame)
    case .failure(let fault): return .failure(fault)
    }
  }

  /// The frame of this use that begins at `block`, whichever comes before it, whole by its checksum.
  private mutating func frame(at block: UInt32) throws(StoreError) -> Result<FrameHeader, NoFrame> {
    guard block < header.blocks else {
      return .failure(NoFrame(reason: "the file ends", isOfUse: false))
    }
    try window.load(block..<block + 1)
    let frame = FrameHeader(decoding: window.bytes(block, FrameHeader.size))
    guard frame.salt == header.salt else {
      return .failure(NoFrame(reason: "it is of another use", isOfUse: false))
    }
    func no(_ reason: String) -> Result<FrameHeader, NoFrame> {
      .failure(NoFrame(reason: reason, isOfUse: true))
    }
    guard frame.block == block else { return no("it says that it is block \(frame.block)") }
    guard frame.blockCount <= header.blocks - block else { return no("it reaches beyond the file") }
    try window.load(block..<block + frame.blockCount)
    let bytes = window.bytes(block, FrameHeader.size + Int(frame.length))
    guard
      FrameHeader.checksum(of: bytes, in: header.identity).rawValue
        == bytes.load(0, as: UInt64.self)
    else { return no("its checksum does not match") }
    return .success(frame)
  }
}

// MARK: What a frame says

extension LogReader {
  /// Takes a frame that is whole and follows the one before it: what it says must be possible.
  private mutating func accept(_ frame: FrameHeader) throws(StoreError) -> LogFrame {
    let isOpening = frame.block < header.openingEnd
    let blocks = frame.block..<frame.block + frame.blockCount
    // Its checksum is right, and it follows the frame before it: a newer version made it.
    guard let kind = FrameKind(rawValue: frame.kind), frame.flags == 0 else {
      throw .newerFormat(
        path: path,
        reason: "block \(frame.block) of \(FileName.log(header.file)) is a frame of kind"
          + " \(frame.kind) with flags \(String(frame.flags, radix: 2))")
    }
    guard frame.first <= frame.last, frame.last <= LogLayout.sequenceMax else {
      throw fault(frame.block, isOpening, "its sequences are \(frame.first) to \(frame.last)")
    }
    let sequences = frame.first...frame.last
    if isOpening {
      try checkOpening(frame, kind, end: blocks.upperBound)
    } else {
      try checkFlush(frame)
    }
    guard frame.time >= position.time else {
      throw fault(frame.block, isOpening, "it is older than the frame before it")
    }
    held = (frame.block, Int(frame.length))
    let footer = try contents(kind, sequences, isOpening, before: blocks.upperBound)
    position.block = blocks.upperBound
    position.previous = PageChecksum(
      rawValue: window.bytes(frame.block, PageChecksum.size).load(0, as: UInt64.self))
    position.time = frame.time
    position.noteFlush(through: frame.flushedThrough)
    if kind != .seal { position.contentEnd = max(position.contentEnd, blocks.upperBound) }
    if isOpening, blocks.upperBound == header.openingEnd { try checkOpeningEnd() }
    return LogFrame(kind: kind, sequences: sequences, blocks: blocks, footer: footer)
  }

  private func fault(_ block: UInt32, _ isOpening: Bool, _ reason: String) -> StoreError {
    .corrupt(place(block), invariant: isOpening ? .logOpening : .logFrame, reason: reason)
  }

  private func checkOpening(
    _ frame: FrameHeader, _ kind: FrameKind, end: UInt32
  ) throws(StoreError) {
    guard kind == .overlay else { throw fault(frame.block, true, "a frame of \(kind)") }
    guard frame.flushedThrough == LogLayout.firstFrameBlock else {
      throw fault(frame.block, true, "it knows of a flush")
    }
    guard end <= header.openingEnd else {
      throw fault(frame.block, true, "it reaches beyond the opening")
    }
  }

  private func checkOpeningEnd() throws(StoreError) {
    guard position.lastSequence == header.firstSequence - 1 else {
      throw fault(
        UInt32(LogLayout.firstFrameBlock), true,
        "it ends with sequence \(position.lastSequence), and the use begins with"
          + " \(header.firstSequence)")
    }
  }

  private func checkFlush(_ frame: FrameHeader) throws(StoreError) {
    guard frame.flushedThrough >= position.flushedThrough, frame.flushedThrough <= frame.block
    else {
      throw fault(
        frame.block, false,
        "it says that all before block \(frame.flushedThrough) was flushed, the frame before"
          + " \(position.flushedThrough)")
    }
  }

  /// Checks the sequences and the payload against the kind, and moves the last sequence on.
  private mutating func contents(
    _ kind: FrameKind, _ sequences: ClosedRange<UInt64>, _ isOpening: Bool, before end: UInt32
  ) throws(StoreError) -> FooterReference? {
    let place = self.place
    switch kind {
    case .commits, .overlay:
      guard sequences.lowerBound > 0, sequences.lowerBound - 1 == position.lastSequence else {
        throw outOfSequence(sequences, isOpening)
      }
      if kind == .commits {
        var commits = CommitReader(payload, sequences: sequences, at: place)
        try commits.check(at: place)
      } else {
        var operations = OperationReader(payload, at: place)
        try operations.check()
        position.overlays.append(sequences)
      }
      position.lastSequence = sequences.upperBound
      return nil
    case .footer:
      let footer = try footer(sequences)
      position.note(footer, before: end)
      return footer
    case .seal:
      guard payload.byteCount == 0, sequences == position.lastSequence...position.lastSequence
      else { throw outOfSequence(sequences, isOpening) }
      return nil
    }
  }

  private func outOfSequence(
    _ sequences: ClosedRange<UInt64>, _ isOpening: Bool
  ) -> StoreError {
    fault(
      held?.block ?? 0, isOpening,
      "it is about sequences \(sequences.lowerBound) to \(sequences.upperBound), behind"
        + " \(position.lastSequence)")
  }

  /// The footer that the frame makes true. It covers what is in the log, or one commit more, too large
  /// for the log, which this frame commits.
  private func footer(_ sequences: ClosedRange<UInt64>) throws(StoreError) -> FooterReference {
    var reader = ByteReader(payload, at: place, invariant: .logFrame)
    let footer = try FooterReference(reading: &reader)
    guard reader.remaining == 0 else { throw reader.fault("it is longer than a reference") }
    let covered = footer.coveredSequence
    guard sequences == covered...covered, covered >= position.footer.coveredSequence,
      covered <= position.lastSequence || covered - 1 == position.lastSequence
    else {
      throw reader.fault(
        "its footer covers \(covered), the one before \(position.footer.coveredSequence), and the"
          + " last sequence is \(position.lastSequence)")
    }
    guard position.overlays.allSatisfy({ covered < $0.lowerBound || covered >= $0.upperBound })
    else { throw reader.fault("its footer covers \(covered), which parts an overlay") }
    return footer
  }
}

// MARK: The end

extension LogReader {
  /// Whether the log may end at `block`, where there is no frame: it may not if that was flushed.
  private mutating func end(at block: UInt32, _ fault: NoFrame) throws(StoreError) -> LogEnd {
    if block < header.openingEnd {
      throw .corrupt(place(block), invariant: .logOpening, reason: fault.reason)
    }
    var isFollowed = false
    for later in min(block + 1, header.blocks)..<header.blocks {
      guard let frame = try laterFrame(at: later, unless: isFollowed, flushing: block) else {
        continue
      }
      isFollowed = true
      guard frame.flushedThrough <= block else {
        throw .corrupt(
          place(block), invariant: .logFlushed,
          reason: "\(fault.reason), and block \(later) says that it was flushed")
      }
    }
    if fault.isOfUse || isFollowed { return .torn(block: block, reason: fault.reason) }
    return .clean(block: block)
  }

  /// The whole frame of this use at `block`, if it says anything new.
  private mutating func laterFrame(
    at block: UInt32, unless isFollowed: Bool, flushing damaged: UInt32
  ) throws(StoreError) -> FrameHeader? {
    try window.load(block..<block + 1)
    let header = FrameHeader(decoding: window.bytes(block, FrameHeader.size))
    if header.salt != self.header.salt { return nil }
    if isFollowed, header.flushedThrough <= damaged { return nil }
    return try? frame(at: block).get()
  }
}

// MARK: After the end

/// The part of a log after its last readable frame.
struct LogRemains: Equatable, Sendable {
  /// The bytes from there to the end of the last frame.
  var byteCount = 0
  /// The highest sequence that a whole frame among them is about; zero without one.
  var lastSequence: UInt64 = 0
}

extension LogReader {
  /// Returns what the use has from `position` on. None of it may be carried out, since what it follows is not there.
  ///
  /// Blocks that cannot be read count as nothing.
  mutating func remains() -> LogRemains {
    held = nil
    let start = position.block
    let isOpening = start < header.openingEnd
    var remains = LogRemains(lastSequence: isOpening ? header.firstSequence - 1 : 0)
    var end = isOpening ? min(header.openingEnd, header.blocks) : start
    var block = start
    while block < header.blocks {
      var next = block + 1
      switch try? frame(at: block) {
      case .success(let whole)?:
        next = block + whole.blockCount
        end = max(end, next)
        if whole.last <= LogLayout.sequenceMax {
          remains.lastSequence = max(remains.lastSequence, whole.last)
        }
      case .failure(let fault)? where fault.isOfUse: end = max(end, next)
      default: break
      }
      block = next
    }
    remains.byteCount = Int(end - min(start, end)) * Layout.blockSize
    return remains
  }
}
