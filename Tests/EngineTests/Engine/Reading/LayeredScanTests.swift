import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Scans that pass changes here and there in the leaves of a tree, in both directions.
@Suite struct LayeredScanTests {
  /// Keys of several lengths, with and without bytes in common at the beginning; they ascend with their numbers.
  private static let shapes: [@Sendable (UInt8) -> Bytes] = [
    { [$0] },
    { [$0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] },
    { [1, 2, 3, 0, 0, $0, 0, 0, 7] },
    { [1, 2, 3, 4, 5, 6, 7, $0] },
    { [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, $0] },
    // Some agree in the first eight bytes, and some of these in what follows but for the length.
    { [5, 5, 5, 5, 5, 5, 5, $0 / 6] + Bytes(repeating: 0, count: Int($0 % 6)) },
  ]
  /// The keys of the tree have the even numbers.
  private static let count = 30 as UInt8

  /// How many changes follow one another, and of which kind they are.
  private static let runs: [(count: UInt8, kind: UInt8)] = [
    (1, 0), (1, 1), (2, 0), (2, 1), (3, 2), (9, 1), (12, 2),
  ]

  private static func entries(_ shape: (UInt8) -> Bytes) -> [Bytes: Bytes] {
    var entries: [Bytes: Bytes] = [:]
    for number in 0..<count { entries[shape(2 * number + 1)] = [number] }
    return entries
  }

  /// Changes of some keys in a row: puts, removals, or both in turn.
  private static func changes(
    from start: UInt8, count: UInt8, kind: UInt8, _ shape: (UInt8) -> Bytes
  ) -> [LayeredWorld.Change] {
    (start..<start + count).map {
      kind == 0 || kind == 2 && $0 % 4 < 2 ? .put(shape($0), [$0, $0]) : .remove(shape($0))
    }
  }

  @Test(arguments: shapes.indices)
  func `changes in a row anywhere in the leaves of a tree are passed at their places`(
    shape number: Int
  ) throws {
    let shape = Self.shapes[number]
    let world = try LayeredWorld(Self.entries(shape))
    let tree = world.base.tree(LayeredWorld.slot)
    try #require(try #require(tree.root).level > 0)
    var turn = number
    for start in 0...2 * Self.count {
      for (count, kind) in Self.runs {
        turn += 1
        if turn % scaled(1, debug: 7) != 0 { continue }
        do {
          var world = world
          try world.add(Self.changes(from: start, count: count, kind: kind, shape))
          try world.verify(turns: 80, seed: UInt64(turn))
        } catch {
          Issue.record("\(count) of kind \(kind) from \(start) on: \(error)")
          return
        }
      }
    }
  }

  @Test(arguments: shapes.indices)
  func `changes of a level and of an overlay over it are passed at their places`(
    shape number: Int
  ) throws {
    let shape = Self.shapes[number]
    var turn = number
    for start in 0...2 * Self.count {
      for (count, kind) in Self.runs {
        turn += 1
        if turn % scaled(3, debug: 37) != 0 { continue }
        do {
          var world = try LayeredWorld(Self.entries(shape))
          try world.add(Self.changes(from: start, count: count, kind: kind, shape))
          try world.add(Self.changes(from: 2 * Self.count - start, count: 3, kind: 2, shape))
          try world.fold(into: .level(merging: nil))
          try world.fold(into: .level(merging: nil))
          try world.verify(turns: 80, seed: UInt64(turn))
          try world.add(Self.changes(from: start + 1, count: count, kind: 2 - kind, shape))
          try world.verify(turns: 80, seed: UInt64(turn))
        } catch {
          Issue.record("\(count) of kind \(kind) from \(start) on: \(error)")
          return
        }
      }
    }
  }

  @Test func `a key is found in a leaf from whatever slot the search begins`() throws {
    for shape in Self.shapes {
      let world = try LayeredWorld(Self.entries(shape), sizes: .standard)
      var cursor = Cursor(world.base.tree(LayeredWorld.slot))
      for place in 0..<Self.count {
        let isOn = try cursor.seek(to: shape(2 * place + 1).rawSpan)
        try #require(isOn && cursor.slotInLeaf == Int(place))
        #expect(cursor.keyHead == cursor.key.head(0))
      }
      for number in 0...2 * Self.count {
        let key = shape(number)
        let (expected, isThere) = (Int(number / 2), number % 2 == 1)
        for start in -8...Int(Self.count) + 8 {
          let found = cursor.searchLeaf(for: key.rawSpan, near: start)
          #expect(found == SearchResult(slot: expected, isFound: isThere))
          let slot = cursor.slotInLeaf(notBelowKeyHead: key.rawSpan.head(0), near: start)
          #expect(slot == nil || slot == expected && !isThere)
        }
      }
    }
  }
}
