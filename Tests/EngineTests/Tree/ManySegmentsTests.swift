import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct ManySegmentsTests {
  private static func changes(_ round: UInt64) -> [Bytes: Bytes?] {
    var random = SplitMix64(seed: round)
    var changes: [Bytes: Bytes?] = [:]
    for _ in 0..<120 {
      let number = random.next() % 2_000
      changes[key(number, length: 8)] = Bytes(repeating: UInt8(round), count: 3_000)
    }
    return changes
  }

  @Test(arguments: TreeReadingTests.modes, [1, 0x7fff_fffe, UInt32.max - 200])
  func `trees over many full segments agree with a dictionary`(
    mode: ReadMode, first: UInt32
  ) throws {
    var world = TreeWorld(on: InMemoryFileSystem(), sizes: tinyNodes, reading: mode)
    world.segmentBlocks = 130
    world.nextSegment = first
    for round in 0..<6 as Range<UInt64> { try world.merge(Self.changes(round)) }
    #expect(world.nextSegment - first > 6)
    #expect(world.file?.footer.segments.count ?? 0 > 6)
    try world.verify(every: 7)
    try world.merge([:], adoption: .outside(segment: first))
    try world.verify(every: 40)
  }

  @Test func `the last segment number is used, and none is after it`() throws {
    var world = TreeWorld(on: InMemoryFileSystem(), sizes: tinyNodes)
    world.segmentBlocks = 130
    world.nextSegment = .max - 1
    try world.merge([[1]: [1]])
    world.nextSegment = .max
    try world.merge([[2]: [2]])
    try world.verify()
    #expect(world.root?.reference.position.segment == .max)
    var overflowing = TreeWorld(on: InMemoryFileSystem(), sizes: tinyNodes)
    overflowing.segmentBlocks = 130
    overflowing.nextSegment = .max
    #expect(throws: StoreError.limitExceeded(.segmentNumber, found: 1 << 32)) {
      try overflowing.merge(
        Self.changes(1).merging(Self.changes(2)) { $1 })
    }
  }

  @Test(arguments: TreeReadingTests.modes)
  func `leaves at the end of full-sized segments are read`(mode: ReadMode) throws {
    let identity = TreeWorld.identity
    let pages = CraftedPages(from: 8)
    var children: [(separator: Bytes, reference: PageReference)] = []
    for number in 1...7 as ClosedRange<UInt32> {
      let start = Int(number) * 100
      var node = BuiltNode(CraftedPages.entries(start..<start + 100))
      node.seal(
        at: PagePosition(segment: number, block: UInt32(Layout.usualSegmentBlocks) - 2),
        in: identity)
      var header = AlignedBuffer(count: Layout.blockSize)
      var span = header.mutableBytes(0..<Layout.blockSize)
      SegmentHeader(identity: identity, number: number).encode(to: &span)
      // The gigabyte between the two is a hole.
      let file = try pages.medium.create(.pages(number), header.bytes.array())
      try file.write(
        node.bytes, from: Int(node.reference.position.block) * Layout.blockSize)
      children.append(([UInt8(start >> 8), UInt8(start & 0xff)], node.reference))
    }
    let root = try pages.append(branch: children)
    let full = (1...7 as ClosedRange<UInt32>).map {
      SegmentExtent(
        kind: .pages, number: $0, end: UInt64(Layout.usualSegmentBlocks), liveBytes: 0)
    }
    let tree = try pages.tree(root, level: 1, reading: mode, below: full)
    #expect(TreeCheck.run(tree).faults.isEmpty)
    for start in 100..<800 {
      let key = [UInt8(start >> 8), UInt8(start & 0xff)]
      let rank = try tree.rank(of: key.rawSpan)
      #expect(rank == start - 100)
      let entry = try tree.entry(for: key.rawSpan)
      #expect(entry != nil)
    }
  }

  @Test func `a segment that grows past what is mapped of it is mapped again`() throws {
    let medium = InMemoryFileSystem(capacity: 4 << 30)
    let identity = TreeWorld.identity
    let limit = UInt32(Layout.usualSegmentBlocks)
    var header = AlignedBuffer(count: Layout.blockSize)
    var span = header.mutableBytes(0..<Layout.blockSize)
    SegmentHeader(identity: identity, number: 1).encode(to: &span)
    let file = try medium.create(.pages(1), header.bytes.array())
    var leaves: [PageReference] = []
    for block in [limit - 2, limit + 5] {
      var node = BuiltNode(CraftedPages.entries(0..<50))
      node.seal(at: PagePosition(segment: 1, block: block), in: identity)
      try file.write(node.bytes, from: Int(block) * Layout.blockSize)
      leaves.append(node.reference)
    }
    func reader(_ segment: PageSegment, _ end: UInt32) -> PageReader {
      PageReader(
        medium: medium, identity: identity,
        segments: SegmentTable([.init(segment: segment, endBlock: end)]), cache: nil)
    }
    let small = try PageSegment(
      opening: 1, blocks: limit, of: identity, in: medium, mapped: true)
    _ = try reader(small, limit).page(leaves[0], level: 0, as: LeafPage.self)
    let same = try small.mapping(holds: limit)
    #expect(same === small)
    let large = try small.mapping(holds: limit + 6)
    #expect(large !== small)
    // What was verified once is not read again.
    #expect(large.verified.contains(limit - 2))
    for leaf in leaves {
      _ = try reader(large, limit + 6).page(leaf, level: 0, as: LeafPage.self)
    }
  }

  @Test func `segments become larger with the store, within their bounds`() {
    let usual = Layout.usualSegmentBlocks
    for (blocks, expected) in [
      (0, usual), (16 << 18, usual), (17 << 18, 17 << 14), (1 << 28, Layout.segmentBlocksMax),
      (.max, Layout.segmentBlocksMax),
    ] as [(UInt64, Int)] {
      #expect(Layout.segmentBlocks(inStoreOf: blocks) == expected)
    }
  }
}
