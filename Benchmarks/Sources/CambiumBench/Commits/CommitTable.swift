import BenchmarkReport

/// Medians side by side, and how many times as fast as each peer the first engine is.
struct CommitTable {
  let measurements: [CommitMeasurement]
  /// Of raw flushes, by round; empty if nothing is compared with them.
  let rawFlushes: [[Int]]

  var lines: [String] {
    var table = TextTable(
      header: [
        "engine", "µs a record", "records a second", "p50 µs", "p99 µs", "× raw flush",
        "settling ms", "spread", "on device", "in calls", "own count", "first is",
      ])
    for measurement in measurements { table.append(row(measurement)) }
    return rawFlushLines + table.lines
  }

  private var rawFlush: Double? {
    let medians = rawFlushes.map { Double($0[$0.count / 2]) }
    return medians.isEmpty ? nil : median(medians)
  }

  private var rawFlushLines: [String] {
    guard let rawFlush else { return [] }
    let slowest = median(rawFlushes.map { Double($0[$0.count * 99 / 100]) })
    return [
      "Raw flush of a written block: \(micros(rawFlush)) µs, p99 \(micros(slowest)) µs.", "",
    ]
  }

  private func row(_ measurement: CommitMeasurement) -> [String] {
    let half = measurement.latency(0.5)
    let over = half.flatMap { half in rawFlush.map { half / $0 } }
    let spread = measurement.spread
    return [
      measurement.engine.rawValue, micros(measurement.nanosecondsPerRecord),
      Figures.grouped(Int(measurement.recordsPerSecond)), half.map(micros) ?? "–",
      measurement.latency(0.99).map(micros) ?? "–",
      decimal(over),
      Figures.decimal(measurement.settlingSeconds * 1_000, places: 1),
      "\(Figures.decimal(spread.lowerBound, places: 2))…"
        + Figures.decimal(spread.upperBound, places: 2),
      decimal(measurement.amplification.onDevice), decimal(measurement.amplification.inCalls),
      decimal(measurement.amplification.own),
      ratio(measurement),
    ]
  }

  private func ratio(_ measurement: CommitMeasurement) -> String {
    guard let first = measurements.first, first.engine != measurement.engine else { return "–" }
    let ratio = first.recordsPerSecond / measurement.recordsPerSecond
    return Figures.decimal(ratio, places: 2) + " ×"
  }

  private func decimal(_ value: Double?) -> String {
    value.map { Figures.decimal($0, places: 2) } ?? "–"
  }

  private func micros(_ nanoseconds: Double) -> String {
    Figures.decimal(nanoseconds / 1_000, places: nanoseconds < 100_000 ? 2 : 0)
  }
}
