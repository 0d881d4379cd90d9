import BenchmarkReport

extension CompactionBenchmark {
  var lines: [ResultLine] { measurements.map(line) }

  private func line(_ measurement: CompactionMeasurement) -> ResultLine {
    var line = ResultLine(
      part: "compact", workload: "compact",
      setting: "half of \(Figures.grouped(dataset.entries.count)) records removed before",
      engine: measurement.method.rawValue, durability: "flushed",
      count: measurement.liveBytes / (CommitKeyOrder.keyLength + Dataset.valueLength),
      rounds: measurement.rounds.count, seconds: measurement.seconds,
      figure: measurement.bytesPerSecond / Double(1 << 20), unit: .mebibytesPerSecond)
    line.goals = Self.goals(of: measurement.method)
    line.rawBytes = measurement.liveBytes
    line.bytesOnDisk = measurement.after
    line.anonymousGrowth = measurement.anonymousGrowth
    line.details = [
      "bytes_before": Double(measurement.before),
      "room_needed_bytes": Double(measurement.roomNeeded),
    ]
    return line
  }

  private static func goals(of method: CompactionMethod) -> [ResultGoal] {
    guard method == .cambium else { return [] }
    return [
      ResultGoal(.atLeast(3), against: CompactionMethod.sqliteVacuum.rawValue),
      ResultGoal(.atMost(1.03), on: .size), ResultGoal(.atMost(128), on: .memory),
    ]
  }
}

extension CommitsMeanwhile {
  /// How much longer a commit takes at most, but for one in a hundred, while the store is compacted.
  func line(records: Int) -> ResultLine {
    var line = ResultLine(
      part: "compact", workload: "p99 of commits meanwhile, over p99 without",
      setting: "\(Figures.grouped(records)) records", engine: "cambium", durability: "durable",
      count: count, rounds: 1, figure: meanwhile.slowest / without.slowest, unit: .timesAsLong)
    line.goals = [ResultGoal(.atMost(2))]
    line.details = [
      "p50_ns": meanwhile.half, "p99_ns": meanwhile.slowest, "p50_without_ns": without.half,
      "p99_without_ns": without.slowest,
    ]
    return line
  }
}
