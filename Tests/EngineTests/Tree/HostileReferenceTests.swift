import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// References that no builder makes, in pages whose checksums are right.
@Suite struct HostileReferenceTests {
  private static let keys: [Bytes] = [[], [0], [0, 5], [0, 50], [1, 0], [255, 255, 255]]

  /// What is done to the reference to one of two leaves, and what rule says so.
  struct Change: CustomTestStringConvertible, Sendable {
    var testDescription: String
    var invariants: Set<Invariant>
    var change: @Sendable (inout PageReference) -> Void
  }

  static func position(_ segment: UInt32, _ block: UInt32) -> PagePosition {
    PagePosition(segment: segment, block: block)
  }

  static let changes = [
    // The leaves are at blocks 1 and 3, their branch at 5.
    Change(testDescription: "itself", invariants: [.childBeforeParent]) {
      $0.position = position(1, 5)
    },
    Change(testDescription: "a page to come", invariants: [.childBeforeParent]) {
      $0.position = position(1, 6)
    },
    Change(testDescription: "past the end", invariants: [.childBeforeParent]) {
      $0.position = position(1, 0xff_ffff)
    },
    Change(testDescription: "a later segment", invariants: [.childBeforeParent]) {
      $0.position = position(.max, 1)
    },
    Change(testDescription: "a segment that is not there", invariants: [.pageExists]) {
      $0.position = position(0, 1)
    },
    Change(testDescription: "the segment's header", invariants: [.pageExists]) {
      $0.position = position(1, 0)
    },
    Change(testDescription: "the other leaf", invariants: [.pageChecksum, .oneParent]) {
      $0.position = position(1, 1)
    },
    Change(testDescription: "the middle of a page", invariants: [.pageChecksum]) {
      $0.position = position(1, 4)
    },
    Change(testDescription: "no blocks", invariants: [.referenceBounds]) { $0.blocks = 0 },
    Change(testDescription: "one block less", invariants: [.aggregates, .pageChecksum]) {
      $0.blocks = 1
    },
    Change(testDescription: "65 blocks", invariants: [.referenceBounds]) { $0.blocks = 65 },
    Change(testDescription: "255 blocks", invariants: [.referenceBounds]) { $0.blocks = 255 },
    Change(testDescription: "a checksum", invariants: [.pageChecksum]) {
      $0.checksum = PageChecksum(rawValue: 1)
    },
    Change(testDescription: "no entries", invariants: [.referenceBounds]) { $0.count = 0 },
    Change(testDescription: "one entry more", invariants: [.aggregates]) { $0.count += 1 },
    Change(testDescription: "2^47 entries", invariants: [.aggregates]) { $0.count = 1 << 47 },
    Change(testDescription: "all entries", invariants: [.aggregates]) {
      $0.count = PageReference.aggregateMax
    },
    Change(testDescription: "no live bytes", invariants: [.referenceBounds]) { $0.liveBytes = 0 },
    Change(testDescription: "2^59 live bytes", invariants: [.aggregates]) {
      $0.liveBytes = 1 << 59
    },
    Change(testDescription: "all live bytes", invariants: [.aggregates]) {
      $0.liveBytes = PageReference.liveBytesMax
    },
    Change(testDescription: "another version", invariants: [.aggregates]) { $0.lowestVersion = 9 },
  ]

  @Test(arguments: changes, TreeReadingTests.modes)
  func `a branch with a wrong child is refused`(change: Change, mode: ReadMode) throws {
    let pages = CraftedPages()
    let first = try pages.append(CraftedPages.entries(0..<100))
    var second = try pages.append(CraftedPages.entries(100..<200))
    change.change(&second)
    // Sums as the wrong reference has them: what it says must not go unnoticed for that.
    var branch = try pages.append(branch: [([], first), ([0, 100], second)])
    branch.count = first.count &+ second.count
    branch.liveBytes = UInt64(branch.size) &+ first.liveBytes &+ second.liveBytes
    let tree = try pages.tree(branch, level: 1, reading: mode)
    let errors = tree.exercise(Self.keys)
    let report = TreeCheck.run(tree)
    #expect(!report.faults.isEmpty)
    for fault in report.faults where fault.invariant != .fill {
      #expect(fault.invariant.map { change.invariants.contains($0) || $0 == .aggregates } ?? false)
    }
    #expect(errors.contains { $0.invariant.map(change.invariants.contains) ?? false })
    #expect(tree.exerciseMerge(Self.keys) != nil)
  }

  @Test(arguments: changes, TreeReadingTests.modes)
  func `a wrong root is refused`(change: Change, mode: ReadMode) throws {
    for level in [0, 1] as [UInt8] {
      let pages = CraftedPages()
      let first = try pages.append(CraftedPages.entries(0..<100))
      var root = try pages.append(CraftedPages.entries(100..<200))
      if level == 1 { root = try pages.append(branch: [([], first), ([0, 100], root)]) }
      let right = root
      change.change(&root)
      let tree = try pages.tree(root, level: level, reading: mode)
      _ = tree.exercise(Self.keys)
      #expect(TreeCheck.run(tree).faults.isEmpty == (root == right))
      _ = tree.exerciseMerge(Self.keys, adoption: .nothing)
    }
  }

  @Test(arguments: [0, 1, 2, 3, 48, 49, 254, 255] as [UInt8])
  func `a root of another level than its page is refused`(level: UInt8) throws {
    let pages = CraftedPages()
    let first = try pages.append(CraftedPages.entries(0..<100))
    let second = try pages.append(CraftedPages.entries(100..<200))
    let branch = try pages.append(branch: [([], first), ([0, 100], second)])
    let value = try pages.append(Bytes(repeating: 0, count: 4096), kind: .value)
    for root in [first, branch, value] {
      let tree = try pages.tree(root, level: level)
      let isRight = root == first && level == 0 || root == branch && level == 1
      let faults = TreeCheck.run(tree).faults
      #expect(faults.isEmpty == isRight)
      #expect(faults.allSatisfy { $0.invariant == .pageKind })
      let errors = tree.exercise(Self.keys)
      #expect(errors.isEmpty == isRight)
      _ = tree.exerciseMerge(Self.keys)
    }
  }
}
