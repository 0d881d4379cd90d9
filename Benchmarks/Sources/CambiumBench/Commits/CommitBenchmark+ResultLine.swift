import BenchmarkReport

extension CommitBenchmark {
  /// The name of flushes without any engine, among the engines.
  static let flushName = "raw flush"

  /// The lines of all measurements, and of the flushes without any engine, where a commit can be compared
  /// with one.
  ///
  /// - Parameter part: The command.
  func lines(_ measurements: [CommitMeasurement], part: String) -> [ResultLine] {
    let own = measurements.map { line($0, part: part) }
    guard workload == .commits(threads: 1, batch: 1), let limit = flushLine(part: part) else {
      return own
    }
    return own + [limit]
  }

  private func line(_ measurement: CommitMeasurement, part: String) -> ResultLine {
    let engine = measurement.engine
    var line = ResultLine(
      part: part, workload: name(in: part), setting: setting, engine: engine.rawValue,
      durability: durability.rawValue, count: measurement.recordCount,
      rounds: measurement.rounds.count, seconds: measurement.seconds)
    line.promise = engine.promise(of: durability)
    line.goals = Goal.speeds(of: engine, at: workload, durability, dataset)
    line.latency = measurement.percentiles
    line.rawBytes = workload == .removal ? nil : dataset.byteCount
    line.bytesOnDisk = measurement.bytesOnDisk
    line.peakResident = measurement.peakResident
    line.anonymousGrowth = measurement.anonymousGrowth
    line.details = measurement.details
    return line
  }

  private func name(in part: String) -> String {
    if case .commits = workload, part != "commit" { return "load-batches" }
    return workload.name
  }

  private var setting: String {
    let count = Figures.grouped(dataset.entries.count)
    let keys = "\(dataset.keyOrder.rawValue) keys"
    return switch workload {
    case .commits(let threads, let batch):
      "\(threads) \(threads == 1 ? "thread" : "threads"), \(Figures.grouped(batch)) a transaction, \(keys),"
        + " \(count) into \(Figures.grouped(dataset.preload.count))"
    case .load: "\(count) records, one transaction"
    case .removal: "half of \(count) records, one transaction"
    }
  }

  /// A flush of a block that was written before, as if it were an engine.
  private func flushLine(part: String) -> ResultLine? {
    guard let latency = LatencyPercentiles(rounds: rawFlushes) else { return nil }
    let count = rawFlushes.first?.count ?? 0
    var line = ResultLine(
      part: part, workload: name(in: part), setting: setting, engine: Self.flushName, role: .limit,
      durability: durability.rawValue, count: count, rounds: rawFlushes.count,
      seconds: median(rawFlushes.map { Double($0.reduce(0, +)) }) / 1e9)
    line.latency = latency
    return line
  }
}

extension CommitMeasurement {
  fileprivate var percentiles: LatencyPercentiles? {
    LatencyPercentiles(rounds: rounds.map(\.latencies))
  }

  fileprivate var details: [String: Double] {
    let amplification = amplification
    let all: [String: Double?] = [
      "settling_seconds": settlingSeconds, "spread_least": spread.lowerBound,
      "spread_most": spread.upperBound, "device_bytes_per_byte": amplification.onDevice,
      "call_bytes_per_byte": amplification.inCalls, "own_bytes_per_byte": amplification.own,
    ]
    return all.compactMapValues { $0 }
  }
}

extension LatencyPercentiles {
  /// Medians over the rounds; nil if nothing was timed.
  ///
  /// - Parameter rounds: Times in nanoseconds, ascending in each round.
  init?(rounds: [[Int]]) {
    let timed = rounds.filter { !$0.isEmpty }
    guard !timed.isEmpty else { return nil }
    func percentile(_ share: Double) -> Double {
      median(timed.map { Double($0[Int(Double($0.count - 1) * share)]) })
    }
    self.init(
      p50: percentile(0.5), p90: percentile(0.9), p99: percentile(0.99), p999: percentile(0.999))
  }
}
