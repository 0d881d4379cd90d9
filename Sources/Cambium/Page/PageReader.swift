/// How pages get from the disk into memory.
public enum ReadMode: Hashable, Sendable {
  /// Segments are mapped: a page already verified costs no call and no copy.
  ///
  /// Each page is read and verified before it is first used. Afterwards a disk that fails, or
  /// another process that truncates the file, can still end this process.
  case mapped
  /// Pages are read into a cache of at most `cacheSize` bytes and verified each time they get
  /// there: for files that are not trusted, and disks that fail.
  case buffered(cacheSize: Int)
}

/// Reads the pages of one published state. Any number of threads may use it at once.
final class PageReader: Sendable {
  let medium: any FileSystem
  let identity: StoreIdentity
  let segments: SegmentTable
  /// Nil if pages are mapped.
  let cache: PageCache?

  init(
    medium: any FileSystem, identity: StoreIdentity, segments: SegmentTable, cache: PageCache?
  ) {
    self.medium = medium
    self.identity = identity
    self.segments = segments
    self.cache = cache
  }

  /// The page that `reference` means, verified.
  ///
  /// `level` is the page's height above the leaves, which the caller knows from where it came; it
  /// falls with every step down, so a descent ends whatever the bytes say. The reference's aggregates
  /// are compared with the page only when that is read from the disk: callers that add them up must compare them.
  ///
  /// - Throws: `.corrupt` if the page differs from the reference, `.newerFormat`, `.io`.
  @inline(__always)
  func page<Content: PageContent>(
    _ reference: PageReference, level: UInt8, as content: Content.Type
  ) throws(StoreError) -> Page {
    if let page = segments.verifiedPage(at: reference.position, blocks: reference.blocks),
      PageHeader(page.bytes).matches(reference, kind: Content.kind, level: level)
    {
      return page
    }
    return try untouchedPage(reference, level: level, as: content)
  }

  /// The page, if this process has not verified it before, or if it is not mapped, or not right.
  @inline(never)
  private func untouchedPage<Content: PageContent>(
    _ reference: PageReference, level: UInt8, as content: Content.Type
  ) throws(StoreError) -> Page {
    let entry = try published(reference)
    guard let mapping = entry.segment.mapping else {
      return try cached(reference, level: level, as: content)
    }
    if !entry.segment.verified.contains(reference.position.block) {
      try verify(reference, level: level, as: content, in: entry.segment)
    }
    let page = mapping.page(at: reference.position.block, size: reference.size)
    guard PageHeader(page.bytes).matches(reference, kind: Content.kind, level: level) else {
      throw Self.mismatch(page, reference, kind: Content.kind, level: level)
    }
    return page
  }

  /// The segment `reference` lies in, if it lies within its published part.
  private func published(_ reference: PageReference) throws(StoreError)
    -> SegmentTable.Entry
  {
    guard let entry = segments.entry(reference.position.segment), reference.blocks > 0,
      reference.position.block > 0,
      UInt64(reference.position.block) + UInt64(reference.blocks) <= UInt64(entry.endBlock)
    else {
      throw .corrupt(
        .page(reference.position), invariant: .pageExists,
        reason: "\(reference.blocks) blocks there are not published")
    }
    return entry
  }

  /// Reads the page past the mapping, so that an error of the disk is an error and not a signal.
  private func verify<Content: PageContent>(
    _ reference: PageReference, level: UInt8, as content: Content.Type,
    in segment: PageSegment
  ) throws(StoreError) {
    _ = try load(reference, level: level, as: content, from: segment)
    segment.verified.insert(reference.position.block)
  }

  private func cached<Content: PageContent>(
    _ reference: PageReference, level: UInt8, as content: Content.Type
  ) throws(StoreError) -> Page {
    guard let cache else { preconditionFailure("a segment without a mapping has a cache") }
    if let buffer = cache[reference.position] {
      let page = Page(buffer)
      guard PageHeader(page.bytes).matches(reference, kind: Content.kind, level: level) else {
        throw Self.mismatch(page, reference, kind: Content.kind, level: level)
      }
      return page
    }
    let buffer = try load(
      reference, level: level, as: content, from: try published(reference).segment)
    cache.insert(buffer, at: reference.position)
    return Page(buffer)
  }

  /// Reads a page from the disk and checks all there is to check about it.
  func load<Content: PageContent>(
    _ reference: PageReference, level: UInt8, as content: Content.Type
  ) throws(StoreError) -> PageBuffer {
    try load(reference, level: level, as: content, from: try published(reference).segment)
  }

  private func load<Content: PageContent>(
    _ reference: PageReference, level: UInt8, as content: Content.Type,
    from segment: PageSegment
  ) throws(StoreError) -> PageBuffer {
    let buffer = try segment.read(
      at: reference.position.block, size: reference.size)
    let checksum = PageChecksum.of(buffer.bytes, at: reference.position, in: identity)
    let header = PageHeader(buffer.bytes)
    guard checksum == reference.checksum, checksum == header.checksum else {
      throw .corrupt(
        .page(reference.position), invariant: .pageChecksum,
        reason: "its bytes hash to \(checksum), the reference says \(reference.checksum)")
    }
    guard header.matches(reference, kind: Content.kind, level: level) else {
      throw Self.mismatch(Page(buffer), reference, kind: Content.kind, level: level)
    }
    try header.checkPlain(at: reference.position, path: medium.path)
    try Content.validate(buffer.bytes, reference, level: level)
    return buffer
  }

  /// Asks the disk to read blocks ahead that are published.
  func willNeed(_ blocks: Range<UInt32>, of segment: UInt32) {
    guard let entry = segments.entry(segment), blocks.upperBound <= entry.endBlock else { return }
    entry.segment.file.willNeed(
      Int(blocks.lowerBound) * Layout.blockSize..<Int(blocks.upperBound) * Layout.blockSize,
      at: .pageAdvise)
  }

  /// True if a page is published, as far as its reference says, and was not verified yet.
  func isUntouched(_ reference: PageReference) -> Bool {
    guard let entry = segments.entry(reference.position.segment) else { return false }
    return reference.endBlock <= entry.endBlock
      && !entry.segment.verified.contains(reference.position.block)
  }

  /// Brings the beginning of a page near, as far as a search of `keys` keys will touch it first.
  ///
  /// The lines come all at once, where a search would ask for one after the other.
  @inline(__always)
  func prefetch(_ reference: PageReference, keys: Int) {
    segments.prefetch(
      reference.position, blocks: reference.blocks, count: 64 &+ 8 &* (keys & 0xffff))
  }

  /// Prefetches the parts of a leaf that tell about where a key is: its header, and the first and last of its heads.
  @inline(__always)
  func prefetchBounds(of reference: PageReference) {
    segments.prefetch(reference.position, blocks: reference.blocks, count: 64)
    let last = 8 &* Int(truncatingIfNeeded: reference.count & 0xffff)
    segments.prefetch(reference.position, blocks: reference.blocks, from: 48 &+ last, count: 1)
  }

  /// Brings the beginning of each of a page's blocks near but the first.
  func prefetchBlocks(of reference: PageReference) {
    for block in 1..<max(1, UInt32(reference.blocks)) {
      let position = PagePosition(
        segment: reference.position.segment, block: reference.position.block &+ block)
      segments.prefetch(position, blocks: 1, count: 256)
    }
  }

  @inline(never)
  private static func mismatch(
    _ page: Page, _ reference: PageReference, kind: PageKind, level: UInt8
  ) -> StoreError {
    let header = PageHeader(page.bytes)
    guard header.checksum == reference.checksum else {
      return .corrupt(
        .page(reference.position), invariant: .pageChecksum,
        reason: "it carries checksum \(header.checksum), the reference \(reference.checksum)")
    }
    return .corrupt(
      .page(reference.position), invariant: .pageKind,
      reason: "a page of kind \(header.kind), level \(header.level), \(header.blocks) blocks, where"
        + " its parent expects kind \(kind.rawValue), level \(level), \(reference.blocks) blocks")
  }
}

extension PageSegment {
  /// Reads whole blocks from the disk into a buffer of their own.
  func read(at block: UInt32, size: Int) throws(StoreError) -> PageBuffer {
    let buffer = PageBuffer(count: size)
    var span = buffer.mutableBytes
    let count = try file.read(into: &span, from: Int(block) * Layout.blockSize, at: .pageRead)
    guard count == size else {
      throw .corrupt(
        .page(PagePosition(segment: number, block: block)), invariant: .segmentEnd,
        reason: "the file ends \(size - count) bytes before the page does")
    }
    return buffer
  }
}
