/// The use of the page segments of a state, from its footer and the sizes of their files: bytes that interrupted
/// writers left after a published end are garbage too.
struct SpaceUsage: Equatable, Sendable {
  /// Ascending by number.
  let segments: [SegmentUsage]
  /// The bytes of both copies of the footer.
  let footerBytes: UInt64

  /// - Parameter segments: Ascending by number.
  init(_ segments: [SegmentUsage], footerBytes: UInt64 = 0) {
    self.segments = segments
    self.footerBytes = footerBytes
  }

  /// - Parameter droppingKept: True if states that are kept count as gone.
  /// - Complexity: O(segments), with a call for each; no page is read but the footers of kept states, and branches of pending work that this
  ///   version does not know.
  /// - Throws: `.corrupt`, `.io`.
  init(
    of file: PageFile, droppingKept: Bool = false
  ) throws(StoreError) {
    var kept = try file.segmentNumbers(of: file.footer.pendingWork)
    if !droppingKept {
      for state in file.footer.keptStates {
        kept.formUnion(try file.segmentNumbers(of: state.footer))
      }
    }
    footerBytes = UInt64(2 * Int(file.reference.blocks) * Layout.blockSize)
    segments = try file.segmentsOnDisk().map {
      SegmentUsage(
        number: $0.number, blocks: $0.end, liveBytes: $0.liveBytes, isKept: kept.contains($0.number)
      )
    }
  }

  /// The bytes of all segments.
  var size: UInt64 { segments.reduce(0) { $0 + $1.size } }
  /// The bytes that the present state reaches.
  var liveBytes: UInt64 { segments.reduce(0) { $0 + $1.liveBytes } }
  /// The bytes that nothing reaches, if they can be released.
  var garbage: UInt64 { segments.reduce(0) { $0 + ($1.isKept ? 0 : $1.garbage) } }
  /// The bytes that the present state does not reach, in segments that kept states are in.
  var keptBytes: UInt64 { segments.reduce(0) { $0 + ($1.isKept ? $1.garbage : 0) } }
  /// From 0 to 1.
  var garbageShare: Double { size > 0 ? Double(garbage) / Double(size) : 0 }
  /// Above all numbers.
  var nextNumber: UInt32 { (segments.last?.number ?? 0) &+ 1 }
}

extension PageFile {
  /// The page segments of the state, ascending by number, each as far as its file goes. After the published end there
  /// are footers, pages that a writer is appending, and remains of interrupted writers.
  ///
  /// - Complexity: O(segments), with a call for each.
  /// - Throws: `.io`.
  func segmentsOnDisk() throws(StoreError) -> [SegmentExtent] {
    // After the last page there is the footer itself.
    let (own, end) = (reference.position.segment, UInt64(reference.endBlock))
    var segments: [SegmentExtent] = []
    for var extent in footer.segments where extent.kind == .pages {
      if extent.number == own { extent.end = max(extent.end, end) }
      let size = try pages.segments.entry(extent.number)?.segment.file.size(at: .segmentOpen) ?? 0
      // However long a file is that another program made.
      let blocks = min(size / Layout.blockSize, Layout.segmentBlocksMax)
      extent.end = max(extent.end, UInt64(blocks))
      segments.append(extent)
    }
    if !segments.contains(where: { $0.number == own }) {
      segments.append(SegmentExtent(kind: .pages, number: own, end: end, liveBytes: 0))
    }
    return segments.sortedRarely { $0.number < $1.number }
  }
}

/// The use of one page segment.
struct SegmentUsage: Equatable, Sendable {
  let number: UInt32
  let size: UInt64
  let liveBytes: UInt64
  /// True if a kept state or pending work is in it, so that it stays whatever is moved out of it.
  let isKept: Bool

  /// - Parameter blocks: More than a segment has count as those, whatever a footer says.
  init(number: UInt32, blocks: UInt64, liveBytes: UInt64, isKept: Bool) {
    self.number = number
    size = min(blocks, UInt64(Layout.segmentBlocksMax)) * UInt64(Layout.blockSize)
    self.liveBytes = min(liveBytes, size)
    self.isKept = isKept
  }

  /// The header counts, and old footers, as nothing reaches them.
  var garbage: UInt64 { size - liveBytes }
  /// From 0 to 1.
  var liveShare: Double { size > 0 ? Double(liveBytes) / Double(size) : 0 }
}
