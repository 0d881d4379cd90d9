import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Every node of a small world, and every lookup in it.
@Suite struct SmallNodeTests {
  @Test func `every set of up to three short keys answers every lookup`() throws {
    let world = strings(over: [0, 1, 255], upTo: 3)
    for first in world.indices {
      try verify([world[first]], world)
      for second in (first + 1)..<world.count {
        try verify([world[first], world[second]], world)
        for third in (second + 1)..<world.count {
          try verify([world[first], world[second], world[third]], world)
        }
      }
    }
  }

  @Test func `every set of four shorter keys answers every lookup`() throws {
    let world = strings(over: [0, 1, 255], upTo: 2)
    for mask in 1..<(1 << world.count) where mask.nonzeroBitCount == 4 {
      try verify(world.indices.filter { mask & (1 << $0) != 0 }.map { world[$0] }, world)
    }
  }

  @Test(arguments: [7, 8, 9])
  func `every set of short endings behind one head answers every lookup`(headLength: Int) throws {
    let head = Bytes(repeating: 0x2a, count: headLength)
    let endings = strings(over: [0, 255], upTo: 2)
    let world = endings + endings.map { head + $0 }
    for mask in 1..<(1 << endings.count) {
      let keys = endings.indices.filter { mask & (1 << $0) != 0 }.map { head + endings[$0] }
      try verify(keys, world)
      try verify([[]] + keys, world)
      try verify(keys + [[0xff]], world)
    }
  }

  private func verify(_ keys: [Bytes], _ world: [Bytes]) throws {
    let node = BuiltNode(
      keys.map { .init(key: $0, value: Bytes(repeating: 1, count: $0.count & 1)) })
    try node.verify()
    for sought in world { try node.verify(lookupOf: sought, among: keys) }
  }
}
