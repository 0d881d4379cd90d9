import Cambium

/// A map of a simulated file: memory that every change of the live bytes is repeated in, for as long
/// as it is held.
struct Mirror {
  weak var memory: AnonymousMemory?

  func apply(_ change: ContentChange) {
    guard let memory else { return }
    switch change {
    case .write(let bytes, let offset): write(bytes, from: offset)
    case .resize(let size) where size < memory.capacity: memory.clear(size..<memory.capacity)
    case .resize, .grow, .spoil: break
    }
  }

  /// Shows `content` and nothing of what was there before.
  func show(_ content: SparseBytes) {
    guard let memory else { return }
    memory.clear(0..<memory.capacity)
    for block in content.writtenBlocks {
      write(block.bytes, from: block.index * SparseBytes.blockSize)
    }
  }

  private func write(_ bytes: [UInt8], from offset: Int) {
    guard let memory, offset < memory.capacity else { return }
    let span = bytes.span.extracting(first: min(bytes.count, memory.capacity - offset))
    unsafe memory.write(span.bytes, from: offset)
  }
}
