/// Writes one blob whose length is not known before.
///
/// Content is cut into frames, which the crew compresses, and which go to the disk in their order, from the
/// thread that appends. How the first frame compresses decides for all.
///
/// Nothing refers to its bytes until the place that `finish` returns is committed, and that has to be
/// synced first. Belongs to one thread at a time; one that is dropped unfinished is abandoned.
final class BlobStream {
  let identity: BlobIdentity
  private let files: BlobFiles
  private let compression: BlobCompression
  private let output: BlobOutput
  private var tail = BlobTail()
  private var length = 0
  private var hasher: SipHash128.Stream?
  /// The frame that is being filled.
  private var open: FrameCompression?
  /// Those that the crew has, in order.
  private var underWay: [FrameCompression] = []
  /// Nil before the first frame.
  private var method: FrameCompression.Method?
  private var failure: StoreError?
  private var hasEnded = false

  init(
    _ identity: BlobIdentity, _ compression: BlobCompression, isHashed: Bool,
    to files: BlobFiles, in batch: BlobBatch?
  ) {
    self.identity = identity
    self.compression = compression
    self.files = files
    output = BlobOutput(to: files, in: batch)
    if isHashed { hasher = SipHash128.Stream(key: files.seed.hashKey) }
  }

  deinit {
    abandon()
  }

  /// How many bytes of memory the stream holds, besides the tail of a very long blob.
  var memory: Int {
    (underWay.count + (open == nil ? 0 : 1)) * FrameCompression.memory + output.memory
  }

  /// Appends content.
  ///
  /// - Throws: `.io`, `.full`, `.limitExceeded`, `.closed`, `.forked`: the stream is of no more use then, and throws
  ///   the same again. `.invalidValue` if it has ended.
  func append(_ bytes: RawSpan) throws(StoreError) {
    try checkOpen()
    do throws(StoreError) {
      try add(bytes)
    } catch {
      throw fail(error)
    }
  }

  /// Writes out the rest, and returns the place of the blob. It can be read then, but is not synced.
  ///
  /// - Throws: as `append`.
  func finish() throws(StoreError) -> BlobContent {
    try checkOpen()
    do throws(StoreError) {
      let content = try end()
      hasEnded = true
      return content
    } catch {
      throw fail(error)
    }
  }

  /// Ends the stream; its bytes are garbage, and released if that is possible.
  func abandon() {
    hasEnded = true
    if files.crew.isForked { return }
    for task in underWay {
      files.crew.withdraw(task)
      files.spares.give(task)
    }
    underWay = []
    if let open { files.spares.give(open) }
    open = nil
    output.abandon()
  }
}

extension BlobStream {
  private func checkOpen() throws(StoreError) {
    if let failure { throw failure }
    if hasEnded { throw .blobIsFinished }
  }

  private func fail(_ error: StoreError) -> StoreError {
    failure = error
    abandon()
    return error
  }

  private func add(_ bytes: RawSpan) throws(StoreError) {
    let limit = StoreError.Limit.blobLength
    guard bytes.byteCount <= limit.bound - length else {
      throw .limitExceeded(limit, found: length + bytes.byteCount)
    }
    length += bytes.byteCount
    hasher?.update(bytes)
    var done = 0
    while done < bytes.byteCount {
      let task = try takeOpen()
      done += task.take(bytes.part(done, bytes.byteCount - done))
    }
  }

  /// The frame that has room for more content.
  private func takeOpen() throws(StoreError) -> FrameCompression {
    if let open, !open.isFull { return open }
    try sendOpen()
    if underWay.count >= files.crew.window { try writeFirst() }
    let task = try files.spares.takeTask()
    open = task
    return task
  }

  /// Gives the frame that is being filled, if there is one, to the crew.
  private func sendOpen() throws(StoreError) {
    guard let task = open else { return }
    open = nil
    if let method {
      task.method = method
      files.crew.submit(task)
      underWay.append(task)
    } else {
      performFirst(task)
      try write(task)
    }
  }

  /// Makes the first frame, here and now, and decides by it.
  private func performFirst(_ task: FrameCompression) {
    task.method = compression.method
    task.perform()
    if task.method != .raw, task.isHardlyCompressed {
      task.method = .raw
      task.perform()
    }
    method = task.method
  }

  private func writeFirst() throws(StoreError) {
    let task = underWay.removeFirst()
    files.crew.finish(task)
    try write(task)
  }

  private func write(_ task: FrameCompression) throws(StoreError) {
    defer { files.spares.give(task) }
    note(task)
    try output.append(task.bytes)
  }

  private func note(_ task: FrameCompression) {
    let checksum = Checksum.ofFrame(
      task.bytes, index: tail.frames.count, of: identity, seed: files.seed)
    tail.append(
      BlobTail.Frame(size: UInt32(task.size), checksum: checksum), length: task.length)
  }

  private func end() throws(StoreError) -> BlobContent {
    if let task = open, method == nil { return try endSmall(task) }
    try sendOpen()
    while !underWay.isEmpty { try writeFirst() }
    let tail = self.tail.encoded()
    try output.append(tail.rawSpan)
    let ended = try output.finish()
    return content(ended, Checksum.ofTail(tail.rawSpan, of: identity, seed: files.seed))
  }

  /// Ends a blob of one frame: that and the tail go to the disk in one write, without a buffer.
  private func endSmall(_ task: FrameCompression) throws(StoreError) -> BlobContent {
    open = nil
    defer { files.spares.give(task) }
    performFirst(task)
    note(task)
    let tail = self.tail.encoded()
    task.append(tail)
    let ended = try output.finish(task.bytes)
    return content(ended, Checksum.ofTail(tail.rawSpan, of: identity, seed: files.seed))
  }

  private func content(
    _ ended: (segment: UInt32, range: Range<UInt64>, pin: BlobPin), _ checksum: Checksum
  ) -> BlobContent {
    let place = BlobPlace(
      segment: ended.segment, offset: ended.range.lowerBound,
      size: ended.range.upperBound - ended.range.lowerBound, length: UInt64(length),
      checksum: checksum)
    return BlobContent(identity: identity, place: place, hash: hasher?.finish(), pin: ended.pin)
  }
}

extension BlobCompression {
  /// How the first frame is made.
  var method: FrameCompression.Method {
    switch self {
    case .none: .raw
    case .zstd(let level):
      .zstd(level: min(max(level, Self.levels.lowerBound), Self.levels.upperBound))
    }
  }
}

extension StoreError {
  /// The error for another append to a finished blob, or a second finish.
  static var blobIsFinished: StoreError {
    .invalidValue(
      record: "Blob", field: nil, reason: "it is finished already; make a writer for each blob")
  }
}

extension BlobSeed {
  /// The key of the content hash: without the seed, two contents that collide cannot be constructed.
  var hashKey: SipHash128.Key { SipHash128.Key(low: rawValue, high: ~rawValue) }
}
