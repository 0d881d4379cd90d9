import Synchronization
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Trees that are read through a level, and folds into levels and trees.
@Suite struct LevelReadingTests {
  private typealias Small = LayeredReadingTests

  /// One of the intervals between small keys; the first is none.
  static func merge(_ number: Int) -> LevelMerge? {
    if number == 0 { return nil }
    let starts = [[], Small.slots[0], Small.slots[1], Small.slots[2]]
    let choices = starts.indices.flatMap { start in
      (Array(starts[(start + 1)...]) + [nil]).map { KeyInterval(start: starts[start], end: $0) }
    }
    return LevelMerge(
      interval: choices[number % choices.count], hasOwnSegments: number % 2 == 0)
  }

  static func merge(_ space: UInt64, _ random: inout SplitMix64) -> LevelMerge? {
    if random.next() % 3 == 0 { return nil }
    let ends = [Small.key(random.next() % space), Small.key(random.next() % space)]
      .sorted { $0.lexicographicallyPrecedes($1) }
    let interval = KeyInterval(
      start: random.next() % 3 == 0 ? [] : ends[0], end: random.next() % 3 == 0 ? nil : ends[1])
    return LevelMerge(interval: interval, hasOwnSegments: random.next() % 2 == 0)
  }

  @Test func `every tree of three keys with a level under every overlay agrees with a dictionary`()
  {
    Small.everyTree(beside: [[1]: [1]]) { world, number in
      try world.add(Small.changes(number % 54))
      try world.fold(into: .level(merging: nil))
      try world.verify(asking: Small.asked, turns: 20, seed: UInt64(number))
      try world.add(Small.changes(number / 54))
      try world.verify(asking: Small.asked, seed: UInt64(number))
      try world.fold(into: number % 5 == 0 ? .tree : .level(merging: Self.merge(number / 54 % 11)))
      try world.verify(asking: Small.asked, turns: 20, seed: UInt64(number))
      try world.fold(into: .tree)
      try world.verify(asking: Small.asked, turns: 20, seed: UInt64(number))
      #expect(world.base.level(LayeredWorld.slot) == nil)
    }
  }

  @Test(arguments: TreeReadingTests.modes)
  func `random lives of a tree and its level agree with a dictionary`(mode: ReadMode) {
    let levels = Mutex(0)
    replaying(0..<UInt64(scaled(40, debug: 6))) { seed in
      var random = SplitMix64(seed: seed)
      let space = UInt64([30, 400, 2_000][Int(seed % 3)])
      let (tree, asked) = try Small.randomTree(
        beside: [[0]: [0]], below: space, mode: mode, &random)
      var world = tree
      for round in 0..<2 + random.next() % 6 {
        for _ in 0..<random.next() % 3 {
          let changes = Small.changes(space, &random)
          try world.add(changes, nodeCapacity: 4 + Int(random.next() % 9))
        }
        let merge = Self.merge(space, &random)
        try world.fold(into: random.next() % 4 == 0 ? .tree : .level(merging: merge))
        if world.base.level(LayeredWorld.slot) != nil { levels.withLock { $0 += 1 } }
        if round % 2 == 0 { try world.verify(asking: asked, turns: 200, seed: seed) }
      }
      try world.verify(asking: asked, turns: 400, seed: seed)
    }
    #expect(levels.withLock { $0 } > scaled(40, debug: 4))
  }

  @Test func `entries before and behind many removals are found, in overlays and in levels`() {
    replaying(0..<UInt64(scaled(24, debug: 6))) { seed in
      var random = SplitMix64(seed: seed)
      let count = 1500 as UInt64
      var entries: [Bytes: Bytes] = [:]
      for number in 0..<count { entries[Small.key(number)] = [1] }
      var world = try LayeredWorld(entries)
      let keys = entries.keys.sorted { $0.lexicographicallyPrecedes($1) }
      for _ in 0..<3 {
        let start = [0, Int(random.next() % count)][Int(random.next() % 2)]
        let end = [keys.count, min(keys.count, start + 700)][Int(random.next() % 2)]
        var changes = keys[start..<end].map { LayeredWorld.Change.remove($0) }
        if random.next() % 2 == 0 { changes.append(.put(keys[(start + end) / 2], [2])) }
        try world.add(changes)
        if random.next() % 2 == 0, world.base.tree(LayeredWorld.slot).root != nil {
          try world.fold(into: .level(merging: nil))
        }
        try world.verify(asking: [[], keys[start]], turns: 100, seed: seed)
      }
    }
  }

  @Test func `a reader that knows the document of the format alone reads through a level`() {
    replaying(0..<UInt64(scaled(20, debug: 4))) { seed in
      var random = SplitMix64(seed: seed)
      var world = try LayeredWorld([[0]: [0], [1]: [1], [9]: [9]])
      for _ in 0..<3 {
        try world.add(Small.changes(300, &random).filter { !$0.isClearing })
        try world.fold(into: .level(merging: nil))
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
        let key = Small.key(number)
        try agree(reader.value(of: key, in: "t") == world.model[key], "\(key)")
      }
    }
  }

  @Test func `values with pages of their own are read in a level, and merged`() throws {
    let large = Bytes(repeating: 7, count: 300_000)
    let larger = Bytes(repeating: 8, count: 2 << 20)
    var world = try LayeredWorld([[1]: large, [2]: large, [3]: large], sizes: .standard)
    try world.add([.put([2], larger), .remove([3]), .put([4], large)])
    try world.fold(into: .level(merging: nil))
    try world.verify(asking: Small.asked)
    try world.add([.put([3], larger), .put([1], [1]), .remove([4])])
    try world.verify(asking: Small.asked)
    try world.fold(into: .level(merging: nil))
    try world.verify(asking: Small.asked)
    try world.fold(into: .tree)
    try world.verify(asking: Small.asked)
  }

  @Test func `a change that says a wrong thing of what lies below is refused, and not counted`()
    throws
  {
    var world = try LayeredWorld([[1]: [1], [2]: [2]])
    try world.add([.put([3], [3])])
    try world.fold(into: .level(merging: nil))
    // That the key is new is said twice.
    try world.addUnchecked([.put([3], [4])], isNew: true)
    for target in [.level(merging: nil), .level(merging: Self.merge(1)), .tree] as [FoldTarget] {
      var copy = world
      #expect(throws: StoreError.self) { try copy.fold(into: target) }
    }
  }

  @Test func `a check finds a level whose keys are not what counts make of them`() throws {
    let entries: [Bytes: Bytes] = [[1]: [1], [2]: [2]]
    func faults(_ parts: [LevelPart: [Bytes]]) throws -> [StoreError] {
      try LayeredWorld(entries, parts: parts).base.file.check()
    }
    for parts in [
      [.added: [[1]]], [.replaced: [[9]]], [.removed: [[9]]], [.replaced: [[1]], .removed: [[1]]],
    ] as [[LevelPart: [Bytes]]] {
      guard case .corrupt(_, invariant: .levelKeys, _) = try faults(parts).first else {
        Issue.record("\(parts): \(try faults(parts))")
        continue
      }
    }
    for parts in [
      [.added: [[9]]], [.removed: [[1]]], [.added: [[0]], .replaced: [[1]], .removed: [[2]]],
    ] as [[LevelPart: [Bytes]]] {
      #expect(try faults(parts).isEmpty)
    }
  }

  /// Parts whose keys are also in others, or are not those that they should be.
  @Test func `a hostile level is read and merged, or refused, and nothing traps`() throws {
    let keys: [Bytes] = [[0], [1], [2], [3], [4]]
    var refused = 0
    for choice in stride(from: 0, to: 1 << 15, by: scaled(37, debug: 411)) {
      var parts: [LevelPart: [Bytes]] = [:]
      for part in LevelPart.allCases {
        parts[part] = keys.indices.filter { choice >> (Int(part.rawValue) * 5 + $0) & 1 == 1 }
          .map { keys[$0] }
      }
      do {
        var world = try LayeredWorld([[1]: [1], [3]: [3], [5]: [5]], parts: parts)
        try world.readAll(asking: keys)
        try world.add([.put([2], [9]), .remove([3])])
        try world.readAll(asking: keys)
        // The tree that comes of it need not be sound.
        do {
          try world.fold(into: choice % 2 == 0 ? .level(merging: Self.merge(choice % 11)) : .tree)
        } catch is Disagreement {}
        try world.readAll(asking: keys)
      } catch is StoreError {
        refused += 1
      }
    }
    #expect(refused > scaled(100, debug: 10))
  }
}
