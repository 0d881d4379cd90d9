import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A truth table of the two copies of a footer, and of what its reference says.
@Suite struct FooterHealingTests {
  private let store = FooterStore()
  private let footer: Footer
  private let reference: FooterReference

  init() throws {
    var footer = Footer(identity: FooterFixtures.identity)
    footer.coveredSequence = 77
    footer.trees = [NamedTree(name: "only", root: nil)]
    self.footer = footer
    reference = try store.publish(footer)
  }

  @Test func `both copies whole: nothing to heal`() throws {
    let file = try store.open(reference)
    #expect(file.footer == footer)
    #expect(file.healedCopy == nil)
  }

  @Test func `the first damaged: the copy heals it, and the fault is told`() throws {
    try store.damage(reference.copies[0])
    let file = try store.open(reference)
    #expect(file.footer == footer)
    guard case .corrupt(.page(reference.position), .pageChecksum, _) = file.healedCopy else {
      Issue.record("\(String(describing: file.healedCopy))")
      return
    }
  }

  @Test func `the copy damaged: it is not needed`() throws {
    try store.damage(reference.copies[1])
    #expect(try store.open(reference).footer == footer)
  }

  @Test func `both damaged: the fault is the first's`() throws {
    for copy in reference.copies { try store.damage(copy) }
    expectFault(opening: reference, .pageChecksum)
  }

  @Test func `a copy from a newer version heals nothing`() throws {
    let newer = try store.reseal(reference) { $0[64] = 1 }
    let error = storeError { () throws(StoreError) in _ = try store.open(newer) }
    guard case .newerFormat = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    try store.damage(newer.copies[0])
    expectFault(opening: newer, .pageChecksum)
  }

  @Test func `a footer that names another store is refused`() throws {
    expectFault(opening: try store.reseal(reference) { $0[32] ^= 1 }, .footerSections)
  }

  @Test func `a segment of another store is refused as a segment by who knows the store`() throws {
    let strangers = FooterStore()
    var foreign = footer
    foreign.identity = .ofStrangers
    _ = try strangers.publish(foreign)
    let bytes = try strangers.medium.contents(of: .pages(1))
    let file = try store.medium.open(.pages(1), .readWrite, at: .test)
    try file.write(bytes, from: 0)
    let error = storeError { () throws(StoreError) in
      _ = try PageFile(
        opening: reference, of: footer.identity, in: store.medium, reading: .mapped)
    }
    guard case .corrupt(.segment(1), .segmentHeader, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    // Who does not know it can tell only that the footer is not the one.
    expectFault(opening: reference, .pageChecksum)
  }

  @Test func `a footer that covers something else than its reference says is refused`() throws {
    expectFault(opening: try store.reseal(reference) { $0[72] ^= 1 }, .footerSections)
  }

  @Test func `a reference to another kind of page is refused`() throws {
    expectFault(
      opening: try store.reseal(reference) { $0[8] = PageKind.leaf.rawValue }, .pageKind)
  }

  @Test func `a reference past the end of the file is refused`() throws {
    let beyond = FooterReference(
      position: PagePosition(segment: 1, block: 0xff_ffff), blocks: 64, checksum: PageChecksum(),
      copyChecksum: PageChecksum(), coveredSequence: 0)
    let error = storeError { () throws(StoreError) in _ = try store.open(beyond) }
    guard case .corrupt(.page(beyond.position), .pageExists, _) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
  }

  private func expectFault(
    opening reference: FooterReference, _ invariant: Invariant,
    sourceLocation: SourceLocation = #_sourceLocation
  ) {
    let error = storeError { () throws(StoreError) in _ = try store.open(reference) }
    guard case .corrupt(.page(reference.position), let found, _) = error, found == invariant
    else {
      Issue.record("\(String(describing: error))", sourceLocation: sourceLocation)
      return
    }
  }
}
