/// The log of a store that is open for writing: the store's only commit point.
///
/// What was appended is true when `flush` returns, or when `begin` does. Two files take turns: frames go
/// to the one in use, and when its room ends, or a fold has made most of it needless, `begin` writes what
/// is still needed into the spare and goes on there.
///
/// After a write or flush that failed nothing is known of what the medium holds, so the log takes nothing
/// more: every call throws `.poisoned`, and only who opens the store anew, by other descriptors, may go
/// on. It has one owner, and no locks, randomness or threads; salts and the clock come from the caller.
final class Log {
  let medium: any FileSystem
  let files: [any File]
  /// What each file is known to have, in blocks.
  private(set) var sizes: [UInt32]
  /// Of the use that frames are appended to.
  private(set) var header: LogHeader
  private var tail: LogTail
  private(set) var isPoisoned = false
  /// The files as they were found, until the use that `header` describes is begun in them; nil from then on.
  private var unbegun: LogFiles?
  /// Is released for a write that finds the disk full, which is made again then.
  var reserve: Reserve?
  /// Says the time of frames.
  private let clock: LogClock
  /// For frames that the log makes itself.
  private let small = FrameBuffer(capacity: FooterReference.size)

  /// Takes files of which `header` is the one in use, at the end of its opening.
  ///
  /// - Parameter time: That of the last frame that was read; nil if there is none after the opening.
  init(
    _ files: [any File], sizes: [UInt32], header: LogHeader, in medium: any FileSystem,
    clock: @escaping LogClock, lastTime time: UInt64? = nil
  ) {
    self.medium = medium
    self.files = files
    self.sizes = sizes
    self.header = header
    self.clock = clock
    tail = LogTail(header, previous: header.checksum)
    tail.time = max(tail.time, time ?? 0)
  }

  /// Takes the files of a store to whose state nothing needs to be added, and leaves them as they are until something is to
  /// be written: `header` is that of the use to be begun then.
  ///
  /// - Precondition: all of the state is known to be on the disk.
  convenience init(
    reopening files: LogFiles, toBegin header: LogHeader, clock: @escaping LogClock
  ) {
    self.init(
      files.files.map(\.file), sizes: files.files.map(\.blocks), header: header, in: files.medium,
      clock: clock)
    unbegun = files
  }
}

/// Returns the nanoseconds from the beginning of 1970 to now.
typealias LogClock = @Sendable () -> UInt64

/// The end of a use: where the next frame goes, and what it must say.
private struct LogTail {
  var endBlock: UInt32
  /// All blocks below this one are flushed.
  var flushedThrough: UInt32
  /// What the last frame says of that.
  var stated: UInt32
  /// The block behind the last frame that is no seal.
  var contentEnd: UInt32
  var previous: PageChecksum
  /// The last frame's time.
  var time: UInt64
  var lastSequence: UInt64
  var footer: FooterReference

  init(_ header: LogHeader, previous: PageChecksum) {
    endBlock = header.openingEnd
    flushedThrough = header.openingEnd
    stated = header.openingEnd
    contentEnd = header.openingEnd
    self.previous = previous
    time = header.time
    lastSequence = header.firstSequence - 1
    footer = header.footer
  }
}

// MARK: State

extension Log {
  var identity: StoreIdentity { header.identity }
  /// Whether the use is on the disk. If not, the first call that writes begins it.
  var isBegun: Bool { unbegun == nil }
  /// The last sequence that is in the log, or that a footer of it covers.
  var lastSequence: UInt64 { tail.lastSequence }
  /// The newest footer: true as soon as it is flushed.
  var footer: FooterReference { tail.footer }
  /// Whether all that was appended is on the medium.
  var isFlushed: Bool { tail.flushedThrough == tail.endBlock }
  /// The block after the last frame.
  var endBlock: UInt32 { tail.endBlock }
  /// The block behind the last frame that is no seal.
  var contentEnd: UInt32 { tail.contentEnd }
  /// All blocks below this one are said to be flushed, by a frame or the header.
  var statedEnd: UInt32 { tail.stated }
  /// Whether the last frame but seals is followed by none that says it was flushed. Until one does,
  /// damage to it looks like a write that was torn.
  var needsSeal: Bool { statedEnd < contentEnd }

  /// The blocks that frames may take, header included: no more than the spare has, so that whoever
  /// recovers the log can write all of it there.
  var usableBlocks: Int { Int(min(header.blocks, sizes[spare])) }
  /// How much of that is taken, from 0 to 1.
  var usedShare: Double {
    let first = LogLayout.firstFrameBlock
    return Double(Int(tail.endBlock) - first) / Double(usableBlocks - first)
  }
  /// The longest payload that a frame of commits or of an overlay may have now; negative if there is no
  /// room for any. Behind it a footer and a seal still fit.
  var room: Int {
    (freeBlocks - LogLayout.reservedBlocks) * Layout.blockSize - FrameHeader.size
  }
  /// Whether a footer may be appended: a seal still fits behind it. Where it may not, `begin` takes it.
  var hasRoomForFooter: Bool { freeBlocks >= 2 }
  var hasRoomForSeal: Bool { freeBlocks >= 1 }

  /// The blocks of the spare: an opening of so many needs no growth.
  var spareBlocks: Int { Int(sizes[spare]) }

  private var freeBlocks: Int { usableBlocks - Int(tail.endBlock) }
  private var inUse: Int { Int(header.file) }
  private var spare: Int { 1 - inUse }

  private func refuseIfPoisoned() throws(StoreError) {
    if isPoisoned { throw .poisoned(path: medium.path) }
  }
}

// MARK: Frames

extension Log {
  /// Appends a frame of commits or of an overlay, in one write. It is true when it is flushed.
  ///
  /// - Parameters:
  ///   - sequences: Those that the frame stands for: the next after the last.
  ///   - buffer: The payload, at most `room` bytes. What is in front of it and behind is written to.
  /// - Throws: `.full`, `.io`, and `.poisoned` from then on.
  func append(
    _ kind: FrameKind, sequences: ClosedRange<UInt64>, _ buffer: FrameBuffer
  ) throws(StoreError) {
    precondition(kind.hasOperations, "footers and seals have calls of their own")
    precondition(buffer.payloadCount <= room, "the frame does not fit")
    precondition(sequences.lowerBound == tail.lastSequence &+ 1, "sequences go up by one")
    try write(kind, sequences, buffer)
    tail.lastSequence = sequences.upperBound
  }

  /// Appends a footer, whose pages are flushed. It covers no more than the last sequence; or one more,
  /// a commit too large for the log, which this frame commits.
  func appendFooter(_ reference: FooterReference) throws(StoreError) {
    let covered = reference.coveredSequence
    precondition(hasRoomForFooter, "the frame does not fit")
    precondition(covered >= tail.footer.coveredSequence, "a footer covers what the one before did")
    precondition(
      covered <= tail.lastSequence || covered - 1 == tail.lastSequence, "a footer covers commits")
    small.removeAll()
    small.append(reference)
    try write(.footer, covered...covered, small)
    tail.footer = reference
    tail.lastSequence = max(tail.lastSequence, covered)
  }

  /// Appends a frame that says how far the log is flushed, and no more. It need not be flushed itself.
  func appendSeal() throws(StoreError) {
    precondition(hasRoomForSeal, "the frame does not fit")
    small.removeAll()
    try write(.seal, tail.lastSequence...tail.lastSequence, small)
  }

  private func write(
    _ kind: FrameKind, _ sequences: ClosedRange<UInt64>, _ buffer: FrameBuffer
  ) throws(StoreError) {
    try beginIfNeeded()
    let frame = FrameHeader(
      kind, sequences: sequences, length: buffer.payloadCount, previous: tail.previous,
      salt: header.salt, block: tail.endBlock, flushedThrough: tail.flushedThrough,
      time: max(tail.time, clock()))
    let checksum = buffer.seal(frame, in: identity)
    isPoisoned = true
    try lending { () throws(StoreError) in
      try files[inUse].write(
        buffer.frame, from: Int(tail.endBlock) * Layout.blockSize,
        at: .logFrameWrite)
    }
    isPoisoned = false
    tail.endBlock += frame.blockCount
    tail.previous = checksum
    tail.time = frame.time
    tail.stated = frame.flushedThrough
    if kind != .seal { tail.contentEnd = tail.endBlock }
  }

  /// Makes a write once more if it finds the disk full and the reserve gives it space. A write that failed so has left
  /// nothing but a part of the same bytes at the same place.
  private func lending(to body: () throws(StoreError) -> Void) throws(StoreError) {
    if let reserve { try reserve.lending(to: body) } else { try body() }
  }

  /// Forces all that was appended to the medium: when it returns, that is true for good. One call, and
  /// none where there is nothing to force.
  ///
  /// - Throws: `.io`, and `.poisoned` from then on: whether what was appended is true shows at the next
  ///   opening.
  func flush() throws(StoreError) {
    try refuseIfPoisoned()
    if isFlushed { return }
    isPoisoned = true
    try files[inUse].sync(at: .logFrameSync)
    isPoisoned = false
    tail.flushedThrough = tail.endBlock
  }
}

// MARK: Beginning a use

extension Log {
  /// An overlay that goes into the opening of a use, and the sequences that it stands for.
  typealias Opening = (sequences: ClosedRange<UInt64>, operations: FrameBuffer)

  /// Goes on in the spare: writes what is in no tree yet, flushes it, and makes the use true by its
  /// header. When it returns, all up to the last sequence is true for good, flushed before or not, and
  /// nothing in the other file is needed.
  ///
  /// The spare grows first if it is too small. The file that was in use may then have to follow, by
  /// `growSpare`, before there is more room.
  ///
  /// - Parameters:
  ///   - opening: Overlays whose sequences go on from the footer's to the last.
  ///   - footer: The newest, whose pages are flushed. It need not have been appended before.
  ///   - payload: What the spare must have room for besides.
  ///   - salt: Random.
  /// - Throws: `.limitExceeded` if the opening is larger than a file can be, `.full` or `.io` if the
  ///   spare cannot grow, and the log goes on as before; else `.full` or `.io`, and `.poisoned` from then
  ///   on: which use is true shows at the next opening.
  func begin(
    opening: [Opening], footer: FooterReference, reserving payload: Int = 0, salt: UInt64
  ) throws(StoreError) {
    try beginIfNeeded()
    var next = header
    next.number += 1
    next.salt = salt
    next.footer = footer
    next.firstSequence = checkedEnd(of: opening, footer) + 1
    next.time = tail.time
    let blocks = opening.reduce(0) { $0 + LogLayout.blocks(payload: $1.operations.payloadCount) }
    try growForOpening(LogLayout.firstFrameBlock + blocks + LogLayout.blocks(payload: payload))
    next.openingBlocks = UInt32(blocks)
    next.blocks = sizes[spare]
    try begin(next, with: opening)
  }

  /// Begins the use that opening the log has left to the first call that writes.
  ///
  /// - Throws: `.full`, `.io`: nothing has changed, or the log is poisoned.
  func beginIfNeeded() throws(StoreError) {
    try refuseIfPoisoned()
    guard let files = unbegun else { return }
    try files.prepare()
    try begin(header, with: [])
    unbegun = nil
  }

  /// Makes the use that `next` describes true, in the file of its number.
  private func begin(_ next: LogHeader, with opening: [Opening]) throws(StoreError) {
    isPoisoned = true
    let file = files[Int(next.file)]
    let last = try write(opening, of: next, to: file)
    try file.sync(at: .logOpeningSync)
    try lending { () throws(StoreError) in try file.write(next, copy: 0, at: .logHeaderWrite) }
    try file.sync(at: .logHeaderSync)
    try lending { () throws(StoreError) in try file.write(next, copy: 1, at: .logHeaderWrite) }
    try file.sync(at: .logHeaderCopySync)
    isPoisoned = false
    header = next
    tail = LogTail(next, previous: last)
  }

  /// The last sequence of a use that begins with `opening`.
  private func checkedEnd(of opening: [Opening], _ footer: FooterReference) -> UInt64 {
    var last = footer.coveredSequence
    for overlay in opening {
      precondition(overlay.sequences.lowerBound == last &+ 1, "sequences go up by one")
      last = overlay.sequences.upperBound
    }
    precondition(footer.coveredSequence >= tail.footer.coveredSequence, "an older footer")
    precondition(last >= tail.lastSequence, "a use begins with all that is in the log")
    return last
  }

  /// Writes the frames of an opening, and returns the checksum of the last. The commits in them are not later than the last
  /// frame before, so they have its time.
  private func write(
    _ opening: [Opening], of next: LogHeader, to file: any File
  ) throws(StoreError) -> PageChecksum {
    var previous = next.checksum
    var block = UInt32(LogLayout.firstFrameBlock)
    for overlay in opening {
      let frame = FrameHeader(
        .overlay, sequences: overlay.sequences, length: overlay.operations.payloadCount,
        previous: previous, salt: next.salt, block: block,
        flushedThrough: UInt32(LogLayout.firstFrameBlock), time: next.time)
      previous = overlay.operations.seal(frame, in: identity)
      try lending { () throws(StoreError) in
        try file.write(
          overlay.operations.frame, from: Int(block) * Layout.blockSize,
          at: .logOpeningWrite)
      }
      block += frame.blockCount
    }
    // The header says how long the file is. It may look longer than it is, where its growth was not
    // flushed, or by another process.
    if block < next.blocks {
      try lending { () throws(StoreError) in
        try file.writeZeros(next.blocks - 1..<next.blocks, at: .logOpeningWrite)
      }
    }
    return previous
  }
}

// MARK: Shrinking

extension Log {
  /// Gives back what the files have beyond what they begin with, where nothing in them is needed: goes on in a
  /// small spare, and cuts the other. Who opens the log next begins with so much.
  ///
  /// - Precondition: the newest footer covers all that is in the log.
  /// - Parameter salt: Random.
  /// - Throws: `.full`, `.io`: then the log goes on as before, or poisoned. Whichever use is true at the next
  ///   opening, it leads to the same footer.
  func shrink(salt: UInt64) throws(StoreError) {
    try refuseIfPoisoned()
    precondition(footer.coveredSequence == lastSequence, "what is in no tree is needed")
    try flush()
    guard sizes.contains(where: { $0 > LogLayout.blocksMin }) else { return }
    try beginIfNeeded()
    try cutSpare()
    try begin(opening: [], footer: footer, salt: salt)
    try cutSpare()
  }

  private func cutSpare() throws(StoreError) {
    guard sizes[spare] > LogLayout.blocksMin else { return }
    try files[spare].truncate(to: LogLayout.blocksMin * Layout.blockSize, at: .logCutTruncate)
    sizes[spare] = UInt32(LogLayout.blocksMin)
  }
}

// MARK: Growing

extension Log {
  /// Makes the spare larger, if it has less than `blocks` and may have more.
  ///
  /// Only the spare grows. A flush of zeros that failed on the file in use would take the error that
  /// the next flush of commits has to see, and the commits with it. So there is more room when the
  /// spare has been begun, and the file that was in use has grown in its turn.
  ///
  /// - Throws: `.full`, `.io`; the log goes on as before, and what was written is given back.
  func growSpare(to blocks: Int) throws(StoreError) {
    try beginIfNeeded()
    let end = UInt32(min(blocks, LogLayout.blocksMax))
    guard end > sizes[spare] else { return }
    // A file that was cut may have ended before the second copy of its header, which was mended since.
    let start = max(sizes[spare], UInt32(LogLayout.firstFrameBlock))
    do throws(StoreError) {
      try files[spare].writeZeros(start..<end, at: .logGrowWrite)
      try files[spare].sync(at: .logGrowSync)
    } catch {
      try? files[spare].truncate(to: Int(start) * Layout.blockSize, at: .logCutTruncate)
      throw error
    }
    sizes[spare] = end
  }

  /// Sees to it that `blocks` fit in the spare, with room for a footer and a seal behind them, and that
  /// it is no smaller than any file of a log: it may have been cut.
  private func growForOpening(_ blocks: Int) throws(StoreError) {
    let needed = max(blocks + LogLayout.reservedBlocks, LogLayout.blocksMin)
    guard needed <= LogLayout.blocksMax else {
      throw .limitExceeded(.logSize, found: needed * Layout.blockSize)
    }
    if needed <= sizes[spare] { return }
    var size = LogLayout.blocksMin
    while size < needed { size *= 2 }
    do throws(StoreError) {
      try growSpare(to: size)
    } catch {
      guard case .full = error else { throw error }
      try lending { () throws(StoreError) in try growSpare(to: needed) }
      reserve?.hold()
    }
  }
}
