/// The queries of a store, and the digest of the right answers.
struct Queries: Sendable {
  let keys: ByteList
  let expected: Digest
}

extension Queries {
  /// Point reads of keys at random positions.
  init(reading count: Int, of sorted: EntryList, from random: inout SplitMix64) {
    let order = randomPositions(count, below: sorted.count, from: &random)
    var expected = Digest()
    for index in order { expected.add(sorted.values[Int(index)]) }
    self.init(keys: sorted.keys.arranged(by: order), expected: expected)
  }

  /// Point reads that find nothing.
  init(missing keys: ByteList) {
    var expected = Digest()
    for _ in 0..<keys.count { expected.addMiss() }
    self.init(keys: keys, expected: expected)
  }

  /// Ranges of `length` entries, from keys at random positions on.
  init(
    ranges count: Int, of length: Int, in sorted: EntryList, from random: inout SplitMix64
  ) {
    let order = randomPositions(count, below: sorted.count, from: &random)
    var expected = Digest()
    for start in order {
      let end = min(Int(start) + length, sorted.count)
      for index in Int(start)..<end { expected.add(sorted.keys[index], sorted.values[index]) }
    }
    self.init(keys: sorted.keys.arranged(by: order), expected: expected)
  }
}

private func randomPositions(
  _ count: Int, below bound: Int, from random: inout SplitMix64
) -> [UInt32] {
  (0..<count).map { _ in .random(in: 0..<UInt32(bound), using: &random) }
}
