/// A file's bytes, of which only the blocks that were written take up room.
///
/// A value: copies share their blocks until one is written, so keeping a file's old content costs
/// little. A segment of 1 GiB with one page in it costs one page.
package struct SparseBytes: Equatable, Sendable {
  package static let blockSize = 4096

  package private(set) var size = 0
  /// Every block is whole; where there is none, the file is zeros.
  private var blocks: [Int: [UInt8]] = [:]

  package init() {}

  package init(_ bytes: [UInt8]) {
    write(bytes, from: 0)
  }
}

extension SparseBytes {
  /// The bytes in `range`, as far as the file goes.
  package func bytes(_ range: Range<Int>) -> [UInt8] {
    let range = range.clamped(to: 0..<size)
    var result = [UInt8](repeating: 0, count: range.count)
    SparseBytes.forEachBlock(of: range) { index, inBlock, inRange in
      guard let block = blocks[index] else { return }
      SparseBytes.copy(block, inBlock, to: &result, from: inRange.lowerBound)
    }
    return result
  }

  package mutating func write(_ bytes: [UInt8], from offset: Int) {
    guard !bytes.isEmpty else { return }
    let range = offset..<offset + bytes.count
    SparseBytes.forEachBlock(of: range) { index, inBlock, inRange in
      SparseBytes.copy(
        bytes, inRange, to: &blocks[index, default: SparseBytes.zeros], from: inBlock.lowerBound)
    }
    size = max(size, range.upperBound)
  }

  /// Cuts the file, or grows it with zeros.
  package mutating func resize(to newSize: Int) {
    if newSize < size {
      let cut = newSize.quotientAndRemainder(dividingBy: SparseBytes.blockSize)
      blocks = blocks.filter { index, _ in
        index < cut.quotient || (index == cut.quotient && cut.remainder > 0)
      }
      if let block = blocks[cut.quotient] {
        blocks[cut.quotient] = Array(block[..<cut.remainder]) + SparseBytes.zeros[cut.remainder...]
      }
    }
    size = newSize
  }
}

extension SparseBytes {
  /// The blocks that were written, in order.
  package var writtenBlocks: [(index: Int, bytes: [UInt8])] {
    blocks.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// How many blocks from block `first` on take up room.
  package var blockCount: Int { blocks.count }

  /// How many of the blocks that `range` touches take up no room yet.
  package func missingBlocks(in range: Range<Int>) -> Int {
    SparseBytes.blocks(of: range).count { blocks[$0] == nil }
  }

  /// Takes over from `other` the blocks that `range` touches, holes too.
  package mutating func adoptBlocks(of range: Range<Int>, from other: SparseBytes) {
    for index in SparseBytes.blocks(of: range) { blocks[index] = other.blocks[index] }
    size = max(size, min(range.upperBound, other.size))
  }

  package static func blocks(of range: Range<Int>) -> Range<Int> {
    range.isEmpty ? 0..<0 : range.lowerBound / blockSize..<(range.upperBound - 1) / blockSize + 1
  }
}

extension SparseBytes {
  private static let zeros = [UInt8](repeating: 0, count: blockSize)

  /// Calls `body` with each block that `range` touches, the part of the block, and the same
  /// counted from the range's beginning.
  private static func forEachBlock(
    of range: Range<Int>,
    _ body: (_ index: Int, _ inBlock: Range<Int>, _ inRange: Range<Int>) -> Void
  ) {
    for index in blocks(of: range) {
      let start = index * blockSize
      let part = range.clamped(to: start..<start + blockSize)
      body(
        index, part.lowerBound - start..<part.upperBound - start,
        part.lowerBound - range.lowerBound..<part.upperBound - range.lowerBound)
    }
  }

  /// By hand, as slices are slow without optimisation and crash tests do little else.
  private static func copy(
    _ source: [UInt8], _ range: Range<Int>, to target: inout [UInt8], from offset: Int
  ) {
    unsafe source.withUnsafeBytes { source in
      unsafe target.withUnsafeMutableBytes { target in
        let part = unsafe UnsafeRawBufferPointer(rebasing: source[range])
        unsafe UnsafeMutableRawBufferPointer(rebasing: target[offset...]).copyMemory(from: part)
      }
    }
  }
}
