import FoundationEssentials

/// The records to be stored and the queries, the same for each engine. Made of a seed.
struct ItemDataset: Sendable {
  let keyOrder: CommitKeyOrder
  /// In the order in which they are inserted.
  let items: [Item]
  /// Of records at random positions.
  let fetched: [UUID]
  /// The records that updates replace, in random order: half of them, with their new values.
  let updates: [Item]
  /// The records that are deleted, in random order: half of the records, as they are after the updates.
  let deletions: [Item]
  let expected: Expected

  /// Digests of the right answers.
  struct Expected: Sendable {
    var fetched = ItemDigest()
    var scanned = ItemDigest()
    /// With every byte.
    var inserted = ItemDigest()
    var updated = ItemDigest()
    var remaining = ItemDigest()
  }

  init(_ keyOrder: CommitKeyOrder, count: Int, fetches: Int, seed: UInt64) {
    var random = SplitMix64(seed: seed)
    let items = (0..<count).map { Item(number: $0, keyOrder, from: &random) }
    let fetchOrder = (0..<fetches).map { _ in Int.random(in: 0..<count, using: &random) }
    let changed = Array((0..<count).shuffled(using: &random)[..<(count / 2)])
    let deleted = Array((0..<count).shuffled(using: &random)[..<(count / 2)])

    var after = items
    for index in changed { after[index] = items[index].updated }
    var expected = Expected()
    for index in fetchOrder { expected.fetched.add(items[index]) }
    for item in items {
      expected.scanned.add(item)
      expected.inserted.addAll(of: item)
    }
    for item in after { expected.updated.addAll(of: item) }
    let isDeleted = Set(deleted)
    for index in 0..<count where !isDeleted.contains(index) {
      expected.remaining.addAll(of: after[index])
    }

    self.keyOrder = keyOrder
    self.items = items
    fetched = fetchOrder.map { items[$0].id }
    updates = changed.map { after[$0] }
    deletions = deleted.map { after[$0] }
    self.expected = expected
  }

  /// The size of the records' values, written one after the other.
  var byteCount: Int { items.reduce(0) { $0 + $1.byteCount } }
}

extension Item {
  fileprivate init(number: Int, _ keyOrder: CommitKeyOrder, from random: inout SplitMix64) {
    let word = random.next()
    id = UUID(keyOrder == .ascending ? UInt64(number) : word, random.next())
    created = Date(
      timeIntervalSinceReferenceDate: 600_000_000 + Double(random.next() >> 24) / 4096)
    title = words(2...3, from: &random)
    body = words(6...12, from: &random)
    count = Int.random(in: 0..<100_000, using: &random)
    weight = Double.random(in: 0..<1_000, using: &random)
    isDone = Bool.random(using: &random)
    note = Bool.random(using: &random) ? words(2...5, from: &random) : nil
  }
}

extension UUID {
  /// From two numbers, big-endian.
  fileprivate init(_ high: UInt64, _ low: UInt64) {
    let bytes = (high.bigEndian, low.bigEndian)
    self = unsafe withUnsafeBytes(of: bytes) { unsafe UUID(uuid: $0.load(as: uuid_t.self)) }
  }
}

/// About six bytes a word.
private func words(_ count: ClosedRange<Int>, from random: inout SplitMix64) -> String {
  let list = [
    "amber", "birch", "cedar", "delta", "ember", "field", "grove", "heath", "island", "juniper",
    "kernel", "larch", "meadow", "needle", "oak", "pine", "quarry", "resin", "sapwood", "timber",
    "umber", "valley", "willow", "yew",
  ]
  let chosen = (0..<Int.random(in: count, using: &random)).map { _ in
    list[Int.random(in: 0..<list.count, using: &random)]
  }
  return chosen.joined(separator: " ")
}
