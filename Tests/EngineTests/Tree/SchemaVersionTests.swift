import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Doubles, keeps or drops values by their first byte, and counts what it was asked.
private struct Step: EntryTransform {
  var schemaVersion: UInt32
  let asked: Counter

  final class Counter { var count = 0 }

  static func change(_ value: Bytes) -> Bytes? {
    switch (value.first ?? 0) % 3 {
    case 0: value
    case 1: value + value
    default: nil
    }
  }

  mutating func transform(
    key: RawSpan, value: RawSpan, schemaVersion: UInt32, to newValue: inout [UInt8]
  ) throws(StoreError) -> TransformResult {
    asked.count += 1
    let value = value.array()
    guard let changed = Self.change(value) else { return .drop }
    if changed == value { return .keep }
    newValue += changed
    return .replace
  }
}

@Suite struct SchemaVersionTests {
  private typealias World = TreeWorld

  private static func changes(_ range: Range<UInt64>, length: Int = 6) -> [Bytes: Bytes?] {
    var changes: [Bytes: Bytes?] = [:]
    for number in range {
      let isLarge = number % 20 == 3
      changes[Array(key(number, length: 4).reversed())] = Bytes(
        repeating: UInt8(truncatingIfNeeded: number), count: isLarge ? 300 * length : length)
    }
    return changes
  }

  @Test func `a step can leave alone what is not rewritten anyway`() throws {
    var world = World(on: InMemoryFileSystem())
    try world.merge(Self.changes(0..<3_000, length: 60), version: 1)
    let asked = Step.Counter()
    let added = Self.changes(3_000..<3_001, length: 60)
    try world.merge(
      ListInput(added, version: 2),
      transform: TreeTransform(Step(schemaVersion: 2, asked: asked), .touchedLeaves))
    let tree = try world.tree()
    #expect(TreeCheck.run(tree).faults.isEmpty)
    #expect(tree.lowestVersion == 1)
    #expect(asked.count > 0 && asked.count < 1_000, "only the leaves beside the new key")
    var cursor = Cursor(tree)
    var transformed = 0
    var isOn = try cursor.first()
    while isOn {
      var value: Bytes = []
      try tree.append(cursor.entry, to: &value)
      let old = world.model[cursor.key.array()]
      if cursor.entry.schemaVersion == 1 {
        #expect(value == old, "what is old is as it was")
      } else if let old {
        transformed += 1
        #expect(value == Step.change(old), "what was rewritten is new")
      }
      isOn = try cursor.next()
    }
    #expect(transformed > 0)
    #expect(tree.count == 3_001 - (asked.count - transformed), "the step drops some")
  }

  @Test func `a leaf holds rows of one version, and roots say the lowest`() throws {
    var world = World(on: InMemoryFileSystem(), sizes: tinyNodes)
    try world.merge(Self.changes(0..<100), version: 3)
    #expect(try world.tree().lowestVersion == 3)
    try world.merge(Self.changes(50..<51), version: 5)
    #expect(try world.tree().lowestVersion == 3)
    try world.verify()
    var cursor = Cursor(try world.tree())
    var versions: [UInt32] = []
    var isOn = try cursor.first()
    while isOn {
      versions.append(cursor.entry.schemaVersion)
      isOn = try cursor.next()
    }
    #expect(versions == (0..<100).map { $0 == 50 ? 5 : 3 })
    try world.merge(Self.changes(0..<100), version: 4)
    #expect(try world.tree().lowestVersion == 4)
    try world.merge(Self.changes(0..<10), version: 2)
    #expect(try world.tree().lowestVersion == 2)
    try world.verify()
  }

  @Test(arguments: [tinyNodes, .standard])
  func `a transform keeps, replaces and drops, over values of every size`(
    sizes: NodeSizes
  ) throws {
    for count in [0, 1, 2, 30, 300] as [UInt64] {
      var world = World(on: InMemoryFileSystem(), sizes: sizes)
      try world.merge(Self.changes(0..<count))
      let asked = Step.Counter()
      try world.merge(
        ListInput([]), transform: TreeTransform(Step(schemaVersion: 2, asked: asked), .everything))
      world.setModel(world.model.compactMapValues(Step.change))
      try world.verify(every: 3)
      #expect(asked.count == Int(count))
      #expect(try world.tree().lowestVersion == (count == 0 ? nil : world.model.isEmpty ? nil : 2))
      let root = world.root
      try world.merge(
        ListInput([]), transform: TreeTransform(Step(schemaVersion: 2, asked: asked), .everything))
      #expect(world.root == root, "what has the version is adopted untouched")
      #expect(asked.count == Int(count))
    }
  }

  @Test func `operations of older versions are transformed, newer ones are not`() throws {
    var world = World(on: InMemoryFileSystem(), sizes: tinyNodes)
    try world.merge(Self.changes(0..<50))
    let asked = Step.Counter()
    let key: (UInt8) -> Bytes = { [0, 0, 0, $0] }
    let input = ListInput([
      .init(key: key(10), value: [4], version: 1), .init(key: key(11), value: [4], version: 2),
      .init(key: key(12), value: [4], version: 3), .init(key: key(13), value: [5], version: 1),
      .init(key: key(14), value: nil, version: 1),
    ])
    try world.merge(
      input, transform: TreeTransform(Step(schemaVersion: 2, asked: asked), .everything))
    var model = world.model.compactMapValues(Step.change)
    model[key(10)] = [4, 4]
    model[key(11)] = [4]
    model[key(12)] = [4]
    model[key(13)] = nil
    model[key(14)] = nil
    world.setModel(model)
    try world.verify()
    #expect(asked.count == 47)
  }

  @Test func `a migration leaves no crumbs of rows written in both versions`() throws {
    var world = World(on: InMemoryFileSystem())
    try world.merge(Self.changes(0..<6_000, length: 30))
    for number in stride(from: 10, to: 6_000, by: 100) as StrideTo<UInt64> {
      try world.merge(Self.changes(number..<number + 1, length: 30), version: 2)
      if number > 1_500 { break }
    }
    let before = TreeCheck.run(try world.tree())
    #expect(before.leafFill < 0.7)
    try world.merge(
      ListInput([]), transform: TreeTransform(Step(schemaVersion: 2, asked: .init()), .everything))
    let after = TreeCheck.run(try world.tree())
    #expect(after.faults.isEmpty)
    #expect(after.leafFill > 0.7)
  }

  @Test func `migrations among random writes of both versions stay right and full`() {
    replaying(0..<UInt64(scaled(150, debug: 15))) { seed in
      var random = SplitMix64(seed: seed)
      var world = World(on: InMemoryFileSystem(), sizes: tinyNodes)
      for version in 1...6 as ClosedRange<UInt32> {
        for _ in 0..<2 {
          let start = random.next() % 300
          var changes = Self.changes(start..<start + random.next() % 60)
          for key in changes.keys where random.next() % 3 == 0 { changes[key] = .some(nil) }
          try world.merge(changes, version: version)
          try world.verifyPages(of: world.tree(), SortedModel(world.model))
        }
        if version % 2 == 1 { continue }
        let old = SortedModel(world.model).keys
        var model = world.model
        for key in old {
          let entry = try world.tree().entry(for: key.rawSpan)
          if let entry, entry.schemaVersion < version {
            model[key] = model[key].flatMap(Step.change)
          }
        }
        try world.merge(
          ListInput([]),
          transform: TreeTransform(Step(schemaVersion: version, asked: .init()), .everything))
        world.setModel(model)
        try world.verify(every: 9)
      }
    }
  }
}
