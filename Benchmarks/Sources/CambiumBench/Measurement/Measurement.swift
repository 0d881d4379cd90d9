/// One engine at one workload, over all rounds.
struct Measurement {
  let shape: KeyShape
  let records: Int
  let workload: Workload
  let engine: EngineName
  let operationCount: Int
  /// Of all keys and values together.
  let rawByteCount: Int
  private(set) var rounds: [Round] = []

  mutating func append(_ round: Round) {
    rounds.append(round)
  }

  var seconds: Double { median(rounds.map(\.seconds)) }
  var operationsPerSecond: Double { Double(operationCount) / seconds }
  var nanosecondsPerOperation: Double { seconds * 1e9 / Double(operationCount) }

  /// The least and the most a round took, over the median.
  var spread: ClosedRange<Double> {
    let all = rounds.map { $0.seconds / seconds }
    return (all.min() ?? 1)...(all.max() ?? 1)
  }

  var bytesOnDisk: Int { rounds.last?.bytesOnDisk ?? 0 }
  var relativeSize: Double { Double(bytesOnDisk) / Double(rawByteCount) }
  var peakResident: Int { rounds.map(\.peakResident).max() ?? 0 }
  var anonymousGrowth: Int { rounds.map(\.anonymousGrowth).max() ?? 0 }
}

/// The middle one, or the mean of the two in the middle.
func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  let middle = sorted.count / 2
  return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
}
