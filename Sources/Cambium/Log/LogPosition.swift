/// A frame that was read, apart from its payload.
struct LogFrame: Equatable, Sendable {
  let kind: FrameKind
  /// Of a footer, the sequence it covers, and of a seal the last there is, twice.
  let sequences: ClosedRange<UInt64>
  /// Where the frame is.
  let blocks: Range<UInt32>
  /// What a frame of kind `.footer` makes true.
  let footer: FooterReference?
}

/// How far a log was read, and what has to come next.
struct LogPosition: Equatable, Sendable {
  /// The use that is read: in another, the position means nothing.
  private(set) var use: UInt64
  /// The block behind the last frame.
  var block: UInt32
  /// The last frame's checksum.
  var previous: PageChecksum
  /// The last frame's time; at the beginning of a use, that of the frame before it.
  var time: UInt64
  /// The last sequence that the log has, or a footer of it covers.
  var lastSequence: UInt64
  /// The newest footer.
  var footer: FooterReference
  /// The blocks known to be flushed are those below this one.
  var flushedThrough: UInt32
  /// The newest footer that is known to be flushed.
  var flushedFooter: FooterReference
  /// The end of the frame of `footer`, if that is not known to be flushed.
  private var footerEnd: UInt32?
  /// The block behind the last frame that is no seal.
  var contentEnd: UInt32
  /// The last sequences of the overlays so far: no footer covers an overlay in part.
  var overlays: [ClosedRange<UInt64>] = []

  /// The beginning of a use.
  init(_ header: LogHeader) {
    use = header.number
    block = UInt32(LogLayout.firstFrameBlock)
    previous = header.checksum
    time = header.time
    lastSequence = header.start
    footer = header.footer
    flushedFooter = header.footer
    flushedThrough = header.openingEnd
    contentEnd = header.openingEnd
  }

  /// Goes on with the next use, which begins after the last frame of this one.
  mutating func goOn(with header: LogHeader) {
    let overlays = overlays
    self = LogPosition(header)
    self.overlays = overlays
  }

  /// Takes in that all blocks below `block` were flushed.
  mutating func noteFlush(through block: UInt32) {
    flushedThrough = max(flushedThrough, block)
    guard let end = footerEnd, end <= flushedThrough else { return }
    footerEnd = nil
    flushedFooter = footer
  }

  /// Takes in a footer's frame.
  mutating func note(_ footer: FooterReference, before end: UInt32) {
    self.footer = footer
    footerEnd = end
    lastSequence = max(lastSequence, footer.coveredSequence)
    overlays.removeAll { $0.upperBound <= footer.coveredSequence }
  }

  /// Whether the same frames lead here as to `other`, which may have been read from the beginning of a later use.
  func isSame(as other: LogPosition) -> Bool {
    use == other.use && block == other.block && previous == other.previous
  }

  /// Whether a frame follows here before `other`.
  func isBefore(_ other: LogPosition) -> Bool { (use, block) < (other.use, other.block) }
}

/// How a log ends.
enum LogEnd: Equatable, Sendable {
  /// No frame of the use begins behind the last one.
  case clean(block: UInt32)
  /// The last frames were not flushed, and are there in part. They were promised to nobody.
  case torn(block: UInt32, reason: String)
}
