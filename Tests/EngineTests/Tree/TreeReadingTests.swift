import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

@Suite struct TreeReadingTests {
  /// Memory mapped; and a cache with room for three small nodes or one large one.
  static let modes: [ReadMode] = [.mapped, .buffered(cacheSize: 3 * 4096)]

  @Test(arguments: modes)
  func `a tree of tiny nodes of every small size agrees with a dictionary`(
    mode: ReadMode
  ) throws {
    for count in 0...scaled(300, debug: 80) {
      try verify(count, tinyNodes, mode, keyLength: 8, valueLength: 5)
    }
  }

  @Test(arguments: modes)
  func `a tree of standard nodes of every small size agrees with a dictionary`(
    mode: ReadMode
  ) throws {
    for count in stride(from: 0, through: 300, by: scaled(1, debug: 23)) {
      try verify(count, .standard, mode, keyLength: 12, valueLength: 100)
    }
  }

  @Test(arguments: modes)
  func `a tree of some thousand entries agrees with a dictionary`(mode: ReadMode) throws {
    for (sizes, length) in [(tinyNodes, 9), (.standard, 30)] {
      var world = TreeWorld(on: InMemoryFileSystem(), sizes: sizes, reading: mode)
      var random = SplitMix64(seed: 7)
      var changes: [Bytes: Bytes?] = [:]
      for _ in 0..<scaled(4_000, debug: 1_500) {
        changes[Self.randomKey(&random, length)] = Self.randomKey(&random, length * 2)
      }
      try world.merge(changes)
      try world.verify(every: scaled(3, debug: 11))
      try verifyRanges(world, &random)
    }
  }

  @Test(arguments: modes)
  func `a cursor goes wherever it is sent`(mode: ReadMode) throws {
    var world = TreeWorld(on: InMemoryFileSystem(), sizes: tinyNodes, reading: mode)
    var changes: [Bytes: Bytes?] = [:]
    for number in 0..<500 as Range<UInt64> { changes[key(number * 3, length: 6)] = [] }
    try world.merge(changes)
    let tree = try world.tree()
    let keys = SortedModel(world.model).keys
    replaying(0..<8) { seed in
      var random = SplitMix64(seed: seed)
      var cursor = Cursor(tree)
      var place: Int?
      for _ in 0..<400 {
        switch Int.random(in: 0..<12, using: &random) {
        case 0: place = try cursor.first() ? 0 : nil
        case 1: place = try cursor.last() ? keys.count - 1 : nil
        case 2:
          let offset = Int.random(in: -1...keys.count, using: &random)
          let isOn = try cursor.seek(toOffset: offset)
          try agree(isOn == keys.indices.contains(offset), "offset \(offset): \(isOn)")
          place = isOn ? offset : nil
        case 3:
          let sought = key(UInt64.random(in: 0..<1_600, using: &random), length: 6)
          let slot = keys.lowerBound(of: sought)
          let isOn = try cursor.seek(to: sought.rawSpan)
          try agree(isOn == (slot < keys.count), "sought \(sought): \(isOn)")
          place = isOn ? slot : nil
        case 4..<8:
          place = place.map { $0 + 1 }
          let isOn = try cursor.next()
          try agree(isOn == (place.map(keys.indices.contains) ?? false), "next: \(isOn)")
          if !isOn { place = nil }
        default:
          place = place.map { $0 - 1 }
          let isOn = try cursor.previous()
          try agree(isOn == (place.map(keys.indices.contains) ?? false), "previous: \(isOn)")
          if !isOn { place = nil }
        }
        try agree(cursor.isOnEntry == (place != nil), "on an entry: \(cursor.isOnEntry)")
        if let place { try agree(cursor.key.array() == keys[place], "at \(place)") }
      }
    }
  }

  private func verify(
    _ count: Int, _ sizes: NodeSizes, _ mode: ReadMode, keyLength: Int, valueLength: Int
  ) throws {
    var world = TreeWorld(on: InMemoryFileSystem(), sizes: sizes, reading: mode)
    var random = SplitMix64(seed: UInt64(count))
    var changes: [Bytes: Bytes?] = [:]
    while changes.count < count {
      changes[Self.randomKey(&random, keyLength)] = Self.randomKey(&random, valueLength)
    }
    try world.merge(changes)
    do {
      try world.verify(every: count > 40 ? 3 : 1)
    } catch {
      Issue.record("\(count) entries: \(error)")
    }
  }

  private func verifyRanges(
    _ world: TreeWorld, _ random: inout SplitMix64
  ) throws {
    let keys = SortedModel(world.model).keys
    let tree = try world.tree()
    for _ in 0..<300 {
      let low = Self.randomKey(&random, 4)
      let high = Self.randomKey(&random, 4)
      let expected = max(0, keys.lowerBound(of: high) - keys.lowerBound(of: low))
      let count = try tree.count(from: low, upTo: high)
      try agree(count == expected, "\(count) from \(low) up to \(high), not \(expected)")
    }
    let all = try tree.count(from: nil, upTo: nil)
    try agree(all == keys.count, "\(all) without bounds")
  }

  private static func randomKey(_ random: inout SplitMix64, _ lengthMax: Int) -> Bytes {
    let length = Int.random(in: 0...lengthMax, using: &random)
    return (0..<length).map { _ in
      UInt8.random(in: 0...255, using: &random) & (length % 3 == 0 ? 0x83 : 0xff)
    }
  }
}
