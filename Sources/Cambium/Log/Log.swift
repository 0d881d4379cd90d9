/// The log of a store that is open for writing: the store's only commit point.
///
/// What was appended is true when `flush` returns, or when `begin` does. Frames go to the file in use. When its space ends,
/// the log goes on in the *spare*, the largest of the files that hold nothing that is needed: by `advance`, after which what
/// was written before is still needed where it is; or, if no other file would be free then, by `begin`, which writes all of
/// that into the spare.
///
/// After a write or flush that failed nothing is known of what the medium holds, so the log takes nothing
/// more: every call throws `.poisoned`, and only who opens the store anew, by other descriptors, may go
/// on. It has one owner, and no locks, randomness or threads; salts and the clock come from the caller.
final class Log {
  let medium: any FileSystem
  /// By number.
  var slots: [LogSlot]
  /// The number of the file that the next use is begun in.
  var spare = 0
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
  /// - Parameter end: Where the last frame that was read ends; nil if there is none after the opening.
  init(
    _ slots: [LogSlot], header: LogHeader, in medium: any FileSystem,
    clock: @escaping LogClock, readTo end: LogPosition? = nil
  ) {
    self.medium = medium
    self.slots = slots
    self.header = header
    self.clock = clock
    self.slots[Int(header.file)].header = header
    tail = LogTail(header, previous: end?.previous ?? header.checksum)
    tail.time = max(tail.time, end?.time ?? 0)
    tail.flushedFooter = end?.flushedFooter ?? header.footer
    chooseSpare()
  }

  /// Takes the files of a store to whose state nothing needs to be added, and leaves them as they are until something is to
  /// be written: `header` is that of the use to be begun then.
  ///
  /// - Precondition: all of the state is known to be on the disk.
  convenience init(
    reopening files: LogFiles, toBegin header: LogHeader, clock: @escaping LogClock
  ) {
    self.init(files.files.map(LogSlot.init), header: header, in: files.medium, clock: clock)
    unbegun = files
  }
}

/// A file of the log.
struct LogSlot {
  let file: any File
  /// What the file is known to have.
  var blocks: UInt32
  /// That of the last use that was begun in it.
  var header: LogHeader
  /// Whether it is made larger at this moment, and no use may begin in it.
  var isGrowing = false

  init(_ file: any File, _ header: LogHeader) {
    self.file = file
    blocks = header.blocks
    self.header = header
  }

  init(_ found: LogFiles.OpenFile) {
    file = found.file
    blocks = found.blocks
    header = found.header
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
  /// The newest footer that is flushed.
  var flushedFooter: FooterReference

  init(_ header: LogHeader, previous: PageChecksum) {
    endBlock = header.openingEnd
    flushedThrough = header.openingEnd
    stated = header.openingEnd
    contentEnd = header.openingEnd
    self.previous = previous
    time = header.time
    lastSequence = header.firstSequence - 1
    footer = header.footer
    flushedFooter = header.footer
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
  var usableBlocks: Int { Int(min(header.blocks, slots[spare].blocks)) }
  /// The blocks of all files.
  var blockCount: Int { slots.reduce(0) { $0 + Int($1.blocks) } }
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
  var spareBlocks: Int { Int(slots[spare].blocks) }

  private var freeBlocks: Int { usableBlocks - Int(tail.endBlock) }
  private var inUse: Int { Int(header.file) }

  func refuseIfPoisoned() throws(StoreError) {
    if isPoisoned { throw .poisoned(path: medium.path) }
  }
}

// MARK: The ring

extension Log {
  /// The oldest use that holds something that `footer` does not cover. A file that was cut was not needed any more, nor are those
  /// of uses before its own.
  private func oldestUse(after footer: FooterReference) -> UInt64 {
    var oldest = header
    while oldest.start > footer.coveredSequence, oldest.earlierUses > 0,
      let before = slots.first(where: { $0.header.number == oldest.number - 1 }),
      before.blocks >= before.header.blocks
    {
      oldest = before.header
    }
    return oldest.number
  }

  /// The files that hold nothing that is needed. A footer that is not flushed does not free any.
  private var free: [Int] {
    let oldest = oldestUse(after: tail.flushedFooter)
    return slots.indices.filter {
      slots[$0].header.number < oldest && $0 != inUse && !slots[$0].isGrowing
    }
  }

  /// The largest free file besides the spare; nil if there is none.
  private var successor: Int? {
    LogRing.largest(
      of: free.filter { $0 != spare }, sizes: slots.map(\.blocks), uses: slots.map(\.header.number))
  }

  /// The smallest free file besides the spare; nil if there is none.
  var smallestSuccessor: Int? {
    free.filter { $0 != spare }.min { slots[$0].blocks < slots[$1].blocks }
  }

  /// Makes the largest of the free files the spare.
  func chooseSpare() {
    let largest = LogRing.largest(
      of: free, sizes: slots.map(\.blocks), uses: slots.map(\.header.number))
    // There is always one: a use begins only if a file is left.
    if let largest { spare = largest }
  }

  /// Whether a use could begin in the spare that still needs those before it: another file that is free is as large.
  ///
  /// - Parameter payload: What there must be space for then.
  func canAdvance(reserving payload: Int = 0) -> Bool {
    guard let successor, slots[successor].blocks >= slots[spare].blocks else { return false }
    let needed =
      LogLayout.firstFrameBlock + LogLayout.blocks(payload: payload) + LogLayout.reservedBlocks
    return needed <= slots[spare].blocks
      && header.number - oldestUse(after: tail.flushedFooter) < 32
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
      try slots[inUse].file.write(
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
  func lending(to body: () throws(StoreError) -> Void) throws(StoreError) {
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
    try slots[inUse].file.sync(at: .logFrameSync)
    isPoisoned = false
    tail.flushedThrough = tail.endBlock
    tail.flushedFooter = tail.footer
  }
}

// MARK: Beginning a use

extension Log {
  /// An overlay that goes into the opening of a use, and the sequences that it stands for.
  typealias Opening = (sequences: ClosedRange<UInt64>, operations: FrameBuffer)

  /// Goes on in the spare: writes what is in no tree yet, flushes it, and makes the use true by its
  /// header. When it returns, all up to the last sequence is true for good, flushed before or not, and
  /// nothing in the other files is needed.
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
    var next = header.next(in: spare, salt: salt)
    next.footer = footer
    next.firstSequence = checkedEnd(of: opening, footer) + 1
    next.time = tail.time
    next.before = tail.previous
    let blocks = opening.reduce(0) { $0 + LogLayout.blocks(payload: $1.operations.payloadCount) }
    try growForOpening(LogLayout.firstFrameBlock + blocks + LogLayout.blocks(payload: payload))
    next.openingBlocks = UInt32(blocks)
    next.blocks = slots[spare].blocks
    try begin(next, with: opening)
  }

  /// Goes on in the spare, after which what is in no tree is still needed where it is. When it returns, all up to the last
  /// sequence is true for good.
  ///
  /// - Precondition: `canAdvance`.
  /// - Parameter salt: Random.
  /// - Throws: `.full`, `.io`, and `.poisoned` from then on: which use is true shows at the next opening.
  func advance(salt: UInt64) throws(StoreError) {
    try beginIfNeeded()
    // Frames after the last one that was flushed would have nothing that says so.
    try flush()
    precondition(canAdvance(), "there would be no spare")
    var next = header.next(in: spare, salt: salt)
    next.footer = tail.footer
    next.firstSequence = tail.lastSequence + 1
    next.time = tail.time
    let isCovered = tail.lastSequence <= tail.footer.coveredSequence
    next.earlierUses = isCovered ? 0 : UInt32(next.number - oldestUse(after: tail.footer))
    next.before = tail.previous
    next.blocks = slots[spare].blocks
    try begin(next, with: [])
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
    let file = slots[Int(next.file)].file
    let last = try write(opening, of: next, to: file)
    try file.sync(at: .logOpeningSync)
    try lending { () throws(StoreError) in try file.write(next, copy: 0, at: .logHeaderWrite) }
    try file.sync(at: .logHeaderSync)
    try lending { () throws(StoreError) in try file.write(next, copy: 1, at: .logHeaderWrite) }
    try file.sync(at: .logHeaderCopySync)
    isPoisoned = false
    header = next
    slots[Int(next.file)].header = next
    tail = LogTail(next, previous: last)
    chooseSpare()
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
