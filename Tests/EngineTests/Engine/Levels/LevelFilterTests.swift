import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// The filters that spare look-ups in levels.
@Suite struct LevelFilterTests {
  private static let entries: [Bytes: Bytes] = [[1]: [1], [2]: [2], [3]: [3]]
  private static let parts: [LevelPart: [Bytes]] = [
    .added: [[9]], .replaced: [[1]], .removed: [[2]],
  ]
  private static let read: [(key: Bytes, value: Bytes?)] = [
    ([1], [1]), ([2], nil), ([3], [3]), ([9], [1]), ([7], nil),
  ]

  private func words(knowing keys: [Bytes]) -> Bytes {
    let filter = KeyFilter(wordCount: 64)
    for key in keys { filter.insert(TreeFilter.hash(key.rawSpan)) }
    return filter.bytes
  }

  private func verify(_ world: LayeredWorld) throws {
    for (key, expected) in Self.read {
      var value: Bytes = []
      let isThere = try world.tree.copyValue(for: key.rawSpan, to: &value)
      #expect(isThere == (expected != nil) && (expected ?? value) == value, "\(key)")
    }
  }

  private func many(_ number: Int) -> Bytes {
    var key: Bytes = []
    key.append(integer: UInt64(number).byteSwapped)
    return key
  }

  @Test func `a level knows all of its keys, and few others, whatever was folded into it`() throws {
    let count = scaled(20_000, debug: 2_000)
    let entries = (0..<count).map { (many(3 * $0), Bytes([1])) }
    var world = try LayeredWorld(
      Dictionary(uniqueKeysWithValues: entries), sizes: .standard)
    for round in 0..<3 {
      // New ones, replaced ones and removed ones.
      try world.add(
        stride(from: round, to: count, by: 40).flatMap { number -> [LayeredWorld.Change] in
          [.put(many(3 * number + 1), [2]), .put(many(3 * number), [3])]
            + (round == 2 ? [.remove(many(3 * (number + 9)))] : [])
        })
      let middle = KeyInterval(start: many(count), end: many(2 * count))
      try world.fold(
        into: .level(
          merging: round == 1 ? LevelMerge(interval: middle, hasOwnSegments: false) : nil))
      let level = try #require(world.base.level(LayeredWorld.slot))
      #expect(level.roots.filter?.reference.count == 1)
      for part in LevelPart.allCases {
        var cursor = Cursor(level[part])
        var isOn = try cursor.first()
        while isOn {
          let isKnown = level.mayChange(cursor.key)
          #expect(isKnown)
          isOn = try cursor.next()
        }
      }
      let others = (0..<count).count { level.mayChange(many(3 * $0 + 2).rawSpan) }
      #expect(others < count / 20, "\(others) of \(count)")
    }
  }

  @Test func `a filter that is not there, of another length or damaged is passed over`() throws {
    for filter in [nil, [], [1], Bytes(repeating: 0, count: 65 * 8)] as [Bytes?] {
      let world = try LayeredWorld(Self.entries, parts: Self.parts, filter: filter)
      try verify(world)
      #expect(world.base.file.check() == [])
    }
    let keys = Self.parts.values.flatMap(\.self)
    let world = try LayeredWorld(Self.entries, parts: Self.parts, filter: words(knowing: keys))
    try verify(world)
    let root = try #require(world.base.level(LayeredWorld.slot)?.roots.filter)
    let medium = world.world.medium
    let file = try medium.open(.pages(root.reference.position.segment), .readWrite, at: .test)
    let place = Int(root.reference.position.block) * Layout.blockSize + 100
    var byte = try file.read(place..<place + 1)
    byte[0] ^= 1
    try file.write(byte, from: place)
    let base = try Base(
      PageFile(opening: world.base.file.reference, in: medium, reading: .mapped), names: TreeNames()
    )
    let level = try #require(base.level(LayeredWorld.slot))
    for key in [[1], [7]] as [Bytes] {
      let mayChange = level.mayChange(key.rawSpan)
      #expect(mayChange)
    }
    #expect(!base.file.check().isEmpty)
  }

  @Test func `a check finds a filter that lacks a key`() throws {
    let keys = Self.parts.values.flatMap(\.self)
    let cases =
      [(keys, true), (keys + [[5]], true)]
      + keys.map { key in (keys.filter { $0 != key }, false) }
    for (known, isWhole) in cases {
      let world = try LayeredWorld(Self.entries, parts: Self.parts, filter: words(knowing: known))
      let faults = world.base.file.check()
      #expect(faults.map(\.invariant) == (isWhole ? [] : [.levelKeys]), "\(known)")
    }
  }
}
