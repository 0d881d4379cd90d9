/// Entries in any order, to be sorted; of those with the same key the last counts.
///
/// What does not fit into memory becomes runs, as in a transaction: it takes as much memory for a hundred million entries as for one.
package final class RawEntries {
  private let place: RunPlace
  private let pool = ChunkPool(keepingUpTo: RawEntries.capacity / ChunkPool.chunkSize + 1)
  // One owner on one thread uses them, so accesses cannot overlap.
  @exclusivity(unchecked) private var buffer: RunBuffer
  @exclusivity(unchecked) private var largeValues: LargeValues
  /// Oldest first. Their levels never rise.
  @exclusivity(unchecked) private var runs: [Run] = []

  /// The bytes that wait for a run.
  private static var capacity: Int { 32 << 20 }
  /// How many runs of one level are merged.
  private static var runsMax: Int { 16 }
  private static var tree: TreeSlot { TreeSlot(0) }

  init(in place: RunPlace) {
    self.place = place
    unsafe buffer = RunBuffer(in: pool)
    unsafe largeValues = LargeValues(in: place)
  }

  /// Adds an entry.
  ///
  /// - Precondition: key and value are within the limits of a tree, and the value is below a mebibyte.
  /// - Throws: `.full`, `.io`.
  package func append(_ key: RawSpan, _ value: RawSpan) throws(StoreError) {
    if unsafe buffer.byteCount + RunBuffer.size(key, value) > Self.capacity { try spill() }
    let isDone = unsafe buffer.append(.put, key, value, schemaVersion: 1)
    assert(isDone, "all entries are of one schema version")
  }

  private func spill() throws(StoreError) {
    try write(
      RunMerge(newestFirst: [.buffer(BufferInput(unsafe buffer.takeSorted()))], largeValues: nil),
      level: 0)
    unsafe buffer = RunBuffer(in: pool)
    while let last = unsafe runs.last {
      let newest = unsafe runs.suffix(Self.runsMax)
      guard newest.count == Self.runsMax, newest.allSatisfy({ $0.level == last.level }) else {
        return
      }
      let merged = RunMerge(
        newestFirst: newest.reversed().map { .run(RunInput($0)) }, largeValues: nil)
      unsafe runs.removeLast(Self.runsMax)
      try write(merged, level: last.level + 1)
    }
  }

  private func write(_ input: RunMerge, level: Int) throws(StoreError) {
    var writer = RunWriter(in: place)
    try unsafe writer.write(input, of: Self.tree, level: level, largeValues: &largeValues)
    unsafe runs += try writer.finish().map(\.run)
  }

  /// All entries. What was in memory is only there, then.
  func takeSorted() -> RunMerge {
    let newest = SpillInput.buffer(BufferInput(unsafe buffer.takeSorted()))
    return unsafe RunMerge(
      newestFirst: [newest] + runs.reversed().map { .run(RunInput($0)) }, largeValues: nil)
  }
}
