import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What the sweep of damage does not do to a page file: it damages bytes, and never a file's name.
@Suite struct PageFileCheckTests {
  private let fixture: CorruptionFixture

  init() throws {
    fixture = try CorruptionFixture()
  }

  @Test func `a whole state has no fault, known by its identity or not`() throws {
    for state in [fixture.old, fixture.new] {
      #expect(check(state, of: .ofFixtures).isEmpty)
      #expect(check(state, of: nil).isEmpty)
      let file = try PageFile(opening: state.reference, in: fixture.medium, reading: .mapped)
      #expect(file.check(sizes: CorruptionFixture.sizes).isEmpty)
    }
  }

  @Test func `the footer's copy is checked while the first is whole`() throws {
    let file = try PageFile(opening: fixture.new.reference, in: fixture.medium, reading: .mapped)
    let copy = fixture.new.reference.copies[1].position
    try damage(copy)
    #expect(places(file.check(sizes: CorruptionFixture.sizes)) == [.page(copy)])
  }

  @Test func `a segment that is gone is named, and the pages it had`() throws {
    try fixture.medium.unlink(.pages(1), at: .test)
    let faults = check(fixture.new, of: .ofFixtures)
    #expect(faults.first == .missing(path: "memory/pages-0000000001"))
    #expect(faults.count > 4)
    for place in places(faults) {
      guard case .page(let position) = place else {
        Issue.record("\(place)")
        continue
      }
      #expect(position.segment == 1)
    }
    #expect(check(fixture.old, of: .ofFixtures) == [faults[0]])
  }

  @Test func `a state of a newer format is not looked into`() throws {
    let file = try fixture.medium.open(.pages(2), .readWrite, at: .test)
    var header = try file.read(0..<Layout.blockSize)
    header[8] = 2
    let checksum = Checksum.ofBlock(header.rawSpan, but: 36)
    header.replaceSubrange(36..<40, with: little(UInt64(checksum.rawValue), 4))
    try file.write(header, from: 0)
    let faults = check(fixture.new, of: .ofFixtures)
    #expect(faults.count == 1)
    guard case .newerFormat = faults.first else {
      Issue.record("\(faults)")
      return
    }
  }

  @Test func `copies of a footer that say different things are a fault`() throws {
    let store = FooterStore()
    var footer = Footer(identity: FooterFixtures.identity)
    footer.coveredSequence = 5
    let reference = try store.publish(footer)
    var isFirst = true
    let changed = try store.reseal(reference) { page in
      if isFirst { page[48] = 1 }
      isFirst = false
    }
    let faults = PageFile.check(changed, in: store.medium)
    #expect(places(faults) == [.page(changed.copies[1].position)])
    #expect(faults.first?.invariant == .footerSections)
  }

  private func check(_ state: PublishedState, of identity: StoreIdentity?) -> [StoreError] {
    PageFile.check(
      state.reference, of: identity, in: fixture.medium, sizes: CorruptionFixture.sizes)
  }

  private func places(_ faults: [StoreError]) -> [StoreError.CorruptPlace] {
    faults.compactMap(\.place)
  }

  private func damage(_ position: PagePosition) throws {
    let file = try fixture.medium.open(.pages(position.segment), .readWrite, at: .test)
    let offset = Int(position.block) * Layout.blockSize + 50
    let byte = try file.read(offset..<offset + 1)
    try file.write([byte[0] ^ 4], from: offset)
  }
}
