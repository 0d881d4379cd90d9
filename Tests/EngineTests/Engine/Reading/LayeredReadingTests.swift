import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct LayeredReadingTests {
  static let slots: [Bytes] = [[2], [4], [6]]
  static let asked: [Bytes] = [[], [1], [2], [3], [4], [5], [6], [7]]

  /// What can become of each of three keys in an overlay: nothing, a put, a removal; and of all, a
  /// clearing before.
  static func changes(_ number: Int) -> [LayeredWorld.Change] {
    var rest = number
    var changes: [LayeredWorld.Change] = rest % 2 == 1 ? [.clear] : []
    rest /= 2
    for key in slots {
      switch rest % 3 {
      case 1: changes.append(.put(key, [UInt8(number & 0xff), key[0]]))
      case 2: changes.append(.remove(key))
      default: break
      }
      rest /= 3
    }
    return changes
  }

  /// Every tree of three keys, each with all pairs of changes, until one fails.
  ///
  /// - Parameters:
  ///   - others: Entries that all trees have.
  ///   - body: Its second argument is the number of the pair, below 54 * 54.
  static func everyTree(
    beside others: [Bytes: Bytes] = [:], _ body: (inout LayeredWorld, Int) throws -> Void
  ) {
    let step = scaled(1, debug: 19)
    for present in 0..<8 {
      for number in stride(from: present % step, to: 54 * 54, by: step) {
        do {
          var entries = others
          for (index, key) in slots.enumerated() where present >> index & 1 == 1 {
            entries[key] = [key[0]]
          }
          var world = try LayeredWorld(entries)
          try body(&world, number)
        } catch {
          Issue.record("\(present), \(number): \(error)")
          return
        }
      }
    }
  }

  @Test func `every tree of three keys under every two overlays agrees with a dictionary`() {
    Self.everyTree { world, number in
      try world.add(Self.changes(number % 54))
      try world.add(Self.changes(number / 54))
      try world.verify(asking: Self.asked, seed: UInt64(number))
    }
  }

  /// A tree of some keys below `space`, and keys to ask for.
  static func randomTree(
    beside others: [Bytes: Bytes] = [:], below space: UInt64, mode: ReadMode,
    _ random: inout SplitMix64
  ) throws -> (tree: LayeredWorld, asked: [Bytes]) {
    var entries = others
    for _ in 0..<random.next() % space {
      let key = key(random.next() % space)
      entries[key] = value(&random)
    }
    let sizes = random.next() % 3 == 0 ? NodeSizes.standard : tinyNodes
    let asked = (0..<20).map { _ in key(random.next() % (space + 3)) } + [[], [255]]
    return (try LayeredWorld(entries, sizes: sizes, mode: mode), asked)
  }

  @Test(arguments: TreeReadingTests.modes)
  func `random trees under up to four overlays agree with a dictionary`(mode: ReadMode) {
    replaying(0..<UInt64(scaled(60, debug: 6))) { seed in
      var random = SplitMix64(seed: seed)
      let space = UInt64([30, 400, 2_000][Int(seed % 3)])
      let (tree, asked) = try Self.randomTree(below: space, mode: mode, &random)
      var world = tree
      for _ in 0..<random.next() % 5 {
        try world.add(Self.changes(space, &random), nodeCapacity: 4 + Int(random.next() % 9))
      }
      try world.verify(asking: asked, turns: 400, seed: seed)
    }
  }

  /// Changes here and there, or all in one place.
  static func changes(
    _ space: UInt64, _ random: inout SplitMix64
  ) -> [LayeredWorld.Change] {
    var changes: [LayeredWorld.Change] = random.next() % 8 == 0 ? [.clear] : []
    let removals = [5, 40, 95][Int(random.next() % 3)]
    let isDense = Bool.random(using: &random)
    let start = random.next() % space
    for step in 0..<random.next() % (space / 2) {
      let key = key(isDense ? (start + step) % space : random.next() % space)
      if random.next() % 100 < removals {
        changes.append(.remove(key))
      } else {
        changes.append(.put(key, value(&random)))
      }
    }
    return changes
  }

  static func key(_ number: UInt64) -> Bytes {
    Bytes("\(number % 7)/".utf8) + [UInt8(number >> 8 & 0xff), UInt8(number & 0xff)]
  }

  /// Mostly short; some too large for a leaf.
  static func value(_ random: inout SplitMix64) -> Bytes {
    let isLarge = random.next() % 40 == 0
    let length = Int(random.next() % (isLarge ? 9_000 : 12))
    return Bytes(repeating: UInt8(truncatingIfNeeded: random.next()), count: length)
  }

  @Test func `a value with pages of its own is read under an overlay and replaced by one`() throws {
    let large = Bytes(repeating: 7, count: 300_000)
    let larger = Bytes(repeating: 8, count: 2 << 20)
    var world = try LayeredWorld([[1]: large, [2]: large, [3]: large], sizes: .standard)
    try world.add([.put([2], larger), .remove([3])])
    try world.verify(asking: Self.asked)
    try world.add([.put([3], larger), .put([1], [1])])
    try world.verify(asking: Self.asked)
  }

  @Test func `nothing below an overlay that cleared the tree is seen`() throws {
    var world = try LayeredWorld([[1]: [1], [2]: [2]])
    try world.add([.put([3], [3])])
    try world.add([.clear, .put([2], [4])])
    try #require(world.tree.count == 1)
    #expect(world.tree.overlays.count == 1)
    #expect(world.tree.base.root == nil)
    try world.verify(asking: Self.asked)
    try world.add([.remove([2])])
    #expect(world.tree.count == 0)
    try world.verify(asking: Self.asked)
  }

  @Test func `an overlay that says nothing of the tree costs nothing`() throws {
    var world = try LayeredWorld([[1]: [1], [2]: [2]])
    try world.add([])
    try world.add([.put([3], [3]), .remove([3])])
    #expect(world.tree.overlays.isEmpty)
    try world.verify(asking: Self.asked)
  }
}
