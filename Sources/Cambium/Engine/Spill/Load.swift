/// The segments that a transaction loads trees into: segments of the store, to which nothing leads before the commit.
///
/// The commit hands them to the engine's appender; all other ends of the transaction remove them. What a process leaves
/// that ends before either is garbage, which the next opening removes.
///
/// A class of one owner on one thread, so accesses cannot overlap.
final class Load: @unchecked Sendable {
  private let place: RunPlace
  private let appender: PageAppender
  /// The pages of all trees so far, on their way to the disk or there.
  @exclusivity(unchecked) private var written = SegmentTable([])
  /// True if a call has failed. The trees so far are whole, and nothing can be added.
  @exclusivity(unchecked) private var hasFailed = false

  init(in place: RunPlace) {
    self.place = place
    appender = place.loadAppender()
  }

  var isBroken: Bool { unsafe hasFailed }

  /// Writes the entries of `input` as a tree; removals in it are ignored.
  ///
  /// - Parameters:
  ///   - separator: Above all older keys of the tree, and not above any of these.
  ///   - lastKey: The last key of the input.
  /// - Returns: The tree, which can be read; `nil` if there are only removals.
  /// - Throws: `.limitExceeded`, `.full`, `.io`; then the load is broken.
  func write<Input: SortedInput & ~Copyable>(
    _ input: consuming Input, after separator: [UInt8], upTo lastKey: [UInt8], tag: TreeTag
  ) throws(StoreError) -> LoadedTree? {
    unsafe hasFailed = true
    let root = try TreeMerge.run(
      input, into: nil, of: nil, sizes: place.sizes, tag: tag, appendingTo: appender)
    unsafe written = try appender.readable()
    unsafe hasFailed = false
    guard let root else { return nil }
    let tree = Tree(pages: place.reader(of: unsafe written), root: root)
    return LoadedTree(tree: tree, separator: separator, lastKey: lastKey, load: self)
  }

  /// Hands the segments to `appender`, which publishes them with its next footer.
  ///
  /// - Parameter liveBytes: The bytes of the trees that are to be linked. If there are none, the segments are removed.
  /// - Throws: `.full`, `.io`, `.limitExceeded`.
  func give(to appender: PageAppender, liveBytes: Int) throws(StoreError) {
    if liveBytes == 0 { return giveBack() }
    self.appender.endWritingBehind()
    let blocks = unsafe written.entries.reduce(0) { $0 + Int($1.endBlock) - 1 }
    // Of trees that were taken back, nobody knows in which segments their pages are.
    if liveBytes != blocks * Layout.blockSize { appender.replaced.insertUnknown() }
    try appender.takeOver(self.appender, upTo: unsafe written)
  }

  /// Removes the segments, unless an appender has taken them over.
  func giveBack() {
    appender.endWritingBehind()
    appender.giveBack()
  }

  /// The segments, opened as a reader of the store opens them.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func segments(mapped: Bool) throws(StoreError) -> [SegmentTable.Entry] {
    var entries: [SegmentTable.Entry] = []
    for entry in unsafe written.entries where entry.endBlock > 1 {
      let segment = try place.open(entry.segment.number, blocks: entry.endBlock, mapped: mapped)
      entries.append(.init(segment: segment, endBlock: entry.endBlock))
    }
    return entries
  }
}
