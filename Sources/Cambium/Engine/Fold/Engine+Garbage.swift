// What folds do so that little garbage stays: nothing in a segment is given back before all of it is garbage.

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
    // What is folded may be new: the rest of what is written replaces something.
    let written = overlayScale.written(byFolding: byteCount)
    let replaced = min(UInt64(clamping: written - byteCount), end / 2)
    if (live ?? 0) < end / 2 + replaced { appender = appender.successor() }
  }

  /// What the fold of an overlay may take over as it is: where little is alive in a segment, the fold moves those of its leaves that it
  /// comes by, so that the segment dies without a compaction. It moves a quarter of what it writes at most. With the lock.
  ///
  /// - Parameter byteCount: The bytes of the overlay. One that is far from full is folded for another reason than its size, by someone
  ///   who waits.
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
