import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct AdoptionTests {
  /// A tree of several segments, with values of all kinds.
  private static func world(
    sizes: NodeSizes, seed: UInt64 = 1
  ) throws -> TreeWorld {
    var world = TreeWorld(on: InMemoryFileSystem(), sizes: sizes)
    var random = SplitMix64(seed: seed)
    for _ in 0..<5 {
      var changes: [Bytes: Bytes?] = [:]
      for _ in 0..<150 {
        let length = [3, 20, 90, 5_000].randomElement(using: &random) ?? 0
        changes[key(random.next() % 4_000, length: 6)] = Bytes(repeating: 4, count: length)
      }
      try world.merge(changes)
    }
    return world
  }

  @Test(arguments: [tinyNodes, .standard])
  func `compacting a segment leaves no page of the tree in it`(sizes: NodeSizes) throws {
    for seed in 0..<4 as Range<UInt64> {
      for victim in 1...5 as ClosedRange<UInt32> {
        var world = try Self.world(sizes: sizes, seed: seed)
        try world.merge([:], adoption: .outside(segment: victim))
        var live = LivePages()
        try world.tree().addPages(to: &live)
        #expect(live.bytes[victim] == nil)
        #expect(victim == 1 || live.bytes[1] != nil, "what is older stays where it is")
        try world.verify(every: 5)
      }
    }
  }

  @Test(arguments: [tinyNodes, .standard])
  func `compacting one segment after the other ends with one`(sizes: NodeSizes) throws {
    var world = try Self.world(sizes: sizes)
    for victim in 1..<world.nextSegment {
      try world.merge([:], adoption: .outside(segment: victim))
      var live = LivePages()
      try world.tree().addPages(to: &live)
      #expect(live.bytes.keys.allSatisfy { $0 > victim })
    }
    try world.verify(every: 5)
  }

  @Test(arguments: [tinyNodes, .standard])
  func `adopting nothing writes all anew, with the same entries`(sizes: NodeSizes) throws {
    var world = try Self.world(sizes: sizes)
    let segment = world.nextSegment
    try world.merge([:], adoption: .nothing)
    var live = LivePages()
    try world.tree().addPages(to: &live)
    #expect(live.bytes.keys.allSatisfy { $0 >= segment })
    try world.verify(every: 5)
  }
}
