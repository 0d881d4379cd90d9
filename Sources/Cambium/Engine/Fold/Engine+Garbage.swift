// Folds keep garbage small: a segment is given back only as a whole, when all of it is garbage.

extension Engine {
  /// Leaves the segment that pages are appended to, if most of it is garbage or will be after the next fold: what comes next would
  /// keep the garbage there. With the lock, and the fold's turn or none taken, when nothing is appended that is not published.
  ///
  /// - Parameter byteCount: The bytes of the overlay that is folded next; 0 where a transaction is.
  func leaveSegmentOfGarbage(folding byteCount: Int = 0) {
    let file = working.base.file
    let end = UInt64(file.reference.endBlock) * UInt64(Layout.blockSize)
    guard end >= UInt64(options.leastSegmentOfGarbage) else { return }
    let number = file.reference.position.segment
    let live = file.footer.segments.first { $0.kind == .pages && $0.number == number }?.liveBytes
    // The folded entries may be new; the other bytes that are written replace something.
    let written = overlayScale.written(byFolding: byteCount)
    let replaced = min(UInt64(clamping: written - byteCount), end / 2)
    if (live ?? 0) < end / 2 + replaced { appender = appender.successor() }
  }

  /// The subtrees that the fold of an overlay takes over as they are: all, but for leaves in segments of which little is alive. The fold
  /// moves those that it comes by, so that the segment is given back without a compaction; they are at most a quarter of the bytes
  /// that it writes. With the lock.
  ///
  /// - Parameter byteCount: The bytes of the overlay. One that is far from full was frozen by a caller who waits for the fold, and is
  ///   folded without this.
  func adoption(folding byteCount: Int) -> Adoption {
    let file = working.base.file
    guard byteCount >= foldThreshold / 2, file.footer.keptStates.isEmpty,
      file.footer.pendingWork.allSatisfy(\.trees.isEmpty)
    else { return .all }
    var budget = UInt64(clamping: overlayScale.written(byFolding: byteCount) / 4)
    var emptied: [UInt32] = []
    let own = file.reference.position.segment
    let candidates = file.footer.segments.filter {
      $0.kind == .pages && $0.number < own && $0.isMostlyGarbage
    }
    for segment in candidates.sortedRarely(by: { $0.liveBytes < $1.liveBytes }) {
      guard segment.liveBytes <= budget else { break }
      budget -= segment.liveBytes
      emptied.append(segment.number)
    }
    return emptied.isEmpty ? .all : .passing(SegmentSet(emptied))
  }
}

extension SegmentExtent {
  /// At most a quarter is alive: a byte that is moved gives three back.
  fileprivate var isMostlyGarbage: Bool {
    liveBytes / UInt64(Layout.blockSize) <= end / 4
  }
}
