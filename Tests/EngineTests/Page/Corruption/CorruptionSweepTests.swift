import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Damages a small page file in every way there is, and reads it each time.
///
/// The file is `CorruptionFixture`'s; an image is the file with one thing changed. `CorruptionOracle`
/// knows exactly what must be answered, what must be refused, and where the fault must be said to be.
/// In release mode the images are:
///
/// - every bit flipped, of every block of both segments, read or not;
/// - each segment cut to every length in bytes;
/// - every block zeroed, filled with ones, or replaced by the block of the same place of a store
///   with the same contents and another identity, and of an abandoned attempt with the same identity
///   and other contents;
/// - every block copied over every other, and every two swapped, within a segment and across;
/// - 10,000 images with two to four blocks damaged at once, by a seed.
///
/// Of each image the state is opened in both modes, scanned with all values in one and checked in the
/// other. With blocks in other places, and for one bit and one length in a prime stride, everything
/// is asked in both modes: every key, rank and offset, scans both ways, the check. For all but the flips
/// the older state is asked as well. In debug mode strides sample the flips and the lengths, and the
/// line that each test prints says so.
@Suite struct CorruptionSweepTests {
  @Test func `the fixture has every kind of page, and garbage`() throws {
    let fixture = try CorruptionFixture()
    var kinds: Set<UInt8> = []
    var levels: Set<UInt8> = []
    var flags: Set<UInt8> = []
    for (segment, blocks) in fixture.blockCounts {
      let bytes = try fixture.medium.contents(of: .pages(segment))
      for block in 1..<blocks {
        let position = PagePosition(segment: segment, block: UInt32(block))
        let page = try #require(fixture.map.owner(of: position))
        guard fixture.map.positions[page] == position else { continue }
        let header = PageHeader(Array(bytes[(block * Layout.blockSize)...]).rawSpan)
        kinds.insert(header.kind)
        levels.insert(header.level)
        flags.insert(header.flags)
      }
    }
    #expect(kinds == Set(PageKind.allCases.map(\.rawValue)))
    #expect(levels.isSuperset(of: [0, 1, 2]))
    #expect(flags.contains(Node.hasExternalsFlag))
    var pagesOfNew = PageSet()
    for tree in fixture.new.trees {
      for entry in tree.entries { pagesOfNew = pagesOfNew.union(entry.nodes) }
    }
    var pagesOfOld = PageSet()
    for tree in fixture.old.trees {
      for entry in tree.entries { pagesOfOld = pagesOfOld.union(entry.nodes) }
    }
    #expect(!pagesOfOld.isSubset(of: pagesOfNew))
    #expect(!pagesOfNew.isSubset(of: pagesOfOld))
    #expect(pagesOfNew.intersects(pagesOfOld))
    #expect(fixture.blockCounts.reduce(0) { $0 + $1.blocks } >= 16)
  }

  @Test(arguments: 0..<bitShards)
  func `every bit flipped is found where it is, or never read`(shard: Int) throws {
    var sweep = try CorruptionSweep()
    for (segment, blocks) in sweep.fixture.blockCounts {
      let bits = blocks * Layout.blockSize * 8
      let shardBits = (bits + bitShards - 1) / bitShards
      let range = shard * shardBits..<min(bits, (shard + 1) * shardBits)
      for bit in stride(from: range.lowerBound, to: range.upperBound, by: bitStride) {
        try sweep.flip(bit, of: segment)
      }
    }
    try sweep.finish("bits flipped, every \(bitStride)")
  }

  @Test(arguments: CorruptionFixture.segments)
  func `every length a segment is cut to opens to the right answers, or not`(
    segment: UInt32
  ) throws {
    var sweep = try CorruptionSweep()
    let blocks = sweep.fixture.blockCounts.first { $0.segment == segment }?.blocks ?? 0
    let size = blocks * Layout.blockSize
    for length in 0..<size {
      let distance = min(length % Layout.blockSize, Layout.blockSize - length % Layout.blockSize)
      let isNearBoundary = distance <= 1 || length < 48 || size - length < 48
      if isNearBoundary || length % lengthStride == 0 { try sweep.cut(segment, to: length) }
    }
    try sweep.finish("lengths of segment \(segment), every \(lengthStride)")
  }

  @Test func `every block replaced is found where it is, or never read`() throws {
    var sweep = try CorruptionSweep()
    let strangers = try CorruptionFixture(identity: .ofStrangers)
    let attempts = try CorruptionFixture(salt: 1)
    for block in sweep.blocks {
      for filling in [UInt8(0), 0xff] {
        try sweep.replace([(block, Bytes(repeating: filling, count: Layout.blockSize))])
      }
      for other in [strangers, attempts] {
        try sweep.replace([(block, try other.bytes(of: block))])
      }
    }
    try sweep.finish("blocks replaced")
  }

  @Test func `every block in the place of another is found, or never read`() throws {
    var sweep = try CorruptionSweep()
    for target in sweep.blocks {
      for source in sweep.blocks where source != target {
        try sweep.replace([(target, sweep.original(source))])
        if source < target {
          try sweep.replace([(target, sweep.original(source)), (source, sweep.original(target))])
        }
      }
    }
    try sweep.finish("blocks copied and swapped")
  }

  @Test func `several blocks damaged at once are found, or never read`() throws {
    var sweep = try CorruptionSweep()
    let seed: UInt64 = 0x5eed
    var random = SplitMix64(seed: seed)
    for _ in 0..<(isDebug ? 200 : 10_000) {
      let targets = sweep.blocks.shuffled(using: &random).prefix(
        Int.random(in: 2...4, using: &random))
      let changes = targets.map { target in
        var bytes = sweep.original(target)
        bytes[Int.random(in: bytes.indices, using: &random)] ^=
          1 << UInt8.random(in: 0..<8, using: &random)
        return (target, bytes)
      }
      try sweep.replace(changes)
    }
    try sweep.finish("images of several damaged blocks, seed \(seed)")
  }
}

#if DEBUG
  private let isDebug = true
#else
  private let isDebug = false
#endif

/// Prime, so that all bits of a byte have their turn.
private let bitStride = isDebug ? 1_009 : 3
private let lengthStride = isDebug ? 509 : 1
/// Every image so many apart is asked everything. Prime, so that this too falls on all bits of a byte.
private let wholeStride = isDebug ? 1 : 67
/// Parts of the sweep that run side by side.
private let bitShards = 4

// MARK: - Images

/// Makes images of a fixture of its own, one after the other, and counts them.
private struct CorruptionSweep {
  let fixture: CorruptionFixture
  let blocks: [PagePosition]
  private let files: [UInt32: any File]
  private let originals: [UInt32: Bytes]
  private var imageCount = 0

  init() throws {
    let fixture = try CorruptionFixture()
    self.fixture = fixture
    var files: [UInt32: any File] = [:]
    var originals: [UInt32: Bytes] = [:]
    for segment in CorruptionFixture.segments {
      files[segment] = try fixture.medium.open(.pages(segment), .readWrite, at: .test)
      originals[segment] = try fixture.medium.contents(of: .pages(segment))
    }
    self.files = files
    self.originals = originals
    blocks = fixture.blockCounts.flatMap { segment, blocks in
      (0..<UInt32(blocks)).map { PagePosition(segment: segment, block: $0) }
    }
    try verify("the whole file", Damage(), [fixture.new, fixture.old])
  }

  func original(_ block: PagePosition) -> Bytes {
    let start = Int(block.block) * Layout.blockSize
    return Array((originals[block.segment] ?? [])[start..<start + Layout.blockSize])
  }

  mutating func flip(_ bit: Int, of segment: UInt32) throws {
    let offset = bit / 8
    guard let byte = originals[segment]?[offset] else { return }
    let block = PagePosition(segment: segment, block: UInt32(offset / Layout.blockSize))
    try write([byte ^ 1 << UInt8(bit % 8)], to: segment, from: offset)
    var damage = Damage()
    if let page = fixture.map.owner(of: block) { damage.pages.insert(page) }
    try verify(
      "bit \(bit) of segment \(segment)", damage, [fixture.new],
      everything: bit % wholeStride == 0)
    try write([byte], to: segment, from: offset)
  }

  mutating func cut(_ segment: UInt32, to size: Int) throws {
    guard let file = files[segment], let original = originals[segment] else { return }
    try file.truncate(to: size, at: .test)
    var damage = Damage()
    damage.cut = (segment, size)
    for block in blocks where block.segment == segment {
      if size < Int(block.block + 1) * Layout.blockSize, let page = fixture.map.owner(of: block) {
        damage.pages.insert(page)
      }
    }
    try verify(
      "segment \(segment) cut to \(size) bytes", damage, [fixture.new, fixture.old],
      everything: size % wholeStride == 0 || size % Layout.blockSize == 0)
    try write(original, to: segment, from: 0)
  }

  mutating func replace(_ changes: [(block: PagePosition, bytes: Bytes)]) throws {
    var damage = Damage()
    for (block, bytes) in changes {
      try write(bytes, to: block.segment, from: Int(block.block) * Layout.blockSize)
      guard bytes != original(block), let page = fixture.map.owner(of: block) else { continue }
      damage.pages.insert(page)
    }
    try verify("blocks \(changes.map(\.block))", damage, [fixture.new, fixture.old])
    for (block, _) in changes {
      try write(original(block), to: block.segment, from: Int(block.block) * Layout.blockSize)
    }
  }

  /// Ends a sweep: everything must be as it was.
  func finish(_ what: String) throws {
    var whole = self
    try whole.verify("the whole file", Damage(), [fixture.new, fixture.old])
    print("Corruption sweep: \(imageCount) images, \(what)")
  }

  private func write(_ bytes: Bytes, to segment: UInt32, from offset: Int) throws {
    guard let file = files[segment] else { return }
    try file.write(bytes, from: offset)
  }

  private mutating func verify(
    _ image: @autoclosure () -> String, _ damage: Damage, _ states: [PublishedState],
    everything: Bool = true
  ) throws {
    imageCount += 1
    for state in states {
      var oracle = CorruptionOracle(fixture, state, damage)
      do {
        try everything ? oracle.verifyEverything() : oracle.verifyPages()
      } catch {
        throw Violation("\(image()), state \(state.reference.position): \(error)")
      }
    }
  }
}

extension CorruptionFixture {
  fileprivate func bytes(of block: PagePosition) throws -> Bytes {
    let file = try medium.open(.pages(block.segment), .read, at: .test)
    let start = Int(block.block) * Layout.blockSize
    return try file.read(start..<start + Layout.blockSize)
  }
}
