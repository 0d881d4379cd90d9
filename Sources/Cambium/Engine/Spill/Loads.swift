/// The loads of one transaction: mostly one, and another after each that failed and that the transaction went on without.
///
/// A class of one owner on one thread, so accesses cannot overlap.
final class Loads {
  private let place: RunPlace
  private let names: TreeNames
  /// In the order in which they were begun; only the last may get further trees.
  @exclusivity(unchecked) private var loads: [Load] = []
  /// The loads that the commit gave away.
  @exclusivity(unchecked) private var given: [Load] = []
  /// Where the commit reads them.
  @exclusivity(unchecked) private var pages: PageReader?

  init(in place: RunPlace, names: TreeNames) {
    self.place = place
    self.names = names
  }

  /// The least that is worth a loaded tree, in bytes: its first and last leaf are mostly written again.
  var sizeMin: Int { 3 * place.sizes.leaf }

  /// Writes the entries of `input` as a tree that comes after a tree of the store; removals in it are ignored.
  ///
  /// - Parameters:
  ///   - separator: Above all older keys of the tree, and not above any of these.
  ///   - lastKey: The last key of the input.
  /// - Returns: The tree, which can be read; `nil` if there are only removals.
  /// - Throws: `.limitExceeded`, `.full`, `.io`.
  func write<Input: SortedInput & ~Copyable>(
    _ input: consuming Input, after separator: [UInt8], upTo lastKey: [UInt8], of tree: TreeSlot
  ) throws(StoreError) -> LoadedTree? {
    try usable().write(
      input, after: separator, upTo: lastKey, tag: TreeTag(of: names.name(of: tree)))
  }

  private func usable() -> Load {
    if let load = unsafe loads.last, !load.isBroken { return load }
    let load = Load(in: place)
    unsafe loads.append(load)
    return load
  }

  /// Hands the segments of `trees` to the appender of the commit, before it appends anything, and removes segments in
  /// which nothing is left.
  ///
  /// - Parameter trees: All that are to be linked.
  /// - Throws: `.limitExceeded`, `.full`, `.io`.
  func give(_ trees: [LoadedTree], to appender: PageAppender) throws(StoreError) {
    for load in unsafe loads {
      let size = trees.reduce(0) { $0 + ($1.load === load ? $1.tree.liveBytes : 0) }
      try load.give(to: appender, liveBytes: size)
      if size > 0 { unsafe given.append(load) }
    }
  }

  /// Removes the segments, unless they were given away.
  func giveBack() {
    for load in unsafe loads { load.giveBack() }
  }

  /// Where the commit reads the pages of `base` and of loads that were given away.
  ///
  /// - Throws: `.corrupt`, `.io`.
  func pages(over base: PageReader) throws(StoreError) -> PageReader {
    if let pages = unsafe pages { return pages }
    var entries = base.segments.entries
    for load in unsafe given { entries += try load.segments(mapped: base.cache == nil) }
    entries = entries.sortedRarely { $0.segment.number < $1.segment.number }
    let reader = PageReader(
      medium: base.medium, identity: base.identity, segments: SegmentTable(entries),
      cache: base.cache)
    unsafe pages = reader
    return reader
  }
}
