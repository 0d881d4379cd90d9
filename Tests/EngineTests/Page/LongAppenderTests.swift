import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// An appender that publishes many times, and one that goes on where another stopped.
@Suite struct LongAppenderTests {
  private static let identity = FooterFixtures.identity
  private static let segmentBlocks = 2 * Layout.pageBlocksMax + 1

  @Test func `each publication says what was appended since the one before`() throws {
    let appender = Self.appender(to: InMemoryFileSystem())
    #expect(appender.end == nil)
    var footer = Footer(identity: Self.identity)
    var all: [[AppendedBlocks]] = []
    for sizes in [[3, 4], [], [64, 64], [1]] {
      var pages: [PageReference] = []
      for blocks in sizes { pages.append(try Self.append(blocks, to: appender)) }
      #expect(pages.allSatisfy { appender.wrote($0.position) })
      all.append(appender.extents)
      footer.extend(by: appender.extents)
      let reference = try appender.publish(footer)
      #expect(appender.extents.isEmpty)
      #expect(!(pages.map(\.position) + [reference.position]).contains(where: appender.wrote))
    }
    // A footer of one block, and its copy, follow each publication: 8 and 9, 10 and 11, …
    #expect(
      all == [
        [AppendedBlocks(number: 1, blocks: 1..<8)], [],
        [AppendedBlocks(number: 1, blocks: 12..<76), AppendedBlocks(number: 2, blocks: 1..<65)],
        [AppendedBlocks(number: 2, blocks: 67..<68)],
      ])
    #expect(appender.end == PagePosition(segment: 2, block: 70))
    #expect(
      footer.segments == [
        SegmentExtent(kind: .pages, number: 1, end: 76, liveBytes: 0),
        SegmentExtent(kind: .pages, number: 2, end: 68, liveBytes: 0),
      ])
  }

  @Test func `extending keeps the table in order, and what is said of other segments`() {
    var footer = Footer(identity: Self.identity)
    footer.segments = [
      SegmentExtent(kind: .pages, number: 2, end: 9, liveBytes: 4096),
      SegmentExtent(kind: .pages, number: 5, end: 7, liveBytes: 8192),
      SegmentExtent(kind: .blobs, number: 1, end: 7, liveBytes: 3),
    ]
    footer.extend(by: [
      AppendedBlocks(number: 5, blocks: 9..<12), AppendedBlocks(number: 6, blocks: 1..<2),
    ])
    #expect(
      footer.segments == [
        SegmentExtent(kind: .pages, number: 2, end: 9, liveBytes: 4096),
        SegmentExtent(kind: .pages, number: 5, end: 12, liveBytes: 8192),
        SegmentExtent(kind: .pages, number: 6, end: 2, liveBytes: 0),
        SegmentExtent(kind: .blobs, number: 1, end: 7, liveBytes: 3),
      ])
  }

  @Test func `only the segment that goes on stays open`() throws {
    let medium = SimulatedFileSystem()
    let appender = Self.appender(to: medium)
    for _ in 0..<5 {
      for _ in 0..<3 { _ = try Self.append(60, to: appender) }
      var footer = Footer(identity: Self.identity)
      footer.extend(by: appender.extents)
      _ = try appender.publish(footer)
      #expect(medium.openFileCount == 1)
    }
  }

  // MARK: Going on behind another

  @Test func `an appender goes on behind a footer, on every medium`() throws {
    let directory = try TemporaryDirectory()
    try goesOn(PosixFileSystem(at: directory.path))
    try goesOn(InMemoryFileSystem())
    try goesOn(SimulatedFileSystem())
    withExtendedLifetime(directory) {}
  }

  private func goesOn(_ medium: some FileSystem) throws {
    var footer = Footer(identity: Self.identity)
    var reference = try Self.publish(&footer, [3], by: Self.appender(to: medium))
    for output in [PageAppenderOutput.direct, .buffered] {
      let appender = try Self.appender(to: medium, behind: reference, output: output)
      #expect(appender.end?.segment == 1)
      #expect(appender.extents.isEmpty)
      #expect(!appender.wrote(reference.position))
      reference = try Self.publish(&footer, [3], by: appender)
    }
    #expect(footer.segments.map(\.number) == [1])
    let file = try PageFile(opening: reference, in: medium, reading: .mapped)
    #expect(file.healedCopy == nil)
    #expect(try medium.contents(of: .pages(1)).count == 16 * Layout.blockSize)
    #expect(try medium.list(at: .test) == [.pages(1)])
  }

  @Test(arguments: [1, 4096, 8192, -4096])
  func `where the file does not end as the footer does, a new segment begins`(
    difference: Int
  ) throws {
    let medium = SimulatedFileSystem()
    var footer = Footer(identity: Self.identity)
    let reference = try Self.publish(&footer, [3], by: Self.appender(to: medium))
    var bytes = try #require(medium.bytes(of: .pages(1)))
    if difference > 0 { bytes += Bytes(repeating: 0, count: difference) }
    if difference < 0 { bytes.removeLast(-difference) }
    medium.replaceBytes(of: .pages(1), with: bytes)
    let appender = try Self.appender(to: medium, behind: reference)
    #expect(appender.end == nil)
    #expect(try Self.append(1, to: appender).position == PagePosition(segment: 2, block: 1))
    #expect(medium.bytes(of: .pages(1)) == bytes)
  }

  @Test func `a segment of another store is not appended to`() throws {
    let medium = SimulatedFileSystem()
    var footer = Footer(identity: Self.identity)
    let reference = try Self.publish(&footer, [3], by: Self.appender(to: medium))
    let error = storeError { () throws(StoreError) in
      _ = try PageAppender(
        to: medium, of: StoreIdentity(low: 9, high: 9), behind: reference, from: 2,
        output: .buffered)
    }
    guard case .corrupt(.segment(1), .segmentHeader, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  // MARK: After a failure

  @Test func `an appender that failed is of no more use, and its successor is`() throws {
    for fault in [Fault.error(.ioError), .errorAfter(bytes: 4096, .noSpace)] {
      let medium = SimulatedFileSystem()
      let appender = Self.appender(to: medium)
      var footer = Footer(identity: Self.identity)
      let first = try Self.publish(&footer, [3], by: appender)
      medium.inject(fault, at: .site(.pageWrite, medium.callCount(at: .pageWrite)))
      _ = try Self.append(2, to: appender)
      #expect(throws: StoreError.self) { try appender.sync() }
      let writes = medium.callCount(of: .write)
      let poisoned = StoreError.poisoned(path: "simulated")
      #expect(throws: poisoned) { try appender.sync() }
      #expect(throws: poisoned) { _ = try Self.append(1, to: appender) }
      #expect(throws: poisoned) { _ = try appender.publish(footer) }
      #expect(medium.callCount(of: .write) == writes)

      let second = try Self.publish(&footer, [2], by: appender.successor())
      #expect(second.position.segment == 2)
      for reference in [first, second] {
        _ = try PageFile(opening: reference, in: medium, reading: .buffered(cacheSize: 0))
      }
    }
  }

  @Test func `a successor leaves out the number of a segment that could not be begun`() throws {
    let sites: [Site] = [
      .segmentCreate, .segmentHeaderWrite, .segmentHeaderSync, .segmentRename,
      .segmentDirectorySync,
    ]
    for site in sites {
      for fault in [Fault.error(.ioError), .errorAfterAll(.ioError)] {
        let medium = SimulatedFileSystem()
        medium.inject(fault, at: .site(site, 0))
        let appender = Self.appender(to: medium)
        guard (try? Self.append(1, to: appender)) == nil else { continue }
        #expect(throws: StoreError.poisoned(path: "simulated")) {
          _ = try Self.append(1, to: appender)
        }
        #expect(try Self.append(1, to: appender.successor()).position.segment == 2)
      }
    }
  }
}

private typealias PageAppenderOutput = PageAppender.Output

extension LongAppenderTests {
  private static func appender(to medium: any FileSystem) -> PageAppender {
    PageAppender(
      to: medium, of: identity, from: 1, output: .direct, segmentBlocks: segmentBlocks)
  }

  private static func appender(
    to medium: any FileSystem, behind reference: FooterReference,
    output: PageAppenderOutput = .direct
  ) throws(StoreError) -> PageAppender {
    try PageAppender(
      to: medium, of: identity, behind: reference, from: 2,
      output: output == .direct ? .direct : .buffered, segmentBlocks: segmentBlocks)
  }

  private static func append(
    _ blocks: Int, to appender: PageAppender
  ) throws(StoreError) -> PageReference {
    try appender.append(.value, blocks: blocks) { _ in 0 }
  }

  private static func publish(
    _ footer: inout Footer, _ sizes: [Int], by appender: PageAppender
  ) throws(StoreError) -> FooterReference {
    for blocks in sizes { _ = try append(blocks, to: appender) }
    footer.extend(by: appender.extents)
    return try appender.publish(footer)
  }
}
