import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A check that never fails proves nothing: here it must. (Others of its faults are in the
/// `Hostile…Tests`.)
@Suite struct TreeCheckTests {
  /// Leaves of so many entries of 55 bytes each, below one branch.
  private static func tree(
    _ counts: [Int], versions: [UInt32] = []
  ) throws -> Tree {
    let pages = CraftedPages()
    var children: [(separator: Bytes, reference: PageReference)] = []
    var start = 0
    for (index, count) in counts.enumerated() {
      let entries = CraftedPages.entries(start..<start + count, width: 42)
      let version = versions.isEmpty ? 1 : versions[index]
      children.append((entries[0].key, try pages.append(entries, schemaVersion: version)))
      start += count
    }
    if children.count == 1 { return try pages.tree(children[0].reference, level: 0) }
    return try pages.tree(try pages.append(branch: children), level: 1)
  }

  @Test func `a thin leaf is a fault wherever it stands`() throws {
    for counts in [[1, 100], [100, 1], [100, 1, 100], [100, 47, 100]] {
      let faults = TreeCheck.run(try Self.tree(counts)).faults
      #expect(faults.map(\.invariant) == [.fill])
    }
    #expect(TreeCheck.run(try Self.tree([100, 1, 1])).faults.count == 2)
    for counts in [[1], [100, 50, 100], [50, 50]] {
      #expect(TreeCheck.run(try Self.tree(counts)).faults.isEmpty)
    }
  }

  @Test func `a thin leaf among leaves of other versions is none`() throws {
    for (versions, faultCount) in [
      ([1, 2, 1], 0), ([1, 2, 3], 0), ([2, 2, 1], 1), ([1, 2, 2], 1), ([2, 2, 2], 1),
    ] as [([UInt32], Int)] {
      let faults = TreeCheck.run(try Self.tree([100, 1, 100], versions: versions)).faults
      #expect(faults.count == faultCount)
      #expect(faults.allSatisfy { $0.invariant == .fill })
    }
  }

  @Test func `nodes built by other sizes are faults`() throws {
    var world = TreeWorld(on: InMemoryFileSystem(), sizes: tinyNodes)
    var changes: [Bytes: Bytes?] = [:]
    for number in 0..<400 as Range<UInt64> { changes[key(number, length: 6)] = [1, 2, 3] }
    try world.merge(changes)
    let tree = try world.tree()
    #expect(TreeCheck.run(tree, sizes: tinyNodes).faults.isEmpty)
    let report = TreeCheck.run(tree)
    let root = try #require(tree.root)
    #expect(root.level >= 2)
    #expect(report.faults.count == report.leafCount + report.branchCount - 1)
    #expect(report.faults.allSatisfy { $0.invariant == .fill })
  }

  @Test func `a flipped bit is found on every page`() throws {
    var world = TreeWorld(on: InMemoryFileSystem(), sizes: tinyNodes)
    var changes: [Bytes: Bytes?] = [:]
    for number in 0..<60 as Range<UInt64> {
      changes[key(number, length: 6)] = Bytes(repeating: 1, count: number == 7 ? 9_000 : 9)
    }
    try world.merge(changes)
    let tree = try world.tree()
    let file = try world.medium.open(.pages(1), .readWrite, at: .test)
    let end = try #require(tree.root).reference.endBlock
    for block in 1..<Int(end) {
      let offset = block * 4096 + block * 61 % 4096
      let byte = try file.read(offset..<offset + 1)
      try file.write([byte[0] ^ 0x10], from: offset)
      let faults = TreeCheck.run(tree, sizes: tinyNodes).faults
      #expect(faults.contains { $0.invariant == .pageChecksum })
      try file.write(byte, from: offset)
    }
    #expect(TreeCheck.run(tree, sizes: tinyNodes).faults.isEmpty)
  }
}
