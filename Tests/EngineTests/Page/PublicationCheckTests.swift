import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Writers' faults: what the reader would refuse is not written, and nothing has changed.
@Suite struct PublicationCheckTests {
  private let medium = InMemoryFileSystem()

  private func appender() -> PageAppender {
    PageAppender(to: medium, of: FooterFixtures.identity, from: 1, output: .buffered)
  }

  private func invariant(_ body: () throws -> Void) -> Invariant? {
    guard case .unsound(_, let invariant, _) = storeError(body) else { return nil }
    return invariant
  }

  @Test func `a footer that its reader refuses is not published`() throws {
    let appender = appender()
    var footer = Footer(identity: FooterFixtures.identity)
    let first = try appender.publish(footer)
    let root = PageReference(
      position: PagePosition(segment: 1, block: 1), blocks: 1, checksum: PageChecksum(),
      lowestVersion: 1, count: 1, liveBytes: 4_096)
    footer.trees = [NamedTree(name: "t", root: TreeRoot(reference: root, level: 0))]
    #expect(invariant { _ = try appender.publish(footer) } == .referenceBounds)
    footer.trees[0].root?.reference.position = PagePosition(segment: 9, block: 1)
    #expect(invariant { _ = try appender.publish(footer) } == .childBeforeParent)
    footer.trees = []
    footer.segments = [SegmentExtent(kind: .blobs, number: 1, end: .max, liveBytes: 0)]
    #expect(invariant { _ = try appender.publish(footer) } == .footerSections)
    #expect(appender.extents.isEmpty)
    footer.segments = []
    let next = try appender.publish(footer)
    #expect(next.position.block == first.endBlock)
    #expect(PageFile.check(next, in: medium).isEmpty)
  }

  @Test func `a node that its reader refuses is not appended`() throws {
    let appender = appender()
    let good = BuiltNode(CraftedPages.entries(0..<40), isBranch: false, schemaVersion: 1)
    var other = good.reference
    other.count += 1
    var swapped = good.bytes
    // The heads of the first two keys.
    for index in 0..<8 { swapped.swapAt(56 + index, 64 + index) }
    for (bytes, aggregates, broken) in [
      (good.bytes, other, Invariant.aggregates), (swapped, good.reference, .keyOrder),
    ] {
      let found = invariant {
        _ = try appender.append(
          nodeAt: 0, flags: bytes[11], blocks: bytes.count / Layout.blockSize, stating: aggregates
        ) { page in
          page.copy(bytes.rawSpan.extracting(droppingFirst: PageHeader.size), to: PageHeader.size)
          return bytes.count
        }
      }
      #expect(found == broken)
    }
    #expect(appender.extents.isEmpty)
  }

  @Test func `a header of the log that its reader refuses is not written`() throws {
    let appender = appender()
    let footer = try appender.publish(Footer(identity: FooterFixtures.identity))
    let file = try medium.open(.log(0), .create, at: .test)
    var header = LogHeader(
      identity: FooterFixtures.identity, number: 1, blocks: 1, salt: 3, firstSequence: 1,
      footer: footer)
    #expect(invariant { try file.write(header, copy: 0, at: .test) } == .logHeader)
    header.blocks = UInt32(LogLayout.blocksMin)
    header.firstSequence = 6
    #expect(invariant { try file.write(header, copy: 0, at: .test) } == .logHeader)
    #expect(try file.size(at: .test) == 0)
    header.firstSequence = 1
    try file.write(header, copy: 0, at: .test)
    #expect(try file.size(at: .test) == Layout.blockSize)
  }

  /// The headers of segments have nothing that could be wrong but by a fault of the machine.
  @Test func `a header of a segment that changed on its way is refused`() throws {
    let pages = SegmentHeader(identity: FooterFixtures.identity, number: 4)
    let blobs = BlobSegmentHeader(seed: BlobSeed(rawValue: 8), number: 5)
    #expect(try broken(pages) == .segmentHeader)
    #expect(try broken(blobs) == .blobSegmentHeader)
  }

  private func broken<Header: FileHeader>(_ header: Header) throws -> Invariant? {
    var block = AlignedBuffer(count: Layout.blockSize)
    var span = block.mutableBytes(0..<Layout.blockSize)
    header.fill(&span)
    try PublicationCheck.accept(header, in: block.bytes)
    var changed = block.mutableBytes(0..<Layout.blockSize)
    changed.store(UInt8(0xff), at: 13)
    do throws(StoreError) {
      try PublicationCheck.accept(header, in: block.bytes)
      return nil
    } catch {
      guard case .unsound(_, let invariant, _) = error else { return nil }
      return invariant
    }
  }

  /// A header that its reader takes for another.
  private struct MisreadHeader: FileHeader {
    var number: UInt32 = 1
    var place: StoreError.CorruptPlace { .segment(number) }
    static var invariant: Invariant { .segmentHeader }

    func fill(_ block: inout MutableRawSpan) { block.store(number, at: 0) }

    static func read(
      _ block: RawSpan, for header: MisreadHeader
    ) throws(StoreError) -> MisreadHeader {
      MisreadHeader(number: header.number + 1)
    }
  }

  @Test func `what would be read as something else is not written`() throws {
    let file = try medium.open(.pages(1), .create, at: .test)
    #expect(invariant { try file.write(MisreadHeader(), at: .test) } == .segmentHeader)
    #expect(try file.size(at: .test) == 0)
  }

  @Test func `a schema that its reader refuses is not stored`() throws {
    let field = FieldSchema(
      number: 1, name: "id", type: .scalar(.int64), isOptional: false, composite: nil, modifier: nil
    )
    let record = RecordSchema(
      number: 1, name: "R", fields: [field], primaryKey: [], indexes: [], modifier: nil)
    let twice = Schema(version: 1, label: nil, records: [record, record])
    #expect(invariant { _ = try twice.published() } == .schemaContents)
  }
}
