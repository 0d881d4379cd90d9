import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct GarbageShareTests {
  @Test func `the aggregates say what a walk over the pages finds`() throws {
    var world = TreeWorld(on: InMemoryFileSystem(), sizes: tinyNodes)
    var changes: [Bytes: Bytes?] = [:]
    for number in 0..<200 as Range<UInt8> {
      changes[[number]] = Bytes(repeating: number, count: number % 50 == 0 ? 300_000 : 9)
    }
    try world.merge(changes)
    let first = try #require(world.file?.footer.garbageShare)
    try compareWithWalk(world)
    // A segment's header is all that nothing reaches.
    #expect(first > 0 && first < 0.01)

    try world.merge([[0]: [1], [50]: nil, [77]: [2, 3]])
    let second = try #require(world.file?.footer.garbageShare)
    try compareWithWalk(world)
    #expect(second > 0.4 && second < 0.6)

    try world.merge(Dictionary(uniqueKeysWithValues: changes.keys.map { ($0, nil) }))
    #expect(world.root == nil)
    #expect(world.file?.footer.garbageShare == 1)
  }

  @Test func `no footer makes it trap or leave its range`() {
    var random = SplitMix64(seed: 5)
    for _ in 0..<200 {
      let share = FooterFixtures.random(&random).garbageShare
      #expect(share >= 0 && share <= 1)
    }
    #expect(Footer(identity: FooterFixtures.identity).garbageShare == 0)
  }

  private func compareWithWalk(_ world: TreeWorld) throws {
    let file = try #require(world.file)
    let tree = try world.tree()
    let report = TreeCheck.run(tree, sizes: world.sizes)
    #expect(report.faults.isEmpty)
    let size = file.footer.segments.reduce(0) { $0 + Int($1.end) * Layout.blockSize }
    #expect(abs(file.footer.garbageShare - (1 - Double(report.pageBytes) / Double(size))) < 1e-9)
    var live = LivePages()
    try tree.addPages(to: &live)
    #expect(live.bytes.values.reduce(0, +) == UInt64(report.pageBytes))
    for extent in file.footer.segments {
      #expect(live.bytes[extent.number, default: 0] < extent.end * UInt64(Layout.blockSize))
    }
  }
}
