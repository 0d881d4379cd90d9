/// What a footer published, which is not true yet.
struct PublishedFooter {
  let file: PageFile
  /// Page segments that the footer does not name: of the base, or new ones in which nothing is left.
  let released: [UInt32]
  /// The pages that came with it.
  let appended: [AppendedBlocks]
  /// The pages of `appended` that were not loaded.
  let merged: [AppendedBlocks]
}

/// The way of new trees to a footer on the medium: what was appended is synced, segments are counted, and the
/// footer is written. Nothing of it is true until a reference to the footer is on the medium.
struct FooterPublishing {
  /// The state that the footer follows.
  let base: PageFile
  /// What a state that is kept from now on is; mostly the base.
  let present: PageFile
  let appender: PageAppender

  /// Publishes a footer; its segment table, the footer before it, the log's use, the epoch and the next segment are
  /// filled in here.
  ///
  /// - Throws: `.corrupt` if the base is damaged, `.limitExceeded`, `.full`, `.io`.
  func publish(_ trees: Footer) throws(StoreError) -> PublishedFooter {
    // The table says how far segments go, so all pages must be placed before it is made.
    try appender.sync()
    var footer = trees
    footer.previous = base.reference
    footer.logUse = appender.logUse
    footer.epoch = base.footer.epoch
    footer.nextSegment = UInt32(clamping: appender.numbers.upcoming)
    footer.segments = try segments(of: footer)
    let (appended, merged) = (appender.extents, appender.ownExtents)
    let reference = try appender.publish(footer)
    let file = try PageFile(after: base, reference, footer)
    return PublishedFooter(
      file: file, released: released(by: file, of: appended), appended: appended, merged: merged)
  }

  /// The segment table: of each segment how far it goes and what is live in it. Page segments without
  /// anything live are left out, unless a kept state or pending work needs them.
  ///
  /// - Complexity: O(segments); O(branches) if a segment is left out, or the changes do not give the live bytes.
  private func segments(of footer: Footer) throws(StoreError) -> [SegmentExtent] {
    var placed = footer
    placed.segments = placedSegments(of: footer)
    let file = try PageFile(after: base, base.reference, placed)
    let kept = try file.segmentNumbers(of: footer.pendingWork)
      .union(keptSegmentNumbers(of: footer))
    if let live = liveBytesFromChanges(of: footer) {
      placed.setLiveBytes(live)
      // The numbers of the base are for planning alone: no segment is given up because of them.
      let isNeeded = placed.segments.allSatisfy { $0.liveBytes > 0 || kept.contains($0.number) }
      if isNeeded, placed.hasLikelyLiveBytes {
        return placed.segments + footer.segments.filter { $0.kind != .pages }
      }
    }
    placed.setLiveBytes(try file.pages.liveBytes(of: footer.trees))
    return placed.segments.filter { $0.liveBytes > 0 || kept.contains($0.number) }
      + footer.segments.filter { $0.kind != .pages }
  }

  /// All page segments that the footer may name, each as far as it goes.
  private func placedSegments(of footer: Footer) -> [SegmentExtent] {
    var ends: [UInt32: UInt64] = [:]
    for extent in present.footer.segments where extent.kind == .pages {
      ends[extent.number] = extent.end
    }
    for extent in footer.segments where extent.kind == .pages {
      ends[extent.number] = max(ends[extent.number] ?? 0, extent.end)
    }
    for extent in appender.extents { ends[extent.number] = UInt64(extent.blocks.upperBound) }
    for state in footer.keptStates {
      let (segment, end) = (state.footer.position.segment, UInt64(state.footer.endBlock))
      ends[segment] = max(ends[segment] ?? 0, end)
    }
    return ends.sortedRarely { $0.key < $1.key }.map {
      SegmentExtent(kind: .pages, number: $0.key, end: $0.value, liveBytes: 0)
    }
  }

  private func keptSegmentNumbers(of footer: Footer) throws(StoreError) -> Set<UInt32> {
    var kept: Set<UInt32> = []
    for state in footer.keptStates {
      kept.formUnion(
        state.footer == present.reference
          ? present.segmentNumbers : try base.segmentNumbers(of: state.footer))
    }
    return kept
  }

  /// The live bytes of each page segment: those of the base without the replaced pages, and those of the appended pages. Only
  /// pages of trees that are gone are read.
  ///
  /// - Returns: nil if they cannot be known: a page that several trees share may be replaced in one of them only.
  private func liveBytesFromChanges(of footer: Footer) -> [UInt32: UInt64]? {
    let replaced = appender.replaced
    guard replaced.isComplete, base.footer.hasLikelyLiveBytes,
      let gone = liveBytes(of: replaced.trees, besides: footer)
    else { return nil }
    var live: [UInt32: UInt64] = [:]
    for extent in base.footer.segments where extent.kind == .pages {
      live[extent.number] = extent.liveBytes
    }
    for extent in appender.extents {
      live[extent.number, default: 0] &+= UInt64(extent.blocks.count * Layout.blockSize)
    }
    for (number, bytes) in Array(replaced.bytes) + Array(gone) {
      guard let present = live[number], present >= bytes else { return nil }
      live[number] = present - bytes
    }
    return live
  }

  /// Counts the pages of trees that are gone.
  ///
  /// - Returns: nil if they cannot be read, or are more than those that are left.
  private func liveBytes(of gone: [TreeRoot], besides footer: Footer) -> [UInt32: UInt64]? {
    if gone.isEmpty { return [:] }
    var replaced = base.footer
    replaced.trees = gone.map { NamedTree(name: "", root: $0) }
    guard replaced.liveBytes <= footer.liveBytes else { return nil }
    return try? base.pages.liveBytes(of: replaced.trees)
  }

  /// The page segments that only states before `file` need, and those of `appended` that none does: what was loaded may
  /// have been replaced by the same commit.
  private func released(by file: PageFile, of appended: [AppendedBlocks]) -> [UInt32] {
    base.segmentNumbers.union(appended.map(\.number)).subtracting(file.segmentNumbers)
      .sortedRarely()
  }
}

extension PageFile {
  /// The most that is read ahead, since larger folds may not fit into memory. With the largest overlays, a fold of random keys writes nearly
  /// 1 GiB.
  private static let readAheadMax = min(max(256 << 20, MachineMemory.size / 8), 1 << 30)

  /// Asks for pages that went past the page cache, which are about to be read.
  ///
  /// - Returns: whether they were not too many, and are read by way of the page cache at all.
  @discardableResult
  func readAhead(_ appended: [AppendedBlocks]) -> Bool {
    let size = appended.reduce(0) { $0 + $1.blocks.count * Layout.blockSize }
    guard pages.cache == nil, size <= Self.readAheadMax else { return false }
    for extent in appended {
      pages.willNeed(extent.blocks, of: extent.number)
    }
    return true
  }

  /// The page segments that this state or one that it keeps is in.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func segmentNumbers(of state: FooterReference) throws(StoreError) -> Set<UInt32> {
    if state == reference { return segmentNumbers }
    let footer = try Self.footer(state, from: pages).0
    return Set(footer.segments.lazy.filter { $0.kind == .pages }.map(\.number))
      .union([state.position.segment])
  }

  /// The page segments that the trees of pending work are in. No work that this version knows has any.
  ///
  /// - Complexity: O(branches) of these trees.
  /// - Throws: `.corrupt`, `.io`.
  func segmentNumbers(of works: [PendingWork]) throws(StoreError) -> Set<UInt32> {
    Set(try pages.liveBytes(of: works.flatMap(\.trees)).keys)
  }

  /// The page segments that the state is in, that of the footer itself included.
  var segmentNumbers: Set<UInt32> {
    Set(footer.segments.lazy.filter { $0.kind == .pages }.map(\.number))
      .union([reference.position.segment])
  }
}
