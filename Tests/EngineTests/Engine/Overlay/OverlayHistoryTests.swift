import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct OverlayHistoryTests {
  enum Keys: CaseIterable {
    case numbers, tied, prefixed, nested, random
  }

  private static func key(_ number: UInt64, _ keys: Keys) -> Bytes {
    switch keys {
    case .numbers: digits(number, 8)
    // All agree in their first eight bytes, some end there.
    case .tied: Bytes(repeating: 7, count: 8) + Bytes(String(number).utf8).dropFirst()
    case .prefixed:
      Bytes((number % 3 == 0 ? "articles/" : "authors/by name/").utf8) + digits(number, 5)
    // Whatever some begin with in common, others share a part of.
    case .nested:
      Bytes(repeating: 97, count: Int(number % 25)) + Bytes(repeating: 98, count: Int(number / 25))
    case .random:
      digits(number &* 0x9e37_79b9_7f4a_7c15, 8).prefix(1 + Int(number % 8)) + [1]
    }
  }

  private static func digits(_ number: UInt64, _ length: Int) -> Bytes {
    (0..<length).map { UInt8(truncatingIfNeeded: number >> UInt64(8 * (length - 1 - $0))) }
  }

  @Test(arguments: Keys.allCases, [4, 5, 11, OverlayNode.capacity])
  func `long histories agree with a dictionary, and pinned versions stay`(
    keys: Keys, nodeCapacity: Int
  ) {
    replaying(0..<UInt64(scaled(20, debug: 1))) { seed in
      var random = SplitMix64(seed: seed)
      let all = (0..<scaled(300, debug: 80)).map { Self.key(UInt64($0) * 3, keys) }
      let asked = (0..<40).map { Self.key(UInt64($0 * 23), keys) } + [[], [255]]
      let trees = [0, 1, 15, 16, 300].map { TreeSlot($0) }
      let below = Dictionary(
        uniqueKeysWithValues: trees.map { tree in
          (tree, Set(all.filter { _ in random.next() % 3 == 0 }))
        })
      var world = OverlayWorld(nodeCapacity: nodeCapacity, keys: asked, below: below)
      for _ in 0..<scaled(60, debug: 20) {
        try Self.transaction(all, trees, &world, &random)
        if random.next() % 8 == 0 { try world.verifyPresent() }
        while world.pinned.count > 5 { world.unpin(Int(random.next() % 6)) }
      }
      try world.verifyEnd()
    }
  }

  /// Their bytes behind the others' prefix would lead to the other end of the tree.
  @Test func `keys beside many with a long common prefix are found`() throws {
    let low = Bytes("a".utf8) + Bytes(repeating: 0xff, count: 30)
    let high = Bytes("c".utf8) + Bytes(repeating: 0, count: 30)
    let many = (0..<200).map { Bytes("bbbbbbbb".utf8) + Self.digits(UInt64($0) << 20, 8) }
    var world = OverlayWorld(keys: [low, high] + many, below: [TreeSlot(0): []])
    for key in many + [low, high] { try world.put(key) }
    try world.verifyPresent()
    try world.finish()
    try world.verifyEnd()
  }

  @Test func `a savepoint around each change takes no memory once it is released`() throws {
    let keys = (0..<40).map { Self.digits(UInt64($0), 8) }
    var world = OverlayWorld(keys: keys, below: [TreeSlot(0): []])
    for key in keys { try world.put(key) }
    let nodeCount = world.arena.statistics.usedNodes
    for step in 0..<2_000 {
      world.save()
      try world.put(keys[step % keys.count])
      world.release()
    }
    #expect(world.arena.statistics.usedNodes == nodeCount)
    // One that stays open keeps what there was, once.
    world.save()
    for step in 0..<2_000 {
      world.save()
      try world.put(keys[step * 7 % keys.count])
      world.release()
    }
    #expect(world.arena.statistics.usedNodes <= 2 * nodeCount)
    try world.verifyPresent()
    world.rollBack()
    try world.verifyPresent()
    try world.finish()
    try world.verifyEnd()
  }

  private static func transaction(
    _ keys: [Bytes], _ trees: [TreeSlot], _ world: inout OverlayWorld, _ random: inout SplitMix64
  ) throws {
    // Often one operation; sometimes many, in order or not, or mostly removals.
    let count = random.next() % 3 == 0 ? 1 : Int(random.next() % 60)
    let removals = [20, 50, 90][Int(random.next() % 3)]
    let isAscending = Bool.random(using: &random)
    let start = Int.random(in: keys.indices, using: &random)
    for step in 0..<count {
      let index =
        isAscending ? (start + step) % keys.count : Int(random.next() % UInt64(keys.count))
      let key = keys[index]
      let tree = trees[random.next() % 2 == 0 ? 0 : Int(random.next() % 5)]
      if random.next() % 100 < removals {
        try world.remove(key, in: tree)
      } else {
        try world.put(key, in: tree, length: Int(random.next() % 40))
      }
      switch random.next() % 80 {
      case 0...2: world.save()
      case 3, 4: world.rollBack(to: Int(random.next() % 4))
      case 5: world.clear(tree)
      case 7, 8: world.release()
      case 6: try world.verifyPresent()
      default: break
      }
    }
    if random.next() % 8 == 0 { return world.abort() }
    try world.finish(pinning: random.next() % 3 == 0, recycling: random.next() % 4 != 0)
  }
}
