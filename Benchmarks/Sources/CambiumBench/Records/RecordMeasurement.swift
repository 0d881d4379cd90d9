/// The figures of one round.
struct RecordRound {
  /// All of it; for writes, with the payment of debts at closing.
  let seconds: Double
  /// Of these, before closing.
  let secondsOpen: Double
  /// Of all the process's threads: it does not change with other users of the machine.
  let processorSeconds: Double
  /// Afterwards.
  let bytesOnDisk: Int
  let peakResident: Int
  let anonymousGrowth: Int
}

/// One engine at one workload, over all rounds.
struct RecordMeasurement {
  let workload: RecordWorkload
  let engine: RecordEngineName
  let operationCount: Int
  private(set) var rounds: [RecordRound] = []

  init(workload: RecordWorkload, engine: RecordEngineName, operationCount: Int) {
    self.workload = workload
    self.engine = engine
    self.operationCount = operationCount
  }

  mutating func append(_ round: RecordRound) {
    rounds.append(round)
  }

  var seconds: Double { median(rounds.map(\.seconds)) }
  var secondsOpen: Double { median(rounds.map(\.secondsOpen)) }
  var processorSeconds: Double { median(rounds.map(\.processorSeconds)) }
  var nanosecondsPerRecord: Double { seconds * 1e9 / Double(operationCount) }
  var recordsPerSecond: Double { Double(operationCount) / seconds }

  /// The least and the most a round took, over the median.
  var spread: ClosedRange<Double> {
    let all = rounds.map { $0.seconds / seconds }
    return (all.min() ?? 1)...(all.max() ?? 1)
  }

  var bytesOnDisk: Int { rounds.last?.bytesOnDisk ?? 0 }
  var peakResident: Int { rounds.map(\.peakResident).max() ?? 0 }
  var anonymousGrowth: Int { rounds.map(\.anonymousGrowth).max() ?? 0 }
}

extension [RecordMeasurement] {
  func of(_ engine: RecordEngineName) -> RecordMeasurement? {
    first { $0.engine == engine }
  }
}
