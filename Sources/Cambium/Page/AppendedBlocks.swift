/// The blocks that were appended to one segment.
struct AppendedBlocks: Equatable, Sendable {
  let number: UInt32
  let blocks: Range<UInt32>

  var endBlock: UInt32 { blocks.upperBound }
}

extension Footer {
  /// Publishes the appended blocks: each segment reaches to where that ends. New ones count as holding
  /// nothing that lives, until the caller says otherwise.
  mutating func extend(by appended: [AppendedBlocks]) {
    for added in appended {
      let place =
        segments.firstIndex { $0.kind == .blobs || $0.number >= added.number }
        ?? segments.endIndex
      let end = UInt64(added.endBlock)
      if place < segments.endIndex, segments[place].kind == .pages,
        segments[place].number == added.number
      {
        segments[place].end = end
      } else {
        segments.insert(
          SegmentExtent(kind: .pages, number: added.number, end: end, liveBytes: 0), at: place)
      }
    }
  }
}
