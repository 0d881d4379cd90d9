import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Nodes that no builder writes, with right checksums.
@Suite struct HostileNodeTests {
  private static let keys: [Bytes] = [
    [], [0], [0, 5], [0, 50], [0, 99, 0], [1, 0], [255, 255, 255],
  ]
  private static let fields: [(offset: Int, width: Int)] = [
    (24, 2), (26, 2), (28, 2), (30, 2), (32, 1), (34, 2), (40, 4),
  ]
  private static let values: [UInt32] = [
    0, 1, 2, 7, 8, 9, 31, 32, 255, 256, 1_024, 1_025, 4_095, 4_096, 8_191, 8_192, 8_193, 0x7fff,
    0x8000, 0xfffe, 0xffff, 0x1_0000, 0x7fff_ffff, 0x8000_0000, .max,
  ]

  @Test(arguments: TreeReadingTests.modes)
  func `no number in a node's header makes reading it trap`(mode: ReadMode) throws {
    for kind in 0..<4 {
      for field in Self.fields {
        for value in Self.values { try verify(kind, mode) { $0.store(value, in: field) } }
      }
    }
  }

  @Test func `no two numbers in a node's header make reading it trap`() throws {
    let extremes: [UInt32] = [0, 1, 8, 1_024, 0xffff]
    for (index, field) in Self.fields.enumerated() {
      for other in Self.fields[(index + 1)...] {
        for value in extremes {
          for otherValue in extremes {
            try verify(0, .mapped) {
              $0.store(value, in: field)
              $0.store(otherValue, in: other)
            }
          }
        }
      }
    }
  }

  @Test(arguments: TreeReadingTests.modes, [0, 1] as [UInt8])
  func `a node whose cells begin behind its page is refused`(mode: ReadMode, level: UInt8) throws {
    for count in [200, 506, 1_000, 0xffff] as [UInt32] {
      for widths in [(0xffff, 4), (0xffff, 0xffff), (4, 0xffff)] as [(UInt32, UInt32)] {
        let pages = CraftedPages()
        let change = { (bytes: inout Bytes) in
          bytes.store(count, in: (24, 2))
          bytes.store(0, in: (26, 2))
          bytes.store(widths.0, in: (28, 2))
          bytes.store(widths.1, in: (30, 2))
          bytes.store(8, in: (32, 1))
          let cells =
            48 + 8 * count + (level > 0 ? 32 * (count + 1) : 0) + 2 * count
            + (widths == (0xffff, 0xffff) ? 2 * count : 0)
          bytes.store(cells, in: (34, 2))
          bytes.store(4_096, in: (40, 4))
        }
        let leaf = try pages.append(CraftedPages.entries(0..<50))
        let node =
          level == 0
          ? try pages.append(CraftedPages.entries(0..<50), change: change)
          : try pages.append(branch: [([], leaf), ([9], leaf)], change: change)
        let tree = try pages.tree(node, level: level, reading: mode)
        #expect(!tree.exercise(Self.keys).isEmpty)
        #expect(TreeCheck.run(tree).faults.map(\.invariant) == [.nodeLayout])
      }
    }
  }

  @Test(arguments: [0, 1, 48, 49, 200, 255] as [UInt8])
  func `a branch of any level is read or refused`(level: UInt8) throws {
    let pages = CraftedPages()
    let leaf = try pages.append(CraftedPages.entries(0..<100))
    var root = try pages.append(branch: [([], leaf), ([9], leaf)], level: level)
    root.count = 200
    let tree = try pages.tree(root, level: level)
    #expect(!tree.exercise(Self.keys).isEmpty)
    _ = tree.exerciseMerge(Self.keys)
  }

  @Test func `a branch whose child is a page of a value is refused`() throws {
    let pages = CraftedPages()
    let leaf = try pages.append(CraftedPages.entries(0..<100))
    var value = try pages.appender.append(largeValue: Bytes(repeating: 1, count: 9_000).rawSpan)
    value.count = 3
    value.lowestVersion = 1
    let root = try pages.append(branch: [([], leaf), ([0, 100], value)])
    let tree = try pages.tree(root, level: 1)
    #expect(TreeCheck.run(tree).faults.contains { $0.invariant == .pageKind })
    #expect(tree.exercise(Self.keys).contains { $0.invariant == .pageKind })
  }

  @Test func `keys out of order are refused`() throws {
    for (first, second) in [([2], [1]), ([1], [1]), ([1, 0], [1])] as [(Bytes, Bytes)] {
      let pages = CraftedPages()
      let entries = [first, second].map { BuiltNode.Entry(key: [8] + $0, value: [1]) }
      let root = try pages.append(entries)
      let tree = try pages.tree(root, level: 0)
      #expect(TreeCheck.run(tree).faults.contains { $0.invariant == .keyOrder })
    }
  }

  /// Changes a node of one of four kinds, and uses it alone and below a branch.
  private func verify(
    _ kind: Int, _ mode: ReadMode, change: (inout Bytes) -> Void
  ) throws {
    let pages = CraftedPages()
    let leaf = try pages.append(CraftedPages.entries(0..<2))
    let long = Bytes(repeating: 3, count: 40)
    let node: PageReference
    switch kind {
    case 0: node = try pages.append(CraftedPages.entries(0..<100), change: change)
    case 1:
      let entries = (0..<9).map { BuiltNode.Entry(key: long + [$0], value: Array(0..<$0)) }
      node = try pages.append(entries, change: change)
    case 2:
      let value = try pages.appender.append(largeValue: long.rawSpan)
      var bytes: Bytes = []
      value.encode(to: &bytes)
      node = try pages.append(
        [.init(key: [], value: [1]), .init(key: long, value: bytes, isExternal: true)],
        change: change)
    default:
      node = try pages.append(
        branch: [([], leaf), (long, leaf), (long + [1], leaf)], change: change)
    }
    let tree = try pages.tree(node, level: kind == 3 ? 1 : 0, reading: mode)
    _ = tree.exercise(Self.keys)
    _ = tree.exerciseMerge(Self.keys, adoption: .nothing)
  }
}

extension [UInt8] {
  fileprivate mutating func store(_ value: UInt32, in field: (offset: Int, width: Int)) {
    for index in 0..<field.width {
      self[field.offset + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt32(index)))
    }
  }
}
