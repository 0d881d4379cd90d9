/// Takes the bytes of one blob to a segment, in large writes.
///
/// A blob begins at a block, or where the one before ended, if that is of the same batch: so no block that may have been
/// flushed is written again. While a full buffer is written, by the crew or at last by the thread that waits for it, the next
/// one is filled.
///
/// The segment is taken when there is something to write, so that many open streams of small blobs need but one.
/// Belongs to one thread at a time.
final class BlobOutput {
  /// A segment, as long as no other stream may write to it.
  private struct Place {
    let appender: BlobAppender
    let pin: BlobPin
    let start: UInt64
    /// Where the buffer's first byte goes.
    var position: UInt64
  }

  private let files: BlobFiles
  private let batch: BlobBatch?
  private var place: Place?
  /// True if a write has failed, so that no stream continues in the segment.
  private var hasFailed = false
  private var buffer: BlobMemory?
  private var filled = 0
  /// The buffer before, on its way.
  private var underWay: BlobBlockWrite?

  /// - Parameter batch: The batch that the blob belongs to; nil if it may share no block with a blob before it.
  init(to files: BlobFiles, in batch: BlobBatch? = nil) {
    self.files = files
    self.batch = batch
  }

  deinit {
    abandon()
  }

  /// How many bytes of memory it holds.
  var memory: Int { (buffer?.count ?? 0) + (underWay?.buffer.count ?? 0) }

  /// Appends bytes, which are written when there are enough of them.
  ///
  /// - Throws: `.io`, `.full`, `.limitExceeded`.
  func append(_ bytes: RawSpan) throws(StoreError) {
    var done = 0
    while done < bytes.byteCount {
      let buffer = try takeRoom()
      let count = min(bytes.byteCount - done, buffer.count - filled)
      var room = buffer.mutableBytes(filled..<filled + count)
      room.copy(bytes.part(done, count), to: 0)
      filled += count
      done += count
    }
  }

  /// Writes the rest, and ends the blob.
  ///
  /// - Parameter last: Appended without being copied.
  /// - Returns: where the blob is, and the pin that keeps it from being collected.
  /// - Throws: as `append`.
  func finish(
    _ last: RawSpan = RawSpan()
  ) throws(StoreError) -> (segment: UInt32, range: Range<UInt64>, pin: BlobPin) {
    try settle()
    if let buffer, filled > 0 { try writeRest(buffer) }
    var place = try takePlace()
    if last.byteCount > 0 {
      hasFailed = true
      try place.appender.write(last, at: place.position)
      hasFailed = false
      place.position += UInt64(last.byteCount)
    }
    self.place = nil
    place.appender.note(end: place.position, of: batch)
    files.giveBack(place.appender, isWhole: true)
    giveBackBuffer()
    return (place.appender.number, place.start..<place.position, place.pin)
  }

  /// Ends the blob, and releases the space that it took. A forked child leaves that to its parent.
  func abandon() {
    if files.crew.isForked { return }
    withdraw()
    giveBackBuffer()
    guard let place else { return }
    self.place = nil
    do throws(StoreError) {
      try place.appender.cut(to: place.start)
      files.giveBack(place.appender, isWhole: !hasFailed)
    } catch {
      files.giveBack(place.appender, isWhole: false)
    }
  }
}

extension BlobOutput {
  /// The buffer, with room for a byte at least.
  private func takeRoom() throws(StoreError) -> BlobMemory {
    if let buffer, filled == buffer.count { try writeOut(buffer) }
    if let buffer { return buffer }
    let taken = try files.spares.takeBuffer()
    buffer = taken
    return taken
  }

  private func giveBackBuffer() {
    if let buffer { files.spares.give(buffer) }
    buffer = nil
    filled = 0
  }

  private func takePlace() throws(StoreError) -> Place {
    if let place { return place }
    let (appender, pin) = try files.takeAppender()
    let start = appender.start(in: batch)
    let taken = Place(appender: appender, pin: pin, start: start, position: start)
    place = taken
    return taken
  }

  /// Hands the full buffer to the crew, and continues with another one.
  private func writeOut(_ buffer: BlobMemory) throws(StoreError) {
    let place = try takePlace()
    try settle()
    let task = BlobBlockWrite(buffer, by: place.appender, at: place.position)
    self.place?.position += UInt64(buffer.count)
    self.buffer = nil
    filled = 0
    underWay = task
    files.crew.submit(task)
  }

  /// Returns when nothing is on its way any more.
  private func settle() throws(StoreError) {
    guard let task = underWay else { return }
    underWay = nil
    files.crew.finish(task)
    files.spares.give(task.buffer)
    guard let failure = task.failure else { return }
    hasFailed = true
    throw failure
  }

  /// Sees to it that nothing is written any more.
  private func withdraw() {
    guard let task = underWay else { return }
    underWay = nil
    files.crew.withdraw(task)
    files.spares.give(task.buffer)
    if task.failure != nil { hasFailed = true }
  }

  /// Writes the buffer.
  private func writeRest(_ buffer: BlobMemory) throws(StoreError) {
    let place = try takePlace()
    hasFailed = true
    try place.appender.write(buffer.bytes(0..<filled), at: place.position)
    hasFailed = false
    self.place?.position += UInt64(filled)
    filled = 0
  }
}
