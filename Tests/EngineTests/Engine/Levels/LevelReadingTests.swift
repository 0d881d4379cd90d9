import Synchronization
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Trees that are read through a level, and folds into levels and trees.
@Suite struct LevelReadingTests {
  private static let slots: [Bytes] = [[2], [4], [6]]
  private static let asked: [Bytes] = [[], [1], [2], [3], [4], [5], [6], [7]]

  /// What can become of each of three keys in an overlay: nothing, a put, a removal; and of all, a clearing before.
  private static func changes(_ number: Int) -> [LayeredWorld.Change] {
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

  @Test func `every tree of three keys with a level under every overlay agrees with a dictionary`()
  {
    let step = scaled(1, debug: 19)
    for present in 0..<8 {
      for number in stride(from: present % step, to: 54 * 54, by: step) {
        do {
          var entries: [Bytes: Bytes] = [[1]: [1]]
          for (index, key) in Self.slots.enumerated() where present >> index & 1 == 1 {
            entries[key] = [key[0]]
          }
          var world = try LayeredWorld(entries)
          try world.add(Self.changes(number % 54))
          try world.fold(into: .level)
          try world.verify(asking: Self.asked, turns: 20, seed: UInt64(number))
          try world.add(Self.changes(number / 54))
          try world.verify(asking: Self.asked, seed: UInt64(number))
          try world.fold(into: number % 5 == 0 ? .tree : .level)
          try world.verify(asking: Self.asked, turns: 20, seed: UInt64(number))
          try world.fold(into: .tree)
          try world.verify(asking: Self.asked, turns: 20, seed: UInt64(number))
          #expect(world.base.level(LayeredWorld.slot) == nil)
        } catch {
          Issue.record("\(present), \(number): \(error)")
          return
        }
      }
    }
  }

  @Test(arguments: TreeReadingTests.modes)
  func `random lives of a tree and its level agree with a dictionary`(mode: ReadMode) {
    let levels = Mutex(0)
    replaying(0..<UInt64(scaled(40, debug: 6))) { seed in
      var random = SplitMix64(seed: seed)
      let space = UInt64([30, 400, 2_000][Int(seed % 3)])
      var entries: [Bytes: Bytes] = [[0]: [0]]
      for _ in 0..<random.next() % space {
        let key = LayeredReadingTests.key(random.next() % space)
        entries[key] = LayeredReadingTests.value(&random)
      }
      let sizes = random.next() % 3 == 0 ? NodeSizes.standard : tinyNodes
      var world = try LayeredWorld(entries, sizes: sizes, mode: mode)
      let asked =
        (0..<20).map { _ in LayeredReadingTests.key(random.next() % (space + 3)) } + [[], [255]]
      for round in 0..<2 + random.next() % 6 {
        for _ in 0..<random.next() % 3 {
          let changes = LayeredReadingTests.changes(space, &random)
          try world.add(changes, nodeCapacity: 4 + Int(random.next() % 9))
        }
        try world.fold(into: random.next() % 4 == 0 ? .tree : .level)
        if world.base.level(LayeredWorld.slot) != nil { levels.withLock { $0 += 1 } }
        if round % 2 == 0 { try world.verify(asking: asked, turns: 200, seed: seed) }
      }
      try world.verify(asking: asked, turns: 400, seed: seed)
    }
    #expect(levels.withLock { $0 } > scaled(40, debug: 6))
  }

  @Test func `a reader that knows the document of the format alone reads through a level`() {
    replaying(0..<UInt64(scaled(20, debug: 4))) { seed in
      var random = SplitMix64(seed: seed)
      var world = try LayeredWorld([[0]: [0], [1]: [1], [9]: [9]])
      for _ in 0..<3 {
        try world.add(LayeredReadingTests.changes(300, &random).filter { !$0.isClearing })
        try world.fold(into: .level)
      }
      var reference: Bytes = []
      world.base.file.reference.encode(to: &reference)
      var files: [String: Bytes] = [:]
      for name in try world.world.medium.list(at: .test) {
        files["\(name)"] = try world.world.medium.contents(of: name)
      }
      let reader = try IndependentReader(files, opening: reference)
      let sorted = SortedModel(world.model)
      let entries = try reader.entries(of: "t")
      try agree(entries.map(\.key) == sorted.keys, "\(entries.count) of \(sorted.keys.count)")
      try agree(entries.map(\.value) == sorted.values, "the values differ")
      for number in 0..<60 as Range<UInt64> {
        let key = LayeredReadingTests.key(number)
        try agree(reader.value(of: key, in: "t") == world.model[key], "\(key)")
      }
    }
  }

  @Test func `values with pages of their own are read in a level, and merged`() throws {
    let large = Bytes(repeating: 7, count: 300_000)
    let larger = Bytes(repeating: 8, count: 2 << 20)
    var world = try LayeredWorld([[1]: large, [2]: large, [3]: large], sizes: .standard)
    try world.add([.put([2], larger), .remove([3]), .put([4], large)])
    try world.fold(into: .level)
    try world.verify(asking: Self.asked)
    try world.add([.put([3], larger), .put([1], [1]), .remove([4])])
    try world.verify(asking: Self.asked)
    try world.fold(into: .level)
    try world.verify(asking: Self.asked)
    try world.fold(into: .tree)
    try world.verify(asking: Self.asked)
  }

  @Test func `a change that says a wrong thing of what lies below is refused, and not counted`()
    throws
  {
    var world = try LayeredWorld([[1]: [1], [2]: [2]])
    try world.add([.put([3], [3])])
    try world.fold(into: .level)
    // That the key is new is said twice.
    try world.addUnchecked([.put([3], [4])], isNew: true)
    #expect(throws: StoreError.self) { try world.fold(into: .level) }
  }

  @Test func `a check finds a level whose keys are not what counts make of them`() throws {
    for (part, key) in [
      (LevelPart.added, [1]), (.replaced, [9]), (.removed, [9]),
    ] as [(LevelPart, Bytes)] {
      let faults = try LayeredWorld.faults(of: part, key, over: [[1]: [1], [2]: [2]])
      guard case .corrupt(_, invariant: .levelKeys, _) = faults.first else {
        Issue.record("\(part) \(key): \(faults)")
        continue
      }
    }
    #expect(try LayeredWorld.faults(of: .added, [9], over: [[1]: [1]]).isEmpty)
    #expect(try LayeredWorld.faults(of: .removed, [1], over: [[1]: [1], [2]: [2]]).isEmpty)
  }
}
