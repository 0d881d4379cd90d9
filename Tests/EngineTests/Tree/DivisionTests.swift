import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// How open entries are divided over nodes: each fits, and none is under a third full.
@Suite struct DivisionTests {
  @Test func `two halves beside an entry of the largest weight are a third full`() throws {
    // Together a little more than a leaf; either of the outer ones alone is nearly a third.
    try verify(weights: [2_716, 2_730, 2_716], sizes: .standard)
  }

  @Test func `three nodes beside heavy entries are a third full`() throws {
    // 0.85 of a leaf, then one that fits only but for the header: in three even parts the middle
    // one would get two heavy entries too few.
    let small = Array(repeating: 41, count: 90)
    for extra in 0..<22 {
      let weights = small + [2_715, 580, 1_755, 2_725] + small.dropLast() + [extra + 41]
      try verify(weights: weights, sizes: .standard)
    }
  }

  @Test func `an outlier does not scatter keys that begin alike`() throws {
    let prefix = Bytes(repeating: 0x61, count: 1_000)
    var open = OpenEntries(isBranch: false, capacity: 8192)
    for index in 0..<300 {
      open.append((prefix + [UInt8(index >> 8), UInt8(index & 0xff)]).rawSpan, [1].rawSpan)
    }
    open.append([0x62].rawSpan, [1].rawSpan)
    #expect(open.evenParts().count == 2)
  }

  @Test func `random entries of every weight are divided well`() {
    replaying(0..<UInt64(scaled(3_000, debug: 150))) { seed in
      var random = SplitMix64(seed: seed)
      for sizes in [tinyNodes, .standard] {
        let heaviest = sizes.inlineWeightMax
        let lightest = max(14, heaviest / [2, 8, 200][Int.random(in: 0...2, using: &random)])
        let count = sizes.leaf * Int.random(in: 1...4, using: &random) / lightest
        let isHeavy = Int.random(in: 1...8, using: &random)
        try verify(
          weights: (0..<min(count, 600)).map { index in
            let isLight = index % isHeavy != 0
            return Int.random(in: isLight ? 14...lightest : lightest...heaviest, using: &random)
          }, sizes: sizes)
      }
    }
  }

  /// Feeds entries as the builder does, and looks at every node that comes of them.
  private func verify(weights: [Int], sizes: NodeSizes) throws {
    var open = OpenEntries(isBranch: false, capacity: sizes.leaf)
    for (index, weight) in weights.enumerated() {
      // Lengths vary so that nothing of the node's widths is saved.
      let key =
        [UInt8(index >> 8), UInt8(index & 0xff)] + Bytes(repeating: 9, count: index % 3 * 4)
      let valueLength = max(0, weight - OpenEntries.weight(keyLength: key.count, valueLength: 0))
      open.append(key.rawSpan, Bytes(repeating: 1, count: valueLength).rawSpan)
      while open.mayBeTwoNodes, let node = open.fullNode() {
        try verify(node.entries, of: open, sizes)
        try agree(
          node.measure.size == NodeMeasure(open, node.entries).size, "\(node) is measured otherwise"
        )
        open.removeFirst(node.entries.upperBound)
      }
    }
    let parts = open.evenParts()
    try agree(parts.first?.lowerBound == 0 && parts.last?.upperBound == open.count, "\(parts)")
    for (part, next) in zip(parts, parts.dropFirst()) {
      try agree(part.upperBound == next.lowerBound, "\(parts)")
    }
    if parts.count == 1 { return }
    for part in parts { try verify(part, of: open, sizes) }
  }

  private func verify(_ part: Range<Int>, of open: OpenEntries, _ sizes: NodeSizes) throws {
    let size = NodeMeasure(open, part).size
    try agree(size <= sizes.leaf, "\(part) takes \(size) bytes")
    let weight = part.reduce(Node.headerSize) { $0 + open.weight($1) }
    try agree(weight >= sizes.leaf / 3, "\(part) of \(open.count) weighs \(weight) with its header")
  }
}
