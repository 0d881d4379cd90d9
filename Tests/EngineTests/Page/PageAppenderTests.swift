import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct PageAppenderTests {
  private static let identity = FooterFixtures.identity
  /// The least an appender takes, so that a few pages fill a segment.
  private static let segmentBlocks = 2 * Layout.pageBlocksMax + 1

  @Test func `pages follow one another, and none crosses a segment`() throws {
    let world = try AppendedPages(
      InMemoryFileSystem(), sizes: randomSizes(seed: 1), output: .buffered)
    var expected = PagePosition(segment: 1, block: 1)
    for (reference, blocks) in zip(world.references, world.sizes) {
      if Int(expected.block) + blocks > Self.segmentBlocks {
        expected = PagePosition(segment: expected.segment + 1, block: 1)
      }
      #expect(reference.position == expected)
      #expect(Int(reference.blocks) == blocks)
      expected = PagePosition(
        segment: expected.segment, block: expected.block + UInt32(blocks))
    }
    #expect(expected.segment > 3)
    try world.readAll()
  }

  @Test func `a segment is filled to its last block`() throws {
    let world = try AppendedPages(
      InMemoryFileSystem(), sizes: [64, 64, 1, 64, 63, 2], output: .buffered)
    #expect(
      world.references.map(\.position) == [
        PagePosition(segment: 1, block: 1), PagePosition(segment: 1, block: 65),
        PagePosition(segment: 2, block: 1), PagePosition(segment: 2, block: 2),
        PagePosition(segment: 2, block: 66), PagePosition(segment: 3, block: 1),
      ])
    #expect(world.extents.map(\.endBlock) == [129, 129, 3])
    try world.readAll()
  }

  @Test func `every size of page is written and read`() throws {
    let world = try AppendedPages(
      InMemoryFileSystem(), sizes: Array(1...64), output: .buffered)
    try world.readAll()
  }

  @Test func `direct and buffered output leave the same bytes`() throws {
    let sizes = randomSizes(seed: 2)
    let directories = try (0..<2).map { _ in try TemporaryDirectory() }
    defer { withExtendedLifetime(directories) {} }
    let direct = try AppendedPages(
      PosixFileSystem(at: directories[0].path), sizes: sizes, output: .direct)
    let buffered = try AppendedPages(
      PosixFileSystem(at: directories[1].path), sizes: sizes, output: .buffered)
    let inMemory = try AppendedPages(InMemoryFileSystem(), sizes: sizes, output: .direct)
    try direct.readAll()
    #expect(direct.references == buffered.references)
    #expect(direct.references == inMemory.references)
    for extent in direct.extents {
      let bytes = try direct.medium.contents(of: .pages(extent.number))
      #expect(bytes.count == Int(extent.endBlock) * Layout.blockSize)
      #expect(try buffered.medium.contents(of: .pages(extent.number)) == bytes)
      #expect(try inMemory.medium.contents(of: .pages(extent.number)) == bytes)
    }
  }

  @Test func `what a page does not use is zero, whatever was in the buffer`() throws {
    let medium = InMemoryFileSystem()
    let appender = PageAppender(
      to: medium, of: Self.identity, from: 1, output: .buffered,
      segmentBlocks: Self.segmentBlocks, bufferSize: 2 * 64 * Layout.blockSize)
    for used in [8192, 100, 4096, PageHeader.size] {
      _ = try appender.append(.value, blocks: 2) { page in
        for offset in PageHeader.size..<used { page.store(UInt8(0xaa), at: offset) }
        return used
      }
      try appender.sync()
      let file = try medium.contents(of: .pages(1))
      #expect(file.suffix(8192).dropFirst(used).allSatisfy { $0 == 0 })
      #expect(file.suffix(8192).prefix(used).dropFirst(PageHeader.size).allSatisfy { $0 == 0xaa })
    }
  }

  @Test func `the last segment number is used, and none after it`() throws {
    let medium = InMemoryFileSystem()
    let appender = PageAppender(
      to: medium, of: Self.identity, from: .max, output: .buffered,
      segmentBlocks: Self.segmentBlocks)
    for _ in 0..<2 { _ = try appender.append(.value, blocks: 64) { _ in 0 } }
    let error = storeError { () throws(StoreError) in
      _ = try appender.append(.value, blocks: 1) { _ in 0 }
    }
    #expect(error == .limitExceeded(.segmentNumber, found: 1 << 32))
  }

  @Test func `a segment that is there already is not replaced`() throws {
    try refusesToReplace(InMemoryFileSystem())
    try refusesToReplace(SimulatedFileSystem())
    let directory = try TemporaryDirectory()
    try refusesToReplace(PosixFileSystem(at: directory.path))
  }

  private func refusesToReplace(_ medium: some FileSystem) throws {
    let first = PageAppender(to: medium, of: Self.identity, from: 7, output: .buffered)
    _ = try first.append(.value, blocks: 2) { _ in 0 }
    try first.sync()
    let before = try medium.contents(of: .pages(7))
    let second = PageAppender(to: medium, of: Self.identity, from: 7, output: .buffered)
    let error = storeError { () throws(StoreError) in
      _ = try second.append(.value, blocks: 1) { _ in 0 }
    }
    #expect(error == .failed("rename", .fileExists, path: "\(medium.path)/pages-0000000007"))
    #expect(try medium.contents(of: .pages(7)) == before)
  }

  @Test func `a segment gets its name when its header is on the medium`() throws {
    let medium = SimulatedFileSystem()
    _ = try AppendedPages(medium, sizes: [1], output: .buffered)
    let sites = medium.calls.map(\.site).prefix { $0 != .pageWrite }
    #expect(
      Array(sites) == [
        .segmentCreate, .segmentHeaderWrite, .segmentHeaderSync, .segmentRename,
        .segmentDirectorySync,
      ])
  }

  private func randomSizes(seed: UInt64) -> [Int] {
    var random = SplitMix64(seed: seed)
    return (0..<60).map { _ in
      Bool.random(using: &random) ? Int.random(in: 1...64, using: &random) : 1
    }
  }

  /// Value pages of given sizes, and what is in them.
  private struct AppendedPages {
    let medium: any FileSystem
    let sizes: [Int]
    private(set) var references: [PageReference] = []
    private(set) var extents: [AppendedBlocks] = []

    init(
      _ medium: any FileSystem, sizes: [Int], output: PageAppender.Output
    ) throws {
      self.medium = medium
      self.sizes = sizes
      let appender = PageAppender(
        to: medium, of: identity, from: 1, output: output,
        segmentBlocks: PageAppenderTests.segmentBlocks)
      for index in sizes.indices {
        references.append(try appender.append(largeValue: contents(index).rawSpan))
      }
      try appender.sync()
      extents = appender.extents
    }

    /// Fills the page but for a few bytes.
    private func contents(_ index: Int) -> Bytes {
      let count = sizes[index] * Layout.blockSize - LargeValue.partHeaderSize - index % 7
      return Bytes(repeating: UInt8(truncatingIfNeeded: index + 1), count: count)
    }

    /// Reads every page, with its checksum, through a reader that knows exactly what was appended.
    func readAll() throws {
      let entries = try extents.map {
        SegmentTable.Entry(
          segment: try PageSegment(
            opening: $0.number, blocks: $0.endBlock, of: identity, in: medium, mapped: false),
          endBlock: $0.endBlock)
      }
      let reader = PageReader(
        medium: medium, identity: identity, segments: SegmentTable(entries),
        cache: PageCache(capacity: 0))
      for (index, reference) in references.enumerated() {
        var bytes: Bytes = []
        try reader.appendLargeValue(reference, to: &bytes)
        #expect(bytes == contents(index))
      }
    }
  }
}
