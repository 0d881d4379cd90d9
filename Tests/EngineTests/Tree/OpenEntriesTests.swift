import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// What the builder holds in memory does not grow with the tree.
@Suite struct OpenEntriesTests {
  @Test(arguments: [1, 8, 40, 200])
  func `open entries weigh little more than two nodes`(keyLength: Int) throws {
    for isBranch in [false, true] {
      var open = OpenEntries(isBranch: isBranch, capacity: 8192)
      var random = SplitMix64(seed: UInt64(keyLength))
      var heaviest = 0
      for number in 0..<scaled(20_000, debug: 3_000) {
        let key =
          Bytes(repeating: 0, count: keyLength) + [UInt8(number >> 8 & 0xff), UInt8(number & 0xff)]
        let length = isBranch ? 32 : Int.random(in: 0...2_000, using: &random)
        open.append(key.rawSpan, Bytes(repeating: 1, count: length).rawSpan)
        heaviest = max(heaviest, open.weight)
        while open.mayBeTwoNodes, let node = open.fullNode() {
          #expect(node.measure.size <= 8192)
          open.removeFirst(node.entries.upperBound)
        }
      }
      // A node's worth of weight behind what fits one: as much again, an eighth until it is measured,
      // and what the node's keys share.
      let shared = 8192 / 10 * keyLength
      #expect(heaviest <= 2 * 8192 + 8192 / 8 + 2_100 + keyLength + shared)
      #expect(open.weight == (0..<open.count).reduce(0) { $0 + open.weight($1) })
    }
  }
}
