import BenchmarkReport

extension Goal {
  /// The goals of writes: times as fast as peers, or so many records a second.
  static func speeds(
    of engine: CommitEngineName, at workload: CommitWorkload, _ durability: CommitDurability,
    _ dataset: CommitDataset
  ) -> [ResultGoal] {
    guard engine == .cambium else { return [] }
    return switch (workload, durability) {
    case (.commits(threads: 1, batch: 1), .durable):
      // At most 1.15 times as long as the flush alone.
      [
        times(3.5, .lmdb), times(1.6, .sqlite),
        ResultGoal(.atLeast(0.87), against: CommitBenchmark.flushName),
      ]
    case (.commits(_, batch: 1_000), .durable):
      // Random keys of a large store belong to a log-structured engine.
      (dataset.keyOrder == .random && dataset.entries.count >= 10_000_000
        ? [times(5, .lmdb), times(0.9, .rocksdb)] : [times(10, .lmdb), times(3, .rocksdb)])
        + [ResultGoal(.atMost(1.3), on: .size)]
    case (.commits(_, batch: 1), .relaxed):
      [
        ResultGoal(.atLeast(dataset.keyOrder == .ascending ? 1_000_000 : 300_000)),
        times(2, .rocksdb),
      ]
    case (.load(.sorted), _): [times(3, .lmdb)]
    case (.load(.shuffled), _): [times(4, .lmdb)]
    case (.removal, _): [times(5, .lmdb)]
    default: []
    }
  }

  private static func times(_ count: Double, _ peer: CommitEngineName) -> ResultGoal {
    ResultGoal(.atLeast(count), against: peer.rawValue)
  }
}
