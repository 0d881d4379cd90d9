/// How far a log was read by who only reads, and how much of that may be shown.
///
/// A writer's frame may be read before it was flushed, and then be gone after the next power cut. That it
/// was flushed, a later frame says, so what is shown stays a little behind what is there.
struct FollowedLog: Sendable {
  let files: LogFiles
  /// Behind the last frame that may be shown.
  private(set) var shown: LogPosition
  /// Behind each whole frame that was read and may not be shown yet.
  private var hidden: [LogPosition] = []

  /// The log at the beginning of the use that `files` are in.
  init(_ files: LogFiles) {
    self.files = files
    shown = LogPosition(files.header)
  }

  /// Behind the last frame that was read.
  var end: LogPosition { hidden.last ?? shown }
  /// Whether there are frames that may not be shown yet.
  var isHiding: Bool { !hidden.isEmpty }
  /// The newest footer that may be shown.
  var footer: FooterReference { shown.footer }
}

// MARK: Reading

extension FollowedLog {
  /// Reads all frames of the use, and makes sure that the log ends where they do.
  ///
  /// - Complexity: linear in the size of the file.
  /// - Throws: `.corrupt`, which a writer that goes on to another use can cause as well; `.io`.
  mutating func readToEnd() throws(StoreError) {
    var reader = LogReader(files, from: end)
    while try reader.next() != nil { hidden.append(reader.position) }
    showFlushed()
  }

  /// Reads the frames that came since. What is behind them is not looked at: damage to the next frame
  /// passes for the end until the log is opened again.
  ///
  /// - Complexity: linear in the new frames, and one block where there are none.
  /// - Throws: as `readToEnd`.
  mutating func readNew() throws(StoreError) {
    guard try files.mayHaveFrame(at: end.block) else { return }
    var reader = LogReader(files, from: end)
    while try files.mayHaveFrame(at: reader.position.block), try reader.next() != nil {
      hidden.append(reader.position)
    }
    showFlushed()
  }

  /// Shows what is known to be flushed.
  private mutating func showFlushed() {
    let flushed = end.flushedThrough
    guard let last = hidden.lastIndex(where: { $0.block <= flushed }) else { return }
    show(through: last)
  }

  /// Shows all that was read: without a writer it is what the next one will find.
  mutating func showAll() {
    if isHiding { show(through: hidden.count - 1) }
  }

  /// Shows as much more as leads to another footer, if there is one. A segment is unlinked only when the
  /// footer that does without it is on the medium, and with it all that is before its frame.
  ///
  /// - Returns: whether there is one.
  mutating func showNextFooter() -> Bool {
    guard let next = hidden.firstIndex(where: { $0.footer != footer }) else { return false }
    show(through: next)
    return true
  }

  private mutating func show(through index: Int) {
    shown = hidden[index]
    hidden.removeFirst(index + 1)
  }
}

extension LogFiles {
  /// Whether something of the use begins at `block`, by a look at the salt alone.
  fileprivate func mayHaveFrame(at block: UInt32) throws(StoreError) -> Bool {
    if block >= header.blocks { return false }
    var buffer = AlignedBuffer(count: FrameHeader.size)
    var span = buffer.mutableBytes(0..<FrameHeader.size)
    let count = try files[inUse].file.read(
      into: &span, from: Int(block) * Layout.blockSize, at: .logRead)
    return count == FrameHeader.size && FrameHeader(decoding: buffer.bytes).salt == header.salt
  }
}
