import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Appended pages are read back before a footer with them is true.
@Suite struct AppendedPagesTests {
  private let medium = SimulatedFileSystem()
  private let file: PageFile
  private let appended: AppendedBlocks
  private let references: [PageReference]

  /// Pages of all sizes, over several of the pieces that are read at once.
  init() throws {
    let appender = PageAppender(
      to: medium, of: FooterFixtures.identity, from: 1, output: .buffered)
    var references: [PageReference] = []
    for number in 0..<64 {
      let length = LargeValue.partLengthMax - number % 8 * 36_000
      let value = Bytes(repeating: UInt8(number), count: number % 3 == 0 ? 900 : length)
      references.append(try appender.append(largeValue: value.rawSpan))
    }
    self.references = references
    try appender.sync()
    appended = try #require(appender.extents.first)
    var footer = Footer(identity: FooterFixtures.identity)
    footer.extend(by: appender.extents)
    let reference = try appender.publish(footer)
    file = try PageFile(opening: reference, in: medium, reading: .mapped)
  }

  @Test func `few large reads verify all pages for those who read them later`() throws {
    let reads = medium.callCount(at: .pageRead)
    try file.pages.verify(appended)
    let verifying = medium.callCount(at: .pageRead) - reads
    #expect(verifying <= appended.blocks.count / 64 + 1)
    for reference in references {
      #expect(!file.pages.isUntouched(reference))
      _ = try file.pages.page(reference, level: 0, as: ValuePage.self)
    }
    #expect(medium.callCount(at: .pageRead) - reads == verifying)
  }

  @Test func `a page that is not what was written is found`() throws {
    var random = SplitMix64(seed: 3)
    for index in stride(from: 0, to: references.count, by: 9) {
      let reference = references[index]
      // Of the size in its header, or of anything behind the header.
      for bit in [48 + Int(random.next() % 8), 64 + Int(random.next() % 30_000)] {
        let place = Int(reference.position.block) * Layout.blockSize * 8 + bit
        medium.flipBit(place, of: .pages(1))
        let error = storeError { () throws(StoreError) in try file.pages.verify(appended) }
        #expect(error?.invariant == .pageChecksum)
        #expect(error?.place == .page(reference.position))
        medium.flipBit(place, of: .pages(1))
      }
    }
    try file.pages.verify(appended)
  }
}
