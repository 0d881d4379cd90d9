import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Live bytes that are not what a tree's pages are.
@Suite struct LiveBytesTests {
  @Test func `a tree that is said to be larger than its segments is not walked for ever`() throws {
    let pages = CraftedPages()
    var shared = try pages.append(CraftedPages.entries(0..<80))
    for level in 1...40 as ClosedRange<UInt8> {
      let below = shared
      shared = try pages.append(branch: [([], below), ([200], below)], level: level)
      shared.count = 2 * below.count
      shared.liveBytes = UInt64(shared.size) + 2 * below.liveBytes
    }
    let tree = try pages.tree(shared, level: 40)
    let error = storeError { () throws(StoreError) in
      var live = LivePages()
      try tree.addPages(to: &live)
    }
    #expect(error?.invariant == .aggregates)
    #expect(error?.place == .page(shared.position))
  }

  @Test func `a page that several trees share counts once`() throws {
    let pages = CraftedPages()
    let leaf = try pages.append(CraftedPages.entries(0..<80))
    let other = try pages.append(CraftedPages.entries(80..<160))
    let branch = try pages.append(branch: [([], leaf), ([0, 80], other)])
    let tree = try pages.tree(branch, level: 1)
    var live = LivePages()
    try tree.addPages(to: &live)
    // A leaf of it is a tree of its own, too.
    try Tree(pages: tree.pages, root: TreeRoot(reference: leaf, level: 0)).addPages(to: &live)
    #expect(live.bytes.values.reduce(0, +) == UInt64(branch.size + leaf.size + other.size))
  }

  /// Verified by a reference that says all, and led to by one that says less.
  @Test func `more live bytes than a root says are refused`() throws {
    let pages = CraftedPages()
    let leaf = try pages.append(CraftedPages.entries(0..<80))
    let other = try pages.append(CraftedPages.entries(80..<160))
    let branch = try pages.append(branch: [([], leaf), ([0, 80], other)])
    let tree = try pages.tree(branch, level: 1)
    #expect(try tree.rank(of: ([1] as Bytes).rawSpan) == 160)
    for liveBytes in [UInt64(branch.size) + 4096, branch.liveBytes + 4096] {
      var root = branch
      root.liveBytes = liveBytes
      let wrong = Tree(pages: tree.pages, root: TreeRoot(reference: root, level: 1))
      let error = storeError { () throws(StoreError) in
        var live = LivePages()
        try wrong.addPages(to: &live)
      }
      #expect(error?.invariant == .aggregates)
    }
  }
}
