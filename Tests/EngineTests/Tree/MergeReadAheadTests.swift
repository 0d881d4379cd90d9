import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite("What a merge reads ahead")
struct MergeReadAheadTests {
  private let medium = SimulatedFileSystem()
  private var world: TreeWorld

  init() throws {
    world = TreeWorld(on: medium, sizes: NodeSizes(leaf: 256, branch: 8_192))
    var changes: [Bytes: Bytes?] = [:]
    for number in 0..<1_000 { changes[Self.key(number)] = [1, 2, 3] }
    try world.merge(changes)
  }

  private static func key(_ number: Int) -> Bytes { [UInt8(number >> 8), UInt8(number & 0xff)] }

  /// Merges values for keys into the tree, and returns how often it asked for leaves ahead.
  private func readAhead(_ keys: [Int]) throws -> Int {
    let reference = try #require(world.file).reference
    // Opened again, so that no page of it was read yet.
    let file = try PageFile(opening: reference, in: medium, reading: .mapped)
    let appender = PageAppender(
      to: medium, of: TreeWorld.identity, from: world.nextSegment, output: .buffered)
    defer { appender.giveBack() }
    let changes = keys.map { ListInput.Operation(key: Self.key($0), value: [4]) }
    let before = medium.callCount(of: .willNeed)
    _ = try TreeMerge.run(
      ListInput(changes), into: world.root, of: file.pages, sizes: world.sizes,
      appendingTo: appender)
    return medium.callCount(of: .willNeed) - before
  }

  @Test func `is no leaf that it takes over`() throws {
    // All leaves are below the root, and asked for sixteen at a time.
    #expect(world.root?.level == 1)
    #expect(try readAhead(Array(0..<1_000)) > 3)
    #expect(try readAhead([0]) == 1)
    #expect(try readAhead([1_000]) == 1)
    #expect(try readAhead([]) == 0)
  }
}
