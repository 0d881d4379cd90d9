import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// References whose aggregates are not those of the page, to pages that were validated with others.
@Suite struct HostileAggregateTests {
  /// What a wrong reference says of a leaf with 100 entries.
  static let lies: [@Sendable (inout PageReference) -> Void] = [
    { $0.count = 1 }, { $0.count = 99 }, { $0.count = 101 }, { $0.count = 1 << 48 - 200 },
  ]

  @Test(arguments: lies.indices, TreeReadingTests.modes)
  func `a count that is another where the page was validated is refused, not added`(
    lie: Int, mode: ReadMode
  ) throws {
    let pages = CraftedPages()
    let first = try pages.append(CraftedPages.entries(0..<100))
    let second = try pages.append(CraftedPages.entries(100..<200))
    var wrong = first
    Self.lies[lie](&wrong)
    let branch = try pages.append(branch: [([], wrong), ([0, 100], second)])
    let tree = try pages.tree(branch, level: 1, reading: mode)
    // A leaf alone is a tree too: now its page is known to be right.
    let leaf = Tree(pages: tree.pages, root: TreeRoot(reference: first, level: 0))
    #expect(try leaf.rank(of: ([0, 40] as Bytes).rawSpan) == 40)

    let errors = [
      storeError { () throws(StoreError) in _ = try tree.rank(of: ([0, 40] as Bytes).rawSpan) },
      storeError { () throws(StoreError) in _ = try tree.count(from: [0, 1], upTo: [0, 2]) },
      storeError { () throws(StoreError) in
        var cursor = Cursor(tree)
        _ = try cursor.seek(toOffset: 0)
      },
    ]
    for error in errors { #expect(error?.place == .page(first.position)) }
    for error in errors { #expect(error?.invariant == .aggregates) }
  }

  @Test(arguments: TreeReadingTests.modes)
  func `a cursor sent to an offset stands there, or nowhere with an error`(
    mode: ReadMode
  ) throws {
    let pages = CraftedPages()
    let first = try pages.append(CraftedPages.entries(0..<100))
    var wrong = first
    wrong.count = 150
    let second = try pages.append(CraftedPages.entries(100..<200))
    let branch = try pages.append(branch: [([], wrong), ([0, 100], second)])
    let tree = try pages.tree(branch, level: 1, reading: mode)
    let leaf = Tree(pages: tree.pages, root: TreeRoot(reference: first, level: 0))
    #expect(try leaf.rank(of: ([0, 40] as Bytes).rawSpan) == 40)
    for offset in 0..<150 {
      var cursor = Cursor(tree)
      let error = storeError { () throws(StoreError) in _ = try cursor.seek(toOffset: offset) }
      #expect(error?.invariant == .aggregates)
      let isOnEntry = cursor.isOnEntry
      #expect(!isOnEntry)
    }
  }

  @Test(arguments: TreeReadingTests.modes)
  func `sums that no reference can say are refused, not written`(mode: ReadMode) throws {
    let pages = CraftedPages()
    // Each may be; what three of them say together is more than a reference can.
    var children: [(separator: Bytes, reference: PageReference)] = []
    for index in 0..<12 {
      var reference = try pages.append(CraftedPages.entries(index * 50..<index * 50 + 50))
      reference.count = index == 0 ? 50 : 1 << 47
      reference.liveBytes = index == 0 ? UInt64(reference.size) : 1 << 59
      children.append(([UInt8((index * 50) >> 8), UInt8(index * 50 & 0xff)], reference))
    }
    for count in 2...12 {
      let tree = try pages.tree(children[0].reference, level: 0, reading: mode)
      let appender = PageAppender(
        to: InMemoryFileSystem(), of: tree.pages.identity, from: 1_000, output: .buffered)
      var builder = TreeBuilder(appendingTo: appender, base: tree.pages)
      for child in children.prefix(count) {
        try builder.adopt(child.reference, level: 0, separator: child.separator, next: nil)
      }
      do throws(StoreError) {
        _ = try builder.finish()
        #expect(count == 2)
      } catch {
        #expect(count > 2)
        #expect(error.invariant == .aggregates)
      }
    }
  }
}
