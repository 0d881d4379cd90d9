/// The work on a store while the clock runs.
enum CommitWorkload: Equatable {
  /// All entries, by so many threads at once and in transactions of so many records.
  case commits(threads: Int, batch: Int)
  /// All entries in one transaction.
  case load(Arrival)
  /// Half of the entries, picked and ordered at random, in one transaction.
  case removal

  var name: String {
    switch self {
    case .commits: "commit"
    case .load(.sorted): "load-sorted"
    case .load(.shuffled): "load-shuffled"
    case .removal: "removal"
    }
  }

  var threadCount: Int { if case .commits(let threads, _) = self { threads } else { 1 } }
}

extension CommitWorkload {
  /// Does it, and returns the time of each commit, if a caller waits for the disk and will not
  /// notice that the clock was looked at.
  func run(
    _ dataset: CommitDataset, removing keys: ByteList, on engine: any CommitEngine,
    _ durability: CommitDurability
  ) throws -> [Int] {
    switch self {
    case .commits(let threads, let batch):
      return try Self.commit(
        dataset.entries, threads: threads, batch: batch, isTimed: durability == .durable, engine)
    case .load(let order):
      try engine.load(dataset.entries, arriving: order)
    case .removal:
      try engine.remove(keys)
    }
    return []
  }

  /// Threads take one batch after the other, so that keys come about in their order.
  private static func commit(
    _ entries: EntryList, threads: Int, batch: Int, isTimed: Bool, _ engine: any CommitEngine
  ) throws -> [Int] {
    let tickets = Tickets(count: (entries.count + batch - 1) / batch)
    let latencies = Latencies()
    try onThreads(threads) { thread in
      var own: [Int] = []
      own.reserveCapacity(isTimed ? tickets.count / threads + 1 : 0)
      while let ticket = tickets.take() {
        let positions = ticket * batch..<min((ticket + 1) * batch, entries.count)
        guard isTimed else {
          try engine.commit(entries, at: positions, by: thread)
          continue
        }
        let start = ContinuousClock.now
        try engine.commit(entries, at: positions, by: thread)
        own.append((ContinuousClock.now - start).nanoseconds)
      }
      latencies.add(own)
    }
    return latencies.sorted
  }
}
