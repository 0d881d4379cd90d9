/// One page segment, open for reading.
///
/// Its published bytes never change, so readers share it without locks, also those of states that know
/// different ends of it: each asks only for what its own table publishes. It closes when the last state
/// that names it goes.
final class PageSegment: Sendable {
  let number: UInt32
  let file: any File
  /// The file in memory; nil if pages are read into a cache.
  let mapping: FileMapping?
  /// The pages of the mapping that this process has verified; empty if there is none.
  let verified: BlockSet

  /// Opens segment `number`, of at least `blocks` blocks, and checks that it is this store's.
  ///
  /// - Throws: `.missing`, `.newerFormat`, `.corrupt`, `.io`.
  convenience init(
    opening number: UInt32, blocks: UInt32, of identity: StoreIdentity?, in medium: any FileSystem,
    mapped: Bool
  ) throws(StoreError) {
    let file = try medium.open(.pages(number), .read, at: .segmentOpen)
    let size = try file.size(at: .segmentOpen)
    try Self.check(size: size, holds: blocks, number: number)
    _ = try Self.identity(of: file, number: number, expected: identity, in: medium)
    try self.init(number: number, file: file, mapped: mapped, holding: blocks)
  }

  /// Takes an open file whose header the caller has looked at, and of which the first `blocks` blocks are
  /// to be read, or more.
  init(number: UInt32, file: any File, mapped: Bool, holding blocks: UInt32 = 0) throws(StoreError)
  {
    self.number = number
    self.file = file
    let capacity = Self.mappedBlocks(holding: blocks)
    verified = BlockSet(blocks: mapped ? capacity : 0)
    mapping =
      mapped ? try file.map(capacity: capacity * Layout.blockSize, at: .segmentMap) : nil
  }

  /// The number of blocks to map for a segment that has `blocks` blocks and may grow: so many that it is
  /// rarely mapped again, and not so many that the addresses of small machines do not suffice.
  private static func mappedBlocks(holding blocks: UInt32) -> Int {
    var capacity = Layout.usualSegmentBlocks
    while capacity < blocks { capacity *= 2 }
    return min(capacity, Layout.segmentBlocksMax)
  }

  /// The segment with the first `blocks` blocks mapped: itself, unless its mapping is too small for them or
  /// it has none.
  ///
  /// - Throws: `.io`.
  func mapping(holds blocks: UInt32) throws(StoreError) -> PageSegment {
    guard let mapping, mapping.capacity < Int(blocks) * Layout.blockSize else { return self }
    let larger = try PageSegment(number: number, file: file, mapped: true, holding: blocks)
    larger.verified.formUnion(verified)
    return larger
  }

  /// Throws unless all blocks that were published are there now.
  func check(holds blocks: UInt32) throws(StoreError) {
    try Self.check(
      size: try file.size(at: .segmentOpen), holds: blocks, number: number)
  }

  /// Throws unless a file of `size` bytes has all blocks that were published.
  static func check(size: Int, holds blocks: UInt32, number: UInt32) throws(StoreError) {
    guard size / Layout.blockSize >= blocks else {
      throw .corrupt(
        .segment(number), invariant: .segmentEnd,
        reason: "\(size / Layout.blockSize) blocks are there, \(blocks) were published")
    }
  }

  /// The store whose segment a file is, by its header.
  ///
  /// - Parameter expected: The store that it must belong to, if that is known.
  /// - Throws: `.newerFormat`, `.corrupt`, `.io`.
  static func identity(
    of file: any File, number: UInt32, expected: StoreIdentity?, in medium: any FileSystem
  ) throws(StoreError) -> StoreIdentity {
    try header(of: file, number: number, expected: expected, in: medium).identity
  }

  /// The header of a file.
  ///
  /// - Parameter expected: The store that it must belong to, if that is known.
  /// - Throws: `.newerFormat`, `.corrupt`, `.io`.
  static func header(
    of file: any File, number: UInt32, expected: StoreIdentity?, in medium: any FileSystem
  ) throws(StoreError) -> SegmentHeader {
    let header = try header(of: file, number: number, in: medium)
    guard expected == nil || header.identity == expected else {
      throw .corrupt(
        .segment(number), invariant: .segmentHeader, reason: "it belongs to another store")
    }
    return header
  }

  private static func header(
    of file: any File, number: UInt32, in medium: any FileSystem
  ) throws(StoreError) -> SegmentHeader {
    var block = AlignedBuffer(count: Layout.blockSize)
    var span = block.mutableBytes(0..<Layout.blockSize)
    let count = try file.read(into: &span, from: 0, at: .segmentHeaderRead)
    return try SegmentHeader(
      decoding: block.bytes.part(0, count), number: number, path: medium.path)
  }
}
