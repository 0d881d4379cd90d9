/// The entries to be stored and the queries, the same bytes for each engine.
///
/// Made of a seed. Both orders are copies, so that an engine that loads reads its input from front
/// to back whichever order it comes in, as from a stream; nothing is copied once an engine runs.
struct Dataset: Sendable {
  static let valueLength = 100
  static let rangeLength = 10
  static let batchSize = 16

  let shape: KeyShape
  let sorted: EntryList
  let shuffled: EntryList

  let hits: Queries
  let misses: Queries
  let ranges: Queries
  /// Of all entries in order.
  let everything: Digest

  /// - Parameter readCount: point reads in a round; of ranges there are a tenth as many.
  init(_ shape: KeyShape, count: Int, readCount: Int, seed: UInt64) {
    precondition(count > 0 && count <= Int(UInt32.max), "positions are 32 bits")
    self.shape = shape
    var keySource = SplitMix64(seed: seed)
    // Far from the keys' numbers, so that values share none with them.
    var random = SplitMix64(seed: ~seed)

    sorted = Dataset.sortedEntries(shape, count, keys: &keySource, values: &random)
    shuffled = sorted.arranged(by: (0..<UInt32(count)).shuffled(using: &random))

    hits = Queries(reading: readCount, of: sorted, from: &random)
    misses = Queries(missing: shape.absentKeys(readCount, besides: count, from: &keySource))
    ranges = Queries(
      ranges: max(readCount / 10, 1), of: Dataset.rangeLength, in: sorted, from: &random)
    everything = Dataset.digest(of: sorted)
  }

  private static func sortedEntries(
    _ shape: KeyShape, _ count: Int, keys keySource: inout SplitMix64, values: inout SplitMix64
  ) -> EntryList {
    let keys = shape.keys(count, from: &keySource)
    var list = ByteList(length: valueLength, capacity: count)
    for _ in 0..<count { list.append { values.next() } }
    return EntryList(keys: keys.arranged(by: positionsInKeyOrder(keys)), values: list)
  }

  private static func digest(of entries: EntryList) -> Digest {
    var digest = Digest()
    for index in 0..<entries.count { digest.add(entries.keys[index], entries.values[index]) }
    return digest
  }
}
