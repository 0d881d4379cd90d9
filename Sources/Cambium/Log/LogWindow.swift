/// Blocks of a log file in memory, a run of them at a time.
struct LogWindow: ~Copyable {
  private let file: any File
  /// The block behind the last one that may be read.
  private let endBlock: UInt32
  private var buffer: AlignedBuffer
  private var held: Range<UInt32> = 0..<0

  /// What is read at once, if the file has it.
  private static var readBlocks: UInt32 { 16 }

  init(_ file: any File, blocks: UInt32) {
    self.file = file
    endBlock = blocks
    buffer = AlignedBuffer(count: Int(Self.readBlocks) * Layout.blockSize)
  }

  /// Sees to it that `blocks`, which the file has, can be looked at by `bytes`.
  mutating func load(_ blocks: Range<UInt32>) throws(StoreError) {
    if held.contains(blocks.lowerBound), blocks.upperBound <= held.upperBound { return }
    precondition(blocks.upperBound <= endBlock, "the file ends before")
    held = 0..<0
    let end = min(max(blocks.upperBound, blocks.lowerBound + Self.readBlocks), endBlock)
    let size = Int(end - blocks.lowerBound) * Layout.blockSize
    if size > buffer.count { buffer = AlignedBuffer(count: size) }
    let file = file
    var span = buffer.mutableBytes(0..<size)
    try file.readOrZero(into: &span, from: Int(blocks.lowerBound) * Layout.blockSize)
    held = blocks.lowerBound..<end
  }

  /// The first `count` bytes from `block` on, which are loaded.
  @_lifetime(borrow self)
  func bytes(_ block: UInt32, _ count: Int) -> RawSpan {
    buffer.bytes.part(Int(block - held.lowerBound) * Layout.blockSize, count)
  }

  /// Forgets what is held, so that it is read from the file again.
  mutating func drop() {
    held = 0..<0
  }
}

extension File {
  /// Fills `buffer`, with zeros from where the file ends: it may have been cut since it was opened, and
  /// zeros are no frame.
  fileprivate func readOrZero(
    into buffer: inout MutableRawSpan, from offset: Int
  ) throws(StoreError) {
    let count = try read(into: &buffer, from: offset, at: .logRead)
    buffer.zero(count..<buffer.byteCount)
  }
}
