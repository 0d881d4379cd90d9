import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Pages that refer to each other as no tree does.
@Suite struct HostileGraphTests {
  @Test func `a page with many parents is reported, and found once`() throws {
    let pages = CraftedPages()
    var shared = try pages.append(CraftedPages.entries(0..<80))
    var level: UInt8 = 0
    while level < 40 {
      level += 1
      shared = try pages.append(branch: [([], shared), ([200], shared)], level: level)
      shared.count = 80 << UInt64(level)
      shared.liveBytes = Self.liveBytes(level)
    }
    let tree = try pages.tree(shared, level: level)
    let time = try threadTime {
      let report = TreeCheck.run(tree)
      #expect(report.faults.contains { $0.invariant == .oneParent })
      #expect(report.leafCount == 1)
      #expect(report.branchCount == 40)
      for key in [[], [0, 9], [200], [201]] as [Bytes] {
        _ = try tree.entry(for: key.rawSpan)
        _ = try tree.rank(of: key.rawSpan)
        var cursor = Cursor(tree)
        _ = try cursor.seek(to: key.rawSpan)
        for _ in 0..<500 { _ = try cursor.next() }
      }
    }
    #expect(time < .seconds(5))
  }

  @Test(arguments: TreeReadingTests.modes)
  func `a scan ends where a page is found by many references`(mode: ReadMode) throws {
    let pages = CraftedPages()
    var below = try pages.append(CraftedPages.entries(0..<80))
    for level in 1...40 as ClosedRange<UInt8> {
      // The second reference is never compared with the page, which was verified by the first.
      var lie = below
      lie.count = 1
      lie.liveBytes = UInt64(lie.size)
      var branch = try pages.append(branch: [([], below), ([200], lie)], level: level)
      branch.count = below.count + lie.count
      branch.liveBytes = UInt64(branch.size) + below.liveBytes + lie.liveBytes
      below = branch
    }
    let tree = try pages.tree(below, level: 40, reading: mode)
    for isForward in [true, false] {
      let fault = storeError { () throws(StoreError) in
        var cursor = Cursor(tree)
        var isOn = isForward ? try cursor.first() : try cursor.last()
        for _ in 0..<10_000 where isOn {
          isOn = isForward ? try cursor.next() : try cursor.previous()
        }
      }
      #expect(fault?.invariant == .aggregates)
    }
  }

  @Test func `keys outside their separators are reported`() throws {
    let pages = CraftedPages()
    let first = try pages.append(CraftedPages.entries(0..<100))
    let second = try pages.append(CraftedPages.entries(100..<200))
    for separator in [[0, 99], [0, 101], [], [5]] as [Bytes] {
      let root = try pages.append(branch: [([], first), (separator, second)])
      let faults = TreeCheck.run(try pages.tree(root, level: 1)).faults
      #expect(!faults.isEmpty)
      #expect(faults.allSatisfy { $0.invariant == .separators })
    }
    let root = try pages.append(branch: [([], first), ([0, 100], second)])
    #expect(TreeCheck.run(try pages.tree(root, level: 1)).faults.isEmpty)
  }

  @Test func `two parents of one value are reported`() throws {
    let pages = CraftedPages()
    var value: Bytes = []
    try pages.appender.append(largeValue: Bytes(repeating: 1, count: 9_000).rawSpan)
      .encode(to: &value)
    let entries = [[1], [2]].map { BuiltNode.Entry(key: $0, value: value, isExternal: true) }
    let tree = try pages.tree(try pages.append(entries), level: 0)
    #expect(TreeCheck.run(tree).faults.map(\.invariant) == [.oneParent])
  }

  @Test(arguments: [ReadMode.mapped, .buffered(cacheSize: 1 << 20)])
  func `counts that overflow over several levels do not trap`(mode: ReadMode) throws {
    let pages = CraftedPages()
    let leaf = try pages.append(CraftedPages.entries(0..<1))
    var lie = leaf
    lie.count = PageReference.aggregateMax - 1
    lie.liveBytes = 1 << 59
    var right: [PageReference] = []
    var below = leaf
    for level in 1...6 as ClosedRange<UInt8> {
      var branch = try pages.append(branch: [([], lie), ([0, 0], below)], level: level)
      branch.count = PageReference.aggregateMax
      branch.liveBytes = UInt64(branch.size) + lie.liveBytes + below.liveBytes
      right.append(branch)
      // The same page again, found by a reference that was never compared with it.
      below = branch
      below.count = 1
      below.liveBytes = UInt64(branch.size)
    }
    let top = try #require(right.last)
    let tree = try pages.tree(top, level: 6, reading: mode)
    for (index, reference) in right.enumerated() {
      let part = Tree(
        pages: tree.pages, root: TreeRoot(reference: reference, level: UInt8(index + 1)))
      let key: Bytes = [1]
      _ = try part.entry(for: key.rawSpan)
    }
    _ = tree.exercise([[], [0, 0], [1]])
    _ = tree.exerciseMerge([[1]], adoption: .nothing)
  }

  @Test func `a check takes no memory for segments that are only named`() throws {
    let pages = CraftedPages(from: 1_000_000)
    let leaf = try pages.append(CraftedPages.entries(0..<1))
    var children: [(separator: Bytes, reference: PageReference)] = []
    for group in 0..<50 as Range<UInt32> {
      let parts = (0..<1_000 as Range<UInt32>).map { index in
        var reference = leaf
        reference.position = PagePosition(segment: group * 1_000 + index, block: 1)
        let separator = [UInt8(index >> 8), UInt8(index & 0xff)]
        return (separator: [UInt8(group)] + separator, reference: reference)
      }
      children.append((parts[0].separator, try pages.append(branch: parts)))
    }
    let tree = try pages.tree(try pages.append(branch: children, level: 2), level: 2)
    let before = try Self.peakMemory()
    #expect(TreeCheck.run(tree).faults.count { $0.invariant == .pageExists } == 50_000)
    // A set of blocks for each would be 1.6 GB.
    #expect(try Self.peakMemory() - before < 800 << 20)
  }

  /// The most memory this process ever had, in bytes.
  private static func peakMemory() throws -> Int {
    var usage = rusage()
    try #require(unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0)
    return usage.ru_maxrss * 1024
  }

  /// The live bytes of the crafted graph's branch at `level`, each a block above two the same.
  private static func liveBytes(_ level: UInt8) -> UInt64 {
    (0..<level).reduce(4096) { sum, _ in 2 * sum + 4096 }
  }
}
