import Cambium

/// The times of durable commits of one record while the store is compacted, and while it is not.
struct CommitsMeanwhile {
  /// p50 and p99 in nanoseconds.
  struct Latency {
    let half: Double
    let slowest: Double

    init(_ sorted: [Int]) {
      half = Double(sorted[sorted.count / 2])
      slowest = Double(sorted[sorted.count * 99 / 100])
    }
  }

  let without: Latency
  let meanwhile: Latency
  /// How many commits came while a compaction was under way.
  let count: Int

  /// - Parameter entries: Are in the store; their values are written again.
  init(in directory: String, _ entries: EntryList, count: Int) throws {
    let store = try RawStore(at: directory)
    let tree = try store.tree("entries")
    let commits = Commits(store: store, tree: tree, entries: entries)
    // The times of the first ones do not count.
    _ = try commits.run(count / 10)
    without = Latency(try commits.run(count))
    let compactor = try RepeatingThread(each: .milliseconds(1)) { try store.compact() }
    let latencies = try commits.run(count)
    compactor.end()
    try compactor.check()
    meanwhile = Latency(latencies)
    self.count = latencies.count
    try store.close()
  }
}

private struct Commits {
  let store: RawStore
  let tree: RawTreeName
  let entries: EntryList

  /// Commits so many records, one by one, and returns their times, ascending.
  func run(_ count: Int) throws -> [Int] {
    var latencies: [Int] = []
    latencies.reserveCapacity(count)
    for number in 0..<count {
      let index = number &* 7_919 % entries.count
      let start = ContinuousClock.now
      try store.write { transaction in
        try transaction.put(entries.keys[index], entries.values[index], in: tree)
      }
      latencies.append((ContinuousClock.now - start).nanoseconds)
    }
    return latencies.sorted()
  }
}
