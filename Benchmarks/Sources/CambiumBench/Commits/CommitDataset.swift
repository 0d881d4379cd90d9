/// The entries put into a store before the clock runs, and those committed while it does.
struct CommitDataset: Sendable {
  static let sampleCount = 1_000

  let keyOrder: CommitKeyOrder
  let preload: EntryList
  let entries: EntryList
  /// Some of all keys, to be looked up at the end.
  let sample: Queries

  init(_ keyOrder: CommitKeyOrder, preload preloadCount: Int, count: Int, seed: UInt64) {
    self.keyOrder = keyOrder
    var keySource = SplitMix64(seed: seed)
    var random = SplitMix64(seed: ~seed)
    preload = Self.entries(keyOrder, preloadCount, after: 0, &keySource, &random)
    entries = Self.entries(keyOrder, count, after: preloadCount, &keySource, &random)
    sample = Queries(sampling: Self.sampleCount, of: [preload, entries], from: &random)
  }

  var byteCount: Int { preload.byteCount + entries.byteCount }

  private static func entries(
    _ keyOrder: CommitKeyOrder, _ count: Int, after start: Int, _ keySource: inout SplitMix64,
    _ random: inout SplitMix64
  ) -> EntryList {
    let keys = keyOrder.keys(count, after: start, from: &keySource)
    var values = ByteList(length: Dataset.valueLength, capacity: count)
    for _ in 0..<count { values.append { random.next() } }
    return EntryList(keys: keys, values: values)
  }
}

extension Queries {
  /// Point reads of keys of several lists together.
  init(sampling count: Int, of lists: [EntryList], from random: inout SplitMix64) {
    let total = lists.reduce(0) { $0 + $1.count }
    var keys = ByteList(length: CommitKeyOrder.keyLength, capacity: count)
    var expected = Digest()
    for _ in 0..<count {
      var index = Int.random(in: 0..<total, using: &random)
      for list in lists {
        if index < list.count {
          keys.append(list.keys, at: index)
          expected.add(list.values[index])
          break
        }
        index -= list.count
      }
    }
    self.init(keys: keys, expected: expected)
  }
}
