import BenchmarkReport

extension Goal {
  /// How many times as fast as a peer measured in the same run, or `nil` if nothing is promised.
  static func speed(of engine: EngineName, against peer: EngineName, at workload: Workload) -> Goal?
  {
    guard engine.hasGoals else { return nil }
    return switch (workload, peer) {
    case (.loadSorted, .lmdb): .atLeast(3)
    case (.loadShuffled, .lmdb): .atLeast(4)
    case (.pointReadHits, .lmdb), (.pointReadMisses, .lmdb): .atLeast(2.5)
    case (.pointReadHits, .sqlite), (.pointReadMisses, .sqlite): .atLeast(5)
    // LMDB reads one by one.
    case (.batchReads, .lmdb): .atLeast(4)
    case (.ranges, .lmdb): .atLeast(1.5)
    case (.scan, .lmdb): .atLeast(1)
    default: nil
    }
  }

  /// A loaded store on the disk, in keys and values.
  static func relativeSize(of engine: EngineName) -> Goal? {
    engine.hasGoals ? .atMost(1.05) : nil
  }

  /// The memory of a load beyond its input, in MiB.
  static func loadMemory(of engine: EngineName) -> Goal? {
    engine.hasGoals ? .atMost(64) : nil
  }
}
