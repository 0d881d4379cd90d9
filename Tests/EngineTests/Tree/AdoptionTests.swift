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

  /// Changes a tree again and again in all its parts, and empties old segments in passing.
  @Test(arguments: [tinyNodes, .standard])
  func `merges that come by everywhere empty segments in passing, and change nothing else`(
    sizes: NodeSizes
  ) throws {
    var (emptied, kept) = (0, 0)
    for seed in 0..<6 as Range<UInt64> {
      var world = try Self.world(sizes: sizes, seed: seed)
      var random = SplitMix64(seed: seed)
      for round in 0..<8 {
        var before = LivePages()
        try world.tree().addPages(to: &before)
        let old = before.bytes.keys.filter { _ in random.next() % 2 == 0 }
        var changes: [Bytes: Bytes?] = [:]
        for _ in 0..<(round % 4 == 0 ? 1 : 400) {
          let length = [3, 20, 90, 5_000].randomElement(using: &random) ?? 0
          let key = key(random.next() % 4_000, length: 6)
          changes[key] = random.next() % 5 == 0 ? nil : Bytes(repeating: 5, count: length)
        }
        try world.merge(changes, adoption: .passing(SegmentSet(old)))
        try world.verify(every: 5)
        var live = LivePages()
        try world.tree().addPages(to: &live)
        for segment in old {
          #expect(live.bytes[segment] ?? 0 <= before.bytes[segment] ?? 0)
          if live.bytes[segment] == nil { emptied += 1 } else { kept += 1 }
        }
      }
    }
    #expect(
      emptied > 20 && (kept > 5 || sizes == .standard),
      "\(emptied) were emptied, and \(kept) were not")
  }

  @Test func `in passing, only leaves beside a changed one are moved`() throws {
    var world = TreeWorld(on: InMemoryFileSystem(), sizes: tinyNodes)
    var all: [Bytes: Bytes?] = [:]
    for number in 0..<4_000 as Range<UInt64> { all[key(number, length: 6)] = [1, 2, 3] }
    try world.merge(all)
    var before = LivePages()
    try world.tree().addPages(to: &before)
    try world.merge([key(2_000, length: 6): [9]], adoption: .passing(SegmentSet([1])))
    var after = LivePages()
    try world.tree().addPages(to: &after)
    let (old, left) = (try #require(before.bytes[1]), try #require(after.bytes[1]))
    let moved = try #require(after.bytes[2])
    #expect(left < old && left > old * 9 / 10, "\(left) of \(old) bytes stay")
    #expect(moved < old / 10)
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
