import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// Footers as tests want them.
enum FooterFixtures {
  static let identity = StoreIdentity(low: 7, high: 8)
  /// Behind every page that the footers here refer to.
  static let position = PagePosition(segment: 1 << 20, block: 5)

  /// Everything filled, as random as the format allows.
  static func random(_ random: inout SplitMix64) -> Footer {
    var footer = Footer(identity: identity)
    footer.features.compatible = random.next()
    footer.features.readCompatible = random.next()
    footer.coveredSequence = random.next()
    footer.epoch = random.next()
    footer.nextSegment = UInt32(truncatingIfNeeded: random.next())
    footer.trees = trees(count: Int.random(in: 0..<20, using: &random), &random)
    footer.segments = extents(&random)
    footer.keptStates = (0..<Int.random(in: 0..<5, using: &random)).map { _ in
      KeptState(
        version: UInt32(truncatingIfNeeded: random.next()), label: text(&random),
        footer: footerReference(&random))
    }
    footer.pendingWork = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
      PendingWork(
        kind: UInt16(truncatingIfNeeded: random.next()),
        cursor: (0..<Int.random(in: 0..<300, using: &random)).map { UInt8($0 & 0xff) },
        trees: trees(count: Int.random(in: 0..<3, using: &random), &random))
    }
    if Bool.random(using: &random) { footer.previous = footerReference(&random) }
    return footer
  }

  private static func trees(count: Int, _ random: inout SplitMix64) -> [NamedTree] {
    let names = Set((0..<count).map { _ in text(&random) })
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.map { name in
      let level = UInt8.random(in: 0...Layout.levelMax, using: &random)
      let root = TreeRoot(reference: page(&random), level: level)
      return NamedTree(name: name, root: Bool.random(using: &random) ? root : nil)
    }
  }

  private static func extents(_ random: inout SplitMix64) -> [SegmentExtent] {
    let pages = UInt32.random(in: 0..<6, using: &random)
    let blobs = UInt32.random(in: 0..<6, using: &random)
    return (0..<pages).map { number in
      SegmentExtent(
        kind: .pages, number: number * 3,
        end: UInt64.random(in: 0...UInt64(Layout.segmentBlocksMax), using: &random),
        liveBytes: random.next())
    }
      + (0..<blobs).map { number in
        SegmentExtent(kind: .blobs, number: number, end: random.next(), liveBytes: random.next())
      }
  }

  private static func page(_ random: inout SplitMix64) -> PageReference {
    let blocks = UInt8.random(in: 1...64, using: &random)
    return PageReference(
      position: PagePosition(
        segment: UInt32.random(in: 0..<position.segment, using: &random),
        block: UInt32.random(in: 1..<1 << 18, using: &random)),
      blocks: blocks, checksum: PageChecksum(rawValue: random.next()),
      lowestVersion: UInt32(truncatingIfNeeded: random.next()),
      count: UInt64.random(in: 0...PageReference.aggregateMax, using: &random),
      liveBytes: 4096
        * UInt64.random(in: UInt64(blocks)...PageReference.aggregateMax, using: &random))
  }

  private static func footerReference(_ random: inout SplitMix64) -> FooterReference {
    FooterReference(
      position: PagePosition(
        segment: UInt32(truncatingIfNeeded: random.next()),
        block: UInt32.random(in: 1..<1 << 18, using: &random)),
      blocks: UInt8.random(in: 1...64, using: &random),
      checksum: PageChecksum(rawValue: random.next()),
      copyChecksum: PageChecksum(rawValue: random.next()),
      coveredSequence: random.next())
  }

  private static func text(_ random: inout SplitMix64) -> String {
    let letters = Array("abcdefgé漢🌳 ")
    return String(
      (0..<Int.random(in: 0..<40, using: &random)).map { _ in
        letters.randomElement(using: &random) ?? "x"
      })
  }
}

extension Footer {
  /// The bytes of a page with this footer, without a checksum.
  func page(extraSections: Bytes = []) throws -> Bytes {
    let sections = try encodedSections() + extraSections
    let size = Footer.fixedSize + sections.count
    let blocks = (size + Layout.blockSize - 1) / Layout.blockSize
    var page = Bytes(repeating: 0, count: blocks * Layout.blockSize)
    var mutableSpan = page.mutableSpan
    var bytes = unsafe mutableSpan.mutableBytes
    encode(sections, to: &bytes)
    PageHeader(kind: .footer, level: 0, blocks: UInt8(blocks), checksum: PageChecksum())
      .encode(to: &bytes)
    return page
  }

  /// Decodes what claims to be a footer at the fixtures' position.
  static func decode(_ page: Bytes) throws(StoreError) -> Footer {
    try Footer(decoding: page.rawSpan, at: FooterFixtures.position, path: "here")
  }
}

/// A store that has nothing but footers.
struct FooterStore {
  let medium = InMemoryFileSystem()

  /// Publishes `footer`, whatever it says, in a segment of its own.
  func publish(_ footer: Footer, in number: UInt32 = 1) throws(StoreError) -> FooterReference {
    let appender = PageAppender(
      to: medium, of: footer.identity, from: number, output: .buffered, segmentBlocks: 256)
    return try appender.publish(footer, isChecked: false)
  }

  func open(_ reference: FooterReference) throws(StoreError) -> PageFile {
    try PageFile(opening: reference, in: medium, reading: .buffered(cacheSize: 0))
  }

  /// Changes the two copies of a footer, gives them right checksums, and returns the reference that
  /// vouches for them.
  func reseal(
    _ reference: FooterReference, _ identity: StoreIdentity = FooterFixtures.identity,
    _ change: (inout Bytes) -> Void
  ) throws -> FooterReference {
    let file = try medium.open(.pages(reference.position.segment), .readWrite, at: .test)
    let checksums = try reference.copies.map { copy in
      let start = Int(copy.position.block) * Layout.blockSize
      var page = try file.read(start..<start + copy.size)
      change(&page)
      let checksum = PageChecksum.of(page.rawSpan, at: copy.position, in: identity)
      for index in 0..<PageChecksum.size {
        page[index] = UInt8(truncatingIfNeeded: checksum.rawValue >> (8 * UInt64(index)))
      }
      try file.write(page, from: start)
      return checksum
    }
    return FooterReference(
      position: reference.position, blocks: reference.blocks, checksum: checksums[0],
      copyChecksum: checksums[1], coveredSequence: reference.coveredSequence)
  }

  /// Damages one byte of a copy, the checksum staying as it is.
  func damage(_ copy: PageReference) throws {
    let file = try medium.open(.pages(copy.position.segment), .readWrite, at: .test)
    try file.write([0xee], from: Int(copy.position.block) * Layout.blockSize + 90)
  }
}
