// A footer has some numbers that are for planning work only: how much of each segment is live, and where a compaction
// resumes. If they are wrong, nothing is refused, and opening the store for writing corrects them.

extension Engine {
  /// Publishes the base again if the live bytes of segments or the place of a compaction in its footer are wrong.
  ///
  /// If they cannot be corrected now, since there is no space or pages are damaged, they stay wrong until the next fold,
  /// which counts again what does not add up. Live bytes that add up, each of them wrong, are counted again by a compaction.
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
    return try liveBytesFaults().isEmpty ? nil : footer
  }
}
