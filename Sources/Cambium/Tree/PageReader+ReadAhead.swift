extension PageReader {
  /// Asks the medium to read children of a branch ahead that were not verified yet; those that lie one behind the
  /// other at once.
  func willNeed(_ children: Range<Int>, of node: borrowing Node) {
    var segment: UInt32 = 0
    var blocks: Range<UInt32> = 0..<0
    for index in children {
      let child = node.child(index)
      guard isUntouched(child) else { continue }
      let position = child.position
      if position.segment == segment, position.block == blocks.upperBound {
        blocks = blocks.lowerBound..<child.endBlock
        continue
      }
      if !blocks.isEmpty { willNeed(blocks, of: segment) }
      (segment, blocks) = (position.segment, position.block..<child.endBlock)
    }
    if !blocks.isEmpty { willNeed(blocks, of: segment) }
  }
}
