/// Makes a frame of content, on whichever thread.
final class FrameCompression: CrewTask, @unchecked Sendable {
  /// How a frame comes about.
  enum Method: Equatable, Sendable {
    /// Its blocks are the content as it is.
    case raw
    case zstd(level: Int)
  }

  /// How much memory one takes.
  static let memory = BlobLayout.frameLength + frameCapacity
  /// With room for the tail of a blob of one frame.
  private static let frameCapacity =
    BlobLayout.frameSizeMax(length: BlobLayout.frameLength) + BlobLayout.tailSize(frames: 1)

  private let contexts: ZstdContexts
  private let content: BlobMemory
  private let frame: BlobMemory
  /// How much content there is.
  private(set) var length = 0
  /// The size of the frame, and of the bytes after it.
  private(set) var size = 0
  var method = Method.raw

  init(_ contexts: ZstdContexts) throws(StoreError) {
    self.contexts = contexts
    content = try BlobMemory(count: BlobLayout.frameLength)
    frame = try BlobMemory(count: Self.frameCapacity)
  }

  var isFull: Bool { length == BlobLayout.frameLength }

  /// Takes in as much as there is room for, and returns how much that was.
  func take(_ bytes: RawSpan) -> Int {
    let count = min(bytes.byteCount, BlobLayout.frameLength - length)
    let content = content
    var target = content.mutableBytes(length..<length + count)
    target.copy(bytes.part(0, count), to: 0)
    length += count
    return count
  }

  /// Makes the frame, of at least one byte of content.
  ///
  /// Where zstd cannot, since there is no memory for a context, the content stays as it is.
  override func perform() {
    let (contentMemory, frameMemory) = (self.content, frame)
    let content = contentMemory.bytes(0..<length)
    var target = frameMemory.mutableBytes(0..<frameMemory.count)
    if case .zstd(let level) = method,
      let size = contexts.compress(content, level: level, to: &target)
    {
      self.size = size
    } else {
      size = ZstdFrame.encodeRaw(content, to: &target)
    }
  }

  /// True if compression took less than a tenth off.
  var isHardlyCompressed: Bool { size > length - length / 10 }

  /// The frame, and the bytes after it.
  var bytes: RawSpan {
    @_lifetime(borrow self)
    get {
      let bytes = unsafe RawSpan(_unsafeStart: frame.pointer(at: 0), byteCount: size)
      return unsafe _overrideLifetime(bytes, borrowing: self)
    }
  }

  /// Writes the tail of a blob of one frame after that, so that both go to the disk at once.
  func append(_ tail: [UInt8]) {
    let frame = frame
    var target = frame.mutableBytes(size..<size + tail.count)
    target.copy(tail.rawSpan, to: 0)
    size += tail.count
  }

  /// Forgets the content.
  func clear() {
    length = 0
    size = 0
  }
}
