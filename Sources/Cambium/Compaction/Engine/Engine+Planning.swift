// A footer has some numbers that are for planning work only: how much of each segment is live, and where a compaction
// resumes. If they are wrong, nothing is refused, and opening the store for writing corrects them.

extension Engine {
  /// Publishes the base again if the live bytes of segments or the place of a compaction in its footer are wrong.
  ///
  /// If they cannot be corrected now, since there is no space or pages are damaged, they stay wrong until the next fold,
  /// which computes them again.
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
    // Those of trees are bounded; those of segments may be any numbers.
    var rest = trees.reduce(0) { $0 + ($1.root?.reference.liveBytes ?? 0) }
    for extent in segments where extent.kind == .pages {
      guard extent.liveBytes <= rest else { return false }
      rest -= extent.liveBytes
    }
    return rest == 0
  }
}
