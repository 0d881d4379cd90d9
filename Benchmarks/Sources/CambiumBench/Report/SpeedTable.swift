import BenchmarkReport

/// Medians side by side, and how many times as fast as each peer the first engine is.
struct SpeedTable {
  let measurements: [Measurement]
  let engines: [EngineName]

  private var peers: [EngineName] { Array(engines.dropFirst()) }

  var lines: [String] {
    var table = TextTable(
      header: ["ns per operation"] + engines.map(\.rawValue) + ["spread"]
        + peers.map { "vs \($0.rawValue)" })
    for workload in Workload.allCases {
      let all = measurements.filter { $0.workload == workload }
      guard !all.isEmpty else { continue }
      table.append(
        [workload.summary] + engines.map { nanoseconds(all.of($0)) } + [spread(all)]
          + peers.map { ratio(all, $0, at: workload) })
    }
    return table.lines
  }

  private func nanoseconds(_ measurement: Measurement?) -> String {
    measurement.map { Figures.nanoseconds($0.nanosecondsPerOperation) } ?? "–"
  }

  /// The widest of any engine, so that a reader knows how much a ratio may be trusted.
  private func spread(_ all: [Measurement]) -> String {
    let least = all.map(\.spread.lowerBound).min() ?? 1
    let most = all.map(\.spread.upperBound).max() ?? 1
    return "\(Figures.decimal(least, places: 2))…\(Figures.decimal(most, places: 2))"
  }

  private func ratio(_ all: [Measurement], _ peer: EngineName, at workload: Workload) -> String {
    guard let mine = all.of(engines[0]), let other = all.of(peer) else { return "–" }
    let ratio = mine.operationsPerSecond / other.operationsPerSecond
    let text = Figures.decimal(ratio, places: 2) + " ×"
    let goal = Goal.speed(of: engines[0], against: peer, at: workload)
    return goal.map { "\(text) \($0.verdict(on: ratio))" } ?? text
  }
}

extension [Measurement] {
  func of(_ engine: EngineName) -> Measurement? {
    first { $0.engine == engine }
  }
}
