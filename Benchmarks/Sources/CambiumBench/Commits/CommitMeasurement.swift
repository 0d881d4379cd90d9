/// The times of one round of writing.
struct CommitRound {
  /// All of it, the payment of debts too.
  let seconds: Double
  /// Of these, for the work after the last commit.
  let settlingSeconds: Double
  /// Of single commits, in nanoseconds and ascending; empty if they were not looked at.
  let latencies: [Int]
  let written: WrittenBytes
  /// As the engine counts them.
  let ownBytes: Int?
  let bytesOnDisk: Int
  let peakResident: Int
  let anonymousGrowth: Int
}

/// One engine at one workload, over all rounds.
struct CommitMeasurement {
  let engine: CommitEngineName
  let recordCount: Int
  /// Of all keys and values that were written.
  let byteCount: Int
  private(set) var rounds: [CommitRound] = []

  init(engine: CommitEngineName, recordCount: Int, byteCount: Int) {
    self.engine = engine
    self.recordCount = recordCount
    self.byteCount = byteCount
  }

  mutating func append(_ round: CommitRound) {
    rounds.append(round)
  }

  var seconds: Double { median(rounds.map(\.seconds)) }
  var settlingSeconds: Double { median(rounds.map(\.settlingSeconds)) }
  var recordsPerSecond: Double { Double(recordCount) / seconds }
  var nanosecondsPerRecord: Double { seconds * 1e9 / Double(recordCount) }

  /// The least and the most a round took, over the median.
  var spread: ClosedRange<Double> {
    let all = rounds.map { $0.seconds / seconds }
    return (all.min() ?? 1)...(all.max() ?? 1)
  }

  /// The longest time of a share of the commits, in nanoseconds: the median over the rounds.
  func latency(_ share: Double) -> Double? {
    let all = rounds.compactMap { round in
      round.latencies.isEmpty
        ? nil : Double(round.latencies[Int(Double(round.latencies.count - 1) * share)])
    }
    return all.isEmpty ? nil : median(all)
  }

  /// Bytes written for each byte of a record: to the device, in calls, and by the engine's own count.
  var amplification: (onDevice: Double?, inCalls: Double?, own: Double?) {
    (
      amplification(rounds.compactMap(\.written.onDevice)),
      amplification(rounds.map(\.written.inCalls)), amplification(rounds.compactMap(\.ownBytes))
    )
  }

  private func amplification(_ bytes: [Int]) -> Double? {
    bytes.isEmpty ? nil : median(bytes.map(Double.init)) / Double(byteCount)
  }

  var bytesOnDisk: Int { rounds.last?.bytesOnDisk ?? 0 }
  var peakResident: Int { rounds.map(\.peakResident).max() ?? 0 }
  var anonymousGrowth: Int { rounds.map(\.anonymousGrowth).max() ?? 0 }
}
