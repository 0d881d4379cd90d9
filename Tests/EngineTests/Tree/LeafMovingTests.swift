import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Leaves that are only moved: full ones are copied whole, the others packed.
@Suite struct LeafMovingTests {
  private typealias World = TreeWorld
  typealias Shape = LeafReplacementTests.Shape

  private static func world(_ shape: Shape, _ count: Int, sizes: NodeSizes) throws -> World {
    var world = World(on: InMemoryFileSystem(), sizes: sizes)
    var changes: [Bytes: Bytes?] = [:]
    for number in 0..<count { changes[shape.key(number)] = shape.value(number) }
    try world.merge(changes)
    return world
  }

  /// The leaves without their checksums, which also say where they are.
  private static func leaves(_ world: World) throws -> [Bytes] {
    let tree = try world.tree()
    var references: [PageReference] = []
    try tree.forEachPage { reference, kind in
      if kind == .leaf { references.append(reference) }
    }
    var leaves: [Bytes] = []
    for reference in references {
      let page = try tree.pages.page(reference, level: 0, as: LeafPage.self)
      leaves.append(Bytes(page.bytes.array().dropFirst(PageChecksum.size)))
    }
    return leaves
  }

  @Test(arguments: [tinyNodes, .standard])
  func `full leaves are the same in another place`(sizes: NodeSizes) throws {
    for count in [1, 2, 9, 70, 1_200, 1_201] {
      var world = try Self.world(.fixed, count, sizes: sizes)
      let before = try Self.leaves(world)
      try world.merge([:], adoption: .outside(segment: 1))
      let after = try Self.leaves(world)
      #expect(after.count == before.count)
      // The last two share what is left.
      #expect(after.dropLast(2) == before.dropLast(2))
      var live = LivePages()
      try world.tree().addPages(to: &live)
      #expect(live.bytes[1] == nil)
      try world.verify(every: 50)
    }
  }

  @Test(arguments: Shape.allCases)
  func `leaves that are not full are packed, also among full ones`(shape: Shape) throws {
    let count = 3_000
    for thinned in [0..<count, 0..<1_000, 1_000..<2_000, 2_500..<count] {
      var world = try Self.world(shape, count, sizes: .standard)
      for step in [3, 2] {
        var changes: [Bytes: Bytes?] = [:]
        for number in stride(from: thinned.lowerBound, to: thinned.upperBound, by: step) {
          changes[shape.key(number)] = .some(nil)
        }
        try world.merge(changes)
      }
      for segment in 1..<world.nextSegment {
        try world.merge([:], adoption: .outside(segment: segment))
      }
      var packed = World(on: InMemoryFileSystem())
      try packed.merge(world.model.mapValues { .some($0) })
      let (tree, packedTree) = (try world.tree(), try packed.tree())
      let (found, best) = (TreeCheck.run(tree).leafCount, TreeCheck.run(packedTree).leafCount)
      #expect(found <= best + 1 + best / 16, "\(found) leaves, \(best) would do")
      try world.verify(every: 100)
    }
  }

  @Test func `what comes between moves changes nothing of it`() throws {
    for seed in 0..<UInt64(scaled(30, debug: 6)) {
      var random = SplitMix64(seed: seed)
      var world = try Self.world(.fixed, 150, sizes: tinyNodes)
      for _ in 0..<6 {
        let start = Int(random.next() % 150)
        var changes: [Bytes: Bytes?] = [:]
        for number in start..<min(150, start + Int(random.next() % 60)) {
          let value = Shape.fixed.value(number, UInt8(random.next() % 250))
          changes[Shape.fixed.key(number)] = random.next() % 3 == 0 ? .some(nil) : value
        }
        try world.merge(changes, version: 1 + UInt32(random.next() % 5 / 4))
        let victim = UInt32(1 + random.next() % UInt64(world.nextSegment - 1))
        try world.merge([:], adoption: .outside(segment: victim))
        try world.verify(every: 7)
      }
    }
  }
}
