/// Frames of a blob as they were read, not yet checked.
final class FetchedFrames: Sendable {
  /// Which frames these are.
  let indices: Range<Int>
  private let frames: BlobFrames
  /// The bytes of the frames, and maybe of others.
  private let memory: BlobMemory
  /// Where the memory's first byte is, from the blob's beginning.
  private let start: Int

  init(_ indices: Range<Int>, of frames: BlobFrames, in memory: BlobMemory, from start: Int) {
    self.indices = indices
    self.frames = frames
    self.memory = memory
    self.start = start
  }

  /// How many bytes of memory it holds.
  var memoryCount: Int { memory.count }

  /// How much content is in a frame.
  func length(of index: Int) -> Int { frames.length(of: index) }

  /// The bytes of a frame, compressed.
  @_lifetime(borrow self)
  func bytes(of index: Int) -> RawSpan { bytes(of: index..<index + 1) }

  /// The bytes of all frames.
  var bytes: RawSpan {
    @_lifetime(borrow self)
    get { bytes(of: indices) }
  }

  @_lifetime(borrow self)
  private func bytes(of indices: Range<Int>) -> RawSpan {
    let range = frames.bytes(of: indices)
    precondition(
      range.lowerBound >= start && range.upperBound - start <= memory.count, "not fetched")
    let bytes = unsafe RawSpan(
      _unsafeStart: memory.pointer(at: range.lowerBound - start), byteCount: range.count)
    return unsafe _overrideLifetime(bytes, borrowing: self)
  }

  /// Throws unless all match the tail.
  ///
  /// - Throws: `.corrupt`.
  func check() throws(StoreError) {
    for index in indices { try frames.check(bytes(of: index), index) }
  }

  /// Checks a frame, and fills `content` with its content.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func decompress(
    _ index: Int, to content: inout MutableRawSpan, by contexts: ZstdContexts
  ) throws(StoreError) {
    try frames.decompress(bytes(of: index), index, to: &content, by: contexts)
  }
}

/// Decompresses a frame, on whichever thread, and puts a part of its content in its place.
final class FrameDecompression: CrewTask, @unchecked Sendable {
  private let fetched: FetchedFrames
  private let index: Int
  /// Of the frame's content.
  private let part: Range<Int>
  private let contexts: ZstdContexts
  private let target: BlobMemory
  private let offset: Int
  private var failure: StoreError?

  /// - Parameters:
  ///   - part: The range of the frame's content to be read.
  ///   - offset: Where that begins in `target`.
  init(
    _ index: Int, of fetched: FetchedFrames, _ part: Range<Int>, to target: BlobMemory,
    at offset: Int, by contexts: ZstdContexts
  ) {
    self.index = index
    self.fetched = fetched
    self.part = part
    self.target = target
    self.offset = offset
    self.contexts = contexts
  }

  override func perform() {
    do throws(StoreError) {
      if part.count == fetched.length(of: index) {
        try fill(target, from: offset, count: part.count)
      } else {
        try copyPart()
      }
    } catch {
      failure = error
    }
  }

  /// Throws the error, if any.
  func get() throws(StoreError) {
    if let failure { throw failure }
  }

  private func fill(_ memory: BlobMemory, from offset: Int, count: Int) throws(StoreError) {
    var content = memory.mutableBytes(offset..<offset + count)
    try fetched.decompress(index, to: &content, by: contexts)
  }

  private func copyPart() throws(StoreError) {
    let whole = try BlobMemory(count: fetched.length(of: index))
    try fill(whole, from: 0, count: whole.count)
    let target = target
    var content = target.mutableBytes(offset..<offset + part.count)
    content.copy(whole.bytes(part), to: 0)
  }
}
