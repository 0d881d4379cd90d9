// A compaction moves live pages out of segments, so that they can be unlinked. It is done in slices, each under the
// fold's turn; commits continue, and folds run between slices. Its place is in the footer, so it continues
// after a crash.

extension Engine {
  /// The use of the page segments.
  ///
  /// - Throws: `.corrupt`, `.io`, `.closed`, `.forked`.
  func spaceUsage(droppingKept: Bool = false) throws(StoreError) -> SpaceUsage {
    try checkProcess()
    return try SpaceUsage(of: try newestBase().file, droppingKept: droppingKept)
  }

  /// True if a pass of a compaction has begun, and not ended.
  private var isCompacting: Bool {
    get throws(StoreError) {
      let work = try newestBase().file.footer.pendingWork
      return work.contains { $0.kind == CompactionPlace.kind }
    }
  }

  private func newestBase() throws(StoreError) -> Base {
    lock.lock()
    defer { lock.unlock() }
    try check(.reading)
    return working.base
  }

  /// Does the next slice of a compaction: of the one that is pending, even if another caller began it, or of a new one.
  ///
  /// Reads return the same before and after.
  ///
  /// - Returns: nil if there is nothing to gain.
  /// - Throws: `.full`, `.corrupt`, also if the pages read back differ from those written, `.limitExceeded`: then the
  ///   slice was not done. `.io` where something cannot be read or opened. A first of writing is not thrown: the slice
  ///   begins again, in another segment. A second in a row is, and poisons. `.poisoned`, `.closed`, `.forked`.
  func compact(_ request: CompactionRequest) throws(StoreError) -> CompactedSlice? {
    try checkProcess()
    // All nodes are to be full, and each entry in one place.
    if request.scope == .whole, try !isCompacting { try mergeLevels() }
    while true {
      try takeFoldTurnToCompact()
      if let slice = try takeSlice(request) { return slice.done }
    }
  }

  /// Does a slice, and releases the fold's turn.
  ///
  /// - Returns: nil if it is to be tried again.
  func takeSlice(_ request: CompactionRequest) throws(StoreError) -> SliceTaken? {
    do throws(StoreError) {
      let done = try runSlice(request)
      giveFoldTurn(retrying: (done?.releasedSegments ?? 0) > 0)
      return SliceTaken(done: done)
    } catch {
      let isOver = abandonFold(error) && !releaseReserve(after: error)
      giveFoldTurn()
      if isOver { throw error }
      return nil
    }
  }

  /// With the fold's turn.
  func runSlice(_ request: CompactionRequest) throws(StoreError) -> CompactedSlice? {
    let base = try newestBase().file
    // If the place cannot be read, the compaction begins from the start.
    let pending = try? CompactionPlace(in: base.footer, at: base.reference.position)
    let first = pending == nil ? try firstPlace(in: base, request) : nil
    guard let place = pending ?? first else { return nil }
    try beginLog()
    // Pages are not moved to the segments that they come from.
    if let end = appender.end, place.segments.contains(end.segment) {
      appender = appender.successor()
    }
    var slice = CompactionSlice(
      of: base, at: place, request, sizes: options.nodeSizes, appendingTo: appender)
    let (published, report) = try slice.run(watchCommits())
    failedFolds = 0
    try makeTrue(published) { $0.move(to: $1) }
    holdReserve(for: published.file)
    return report
  }

  /// Where the next pass begins; nil if there is nothing to gain.
  private func firstPlace(
    in base: PageFile, _ request: CompactionRequest
  ) throws(StoreError) -> CompactionPlace? {
    let usage = try SpaceUsage(of: base)
    let segments = request.segments(of: usage)
    if segments.isEmpty { return nil }
    return CompactionPlace(
      scope: request.scope, below: min(request.below, usage.nextNumber), segments: segments)
  }
}

// MARK: - The turn

extension Engine {
  /// Takes the fold's turn when no fold is under way. A frozen overlay is folded first, unless that cannot be done for
  /// want of space, which a compaction may make.
  func takeFoldTurnToCompact() throws(StoreError) {
    lock.lock()
    defer { lock.unlock() }
    while true {
      try check(.starting)
      if hasFoldTurn {
        progressed.wait()
      } else if fold == nil, working.frozen == nil || foldFailure != nil {
        hasFoldTurn = true
        return
      } else {
        // An error that keeps it from ending is seen above.
        try? waitForFold()
      }
    }
  }

  /// With the fold's turn.
  ///
  /// - Parameter retrying: True if there may be space now that a fold which failed did not have.
  func giveFoldTurn(retrying: Bool = false) {
    lock.lock()
    defer { lock.unlock() }
    hasFoldTurn = false
    if working.frozen != nil {
      if retrying { retryFold() } else { background.wakeFolder() }
    }
    progress()
  }
}

/// The outcome of trying a slice: nil if there is nothing to gain.
struct SliceTaken {
  let done: CompactedSlice?
}

extension StoreState {
  /// Replaces the base by one that holds the same in other pages.
  mutating func move(to base: Base) {
    if self.base.coveredSequence == base.coveredSequence {
      self.base = base
    } else if sequence == base.coveredSequence {
      // No commit came since the fold: the state was left on the trees before, with all of it on top of them.
      self = StoreState(
        sequence: sequence, base: base, frozen: nil, fresh: Overlay(OverlayArena(capacity: 0)),
        unstored: unstored)
    }
  }
}
