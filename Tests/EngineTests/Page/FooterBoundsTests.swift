import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What a footer may say of trees and segments, by the bytes that it publishes.
@Suite struct FooterBoundsTests {
  /// Ten blocks are published, of segment 1.
  private static let published: UInt64 = 10 * 4_096

  private static func fault(
    of segments: [SegmentExtent], root: (count: UInt64, liveBytes: UInt64)? = nil,
    isPending: Bool = false
  ) -> Invariant? {
    var footer = Footer(identity: FooterFixtures.identity)
    footer.segments = segments
    if let root {
      let reference = PageReference(
        position: PagePosition(segment: 1, block: 1), blocks: 1, checksum: PageChecksum(),
        lowestVersion: 1, count: root.count, liveBytes: root.liveBytes)
      let tree = NamedTree(name: "t", root: TreeRoot(reference: reference, level: 0))
      if isPending {
        footer.pendingWork = [PendingWork(kind: 9, cursor: [], trees: [tree])]
      } else {
        footer.trees = [tree]
      }
    }
    return storeError { () throws(StoreError) in
      try footer.checkBounds(at: FooterFixtures.position)
    }?.invariant
  }

  private static func pages(_ end: UInt64, live: UInt64 = 0) -> SegmentExtent {
    SegmentExtent(kind: .pages, number: 1, end: end, liveBytes: live)
  }

  private static func blobs(_ end: UInt64, live: UInt64) -> SegmentExtent {
    SegmentExtent(kind: .blobs, number: 1, end: end, liveBytes: live)
  }

  @Test(
    arguments: [
      (pages(10, live: published), nil),
      (pages(10, live: published + 1), nil),
      (pages(0, live: 1), nil),
      (pages(10, live: .max), nil),
      (pages(.max), .footerSections),
      (blobs(100, live: 100), nil),
      (blobs(100, live: 101), nil),
      (blobs(1 << 44, live: 1 << 44), nil),
      (blobs(1 << 44 + 1, live: 0), .footerSections),
      (blobs(.max, live: .max), .footerSections),
    ] as [(SegmentExtent, Invariant?)])
  func `the size of a segment is bounded, and what is said to live in it refuses nothing`(
    segment: SegmentExtent, invariant: Invariant?
  ) {
    #expect(Self.fault(of: [segment]) == invariant)
  }

  @Test(
    arguments: [
      (1, 4_096, nil),
      (512, 4_096, nil),
      (513, 4_096, .referenceBounds),
      (1, published, nil),
      (1, published + 1, .referenceBounds),
      (published / 8, published, nil),
      (1 << 47, published, .referenceBounds),
      (1 << 47, 1 << 59, .referenceBounds),
    ] as [(UInt64, UInt64, Invariant?)])
  func `no tree has more than is published`(
    count: UInt64, liveBytes: UInt64, invariant: Invariant?
  ) {
    for isPending in [false, true] {
      let found = Self.fault(
        of: [Self.pages(10), Self.blobs(1 << 40, live: 0)], root: (count, liveBytes),
        isPending: isPending)
      #expect(found == invariant)
    }
  }

  @Test func `a footer that says more than can be does not open`() throws {
    let store = FooterStore()
    var footer = Footer(identity: FooterFixtures.identity)
    footer.segments = [Self.blobs(1 << 44 + 1, live: 0)]
    let reference = try store.publish(footer)
    let fault = storeError { () throws(StoreError) in _ = try store.open(reference) }
    #expect(fault?.invariant == .footerSections)
    let faults = PageFile.check(reference, of: footer.identity, in: store.medium)
    #expect(faults.map(\.invariant) == [.footerSections, .footerSections])
  }

  @Test(
    arguments: [
      ([(.added, 100)], nil), ([(.replaced, 5)], nil), ([(.removed, 5)], nil),
      ([(.added, 9), (.replaced, 2), (.removed, 3)], nil), ([(.replaced, 6)], .levelKeys),
      ([(.removed, 6)], .levelKeys), ([(.replaced, 3), (.removed, 3)], .levelKeys),
      ([(.added, 100), (.removed, 6)], .levelKeys),
    ] as [([(LevelPart, UInt64)], Invariant?)])
  func `a level changes no more entries than its tree has`(
    parts: [(LevelPart, UInt64)], invariant: Invariant?
  ) {
    func tree(_ name: String, _ count: UInt64) -> NamedTree {
      let reference = PageReference(
        position: PagePosition(segment: 1, block: 1), blocks: 1, checksum: PageChecksum(),
        lowestVersion: 1, count: count, liveBytes: 4096)
      return NamedTree(name: name, root: TreeRoot(reference: reference, level: 0))
    }
    var footer = Footer(identity: FooterFixtures.identity)
    footer.segments = [Self.pages(10)]
    footer.trees =
      [tree("s", 200), tree("t", 5)] + parts.map { tree($0.0.name(over: "t"), $0.1) }
      + [tree("u", 1)]
    let fault = storeError { () throws(StoreError) in
      try footer.checkBounds(at: FooterFixtures.position)
    }
    #expect(fault?.invariant == invariant)
  }
}
