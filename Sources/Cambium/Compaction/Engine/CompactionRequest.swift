/// The request of a compaction, slice by slice.
struct CompactionRequest: Equatable, Sendable {
  var scope = CompactionScope.whole
  /// Only segments below this one are emptied: the pages that a compaction writes are not its own next work.
  var below = UInt32.max
  /// The share of a segment that must be garbage so that it is emptied, where not all are.
  var leastGarbage = 0.2
  /// The bytes of pages that a slice moves.
  var bytes = 32 << 20

  /// The bytes that one pass may move, if not all segments are emptied: so much
  /// more space is needed than for one.
  static var passBytes: UInt64 { 64 << 20 }
}

extension CompactionRequest {
  /// The segments that the next pass is to empty; none if there is nothing to gain.
  func segments(of usage: SpaceUsage) -> SegmentSet {
    switch scope {
    case .whole:
      SegmentSet(candidates(of: usage).prefix(CompactionPlace.segmentsMax).map(\.number))
    case .segments: emptiest(of: usage)
    }
  }

  /// All segments that are to be emptied, in one pass or several.
  func candidates(of usage: SpaceUsage) -> [SegmentUsage] {
    usage.segments.filter {
      !$0.isKept && $0.number < below
        && (scope == .whole || Double($0.garbage) >= leastGarbage * Double($0.size))
    }
  }

  /// The bytes that emptying the candidates gains: those that nothing reaches in them, less the header of a segment and the
  /// footer of each slice, which come with the moved pages.
  func gain(of usage: SpaceUsage) -> UInt64 {
    let candidates = candidates(of: usage)
    let garbage = candidates.reduce(0) { $0 + $1.garbage }
    let slices = candidates.reduce(0) { $0 + $1.liveBytes } / UInt64(max(bytes, 1)) + 1
    let (footers, isTooMuch) = slices.multipliedReportingOverflow(by: usage.footerBytes)
    let written = UInt64(Layout.blockSize) + (isTooMuch ? 0 : footers)
    return garbage > written ? garbage - written : 0
  }

  /// The segment in which the least share lives, and others as long as little must be moved.
  private func emptiest(of usage: SpaceUsage) -> SegmentSet {
    let candidates = candidates(of: usage).sortedRarely {
      ($0.liveShare, $0.number) < ($1.liveShare, $1.number)
    }
    var chosen: [UInt32] = []
    var liveBytes: UInt64 = 0
    for segment in candidates.prefix(CompactionPlace.segmentsMax) {
      liveBytes += segment.liveBytes
      if !chosen.isEmpty, liveBytes > Self.passBytes { break }
      chosen.append(segment.number)
    }
    return SegmentSet(chosen)
  }
}

/// The result of a slice of a compaction.
struct CompactedSlice: Equatable, Sendable {
  /// Of the pass: another caller may have begun it.
  let scope: CompactionScope
  let below: UInt32
  /// The bytes that were written, with the footer's pages left out.
  let writtenBytes: Int
  /// The entries in the leaves that were written.
  let entries: Int
  /// The bytes of segments that nothing needs any more.
  let releasedBytes: UInt64
  let releasedSegments: Int
  /// True if it was the last of its pass.
  let endsPass: Bool
}
