// A footer has numbers by which work is planned, and nothing else: how much of each segment is live, and where a
// compaction goes on. Wrong ones refuse nothing; opening a store for writing corrects what it sees of them.

extension Engine {
  /// Publishes the base again if its footer says of segments or of a compaction what is not so.
  ///
  /// What is wrong stays where it cannot be corrected now, for want of space or because pages are damaged: the next
  /// fold says it anew.
  ///
  /// - Complexity: O(trees + segments); O(branches) if trees share pages, or a number is wrong.
  func correctPlanning() {
    guard let base = try? takeTurnForPlanning() else { return }
    defer { giveFoldTurn() }
    do throws(StoreError) {
      guard let footer = try base.corrected() else { return }
      let publishing = FooterPublishing(base: base, present: base, appender: appender)
      let published = try publishing.publish(footer)
      try makeTrue(published) { $0.move(to: $1) }
    } catch {
      abandonAppended()
    }
  }

  /// - Throws: `.closed`, `.poisoned`, `.forked`.
  private func takeTurnForPlanning() throws(StoreError) -> PageFile {
    try takeFoldTurnToCompact()
    return working.base.file
  }
}

extension PageFile {
  /// The footer without a place of a compaction that cannot be read; nil if that is readable and the live bytes of all
  /// segments are right, so that there is nothing to publish.
  ///
  /// - Throws: `.corrupt`, `.io`.
  fileprivate func corrected() throws(StoreError) -> Footer? {
    var footer = footer
    do throws(StoreError) {
      _ = try CompactionPlace(in: footer, at: reference.position)
    } catch {
      try footer.setCompaction(nil)
      return footer
    }
    if footer.hasLikelyLiveBytes { return nil }
    let live = try pages.liveBytes(of: footer.trees)
    let isRight = footer.segments.allSatisfy {
      $0.kind != .pages || $0.liveBytes == live[$0.number] ?? 0
    }
    return isRight ? nil : footer
  }
}

extension Footer {
  /// True if the live bytes of segments are together those of the trees, as they are unless trees share pages.
  fileprivate var hasLikelyLiveBytes: Bool {
    // The trees' are bounded; the segments' are any numbers.
    var rest = trees.reduce(0) { $0 + ($1.root?.reference.liveBytes ?? 0) }
    for extent in segments where extent.kind == .pages {
      guard extent.liveBytes <= rest else { return false }
      rest -= extent.liveBytes
    }
    return rest == 0
  }
}
