/// The longest times of shares of the commits, by engine.
struct LatencyPlot {
  let comparison: Comparison
  let source: String

  private static let shares = ["p50", "p90", "p99", "p99.9"]

  var plot: Plot? {
    let key = comparison.key
    let lines = comparison.lines.compactMap(line)
    guard !lines.isEmpty else { return nil }
    let title = "\(WorkloadTitles.workload(key)): latency, \(key.durability)"
    let plot = LinePlot(
      title: title, subtitle: key.setting,
      caption: [
        "Durability class: \(key.durability). p99: 99 of 100 took no longer. Medians of the rounds.",
        source,
      ],
      panels: [
        LinePanel(horizontal: Self.axis, verticalLabel: "µs (logarithmic)", lines: lines)
      ])
    return Plot(
      ["latency", key.workload, key.setting, key.durability],
      title: "\(title): \(key.setting)", drawing: plot.drawing)
  }

  private static var axis: LinePanel.Horizontal {
    LinePanel.Horizontal(
      label: "share of the operations", kind: .linear, range: -0.3...3.3,
      ticks: shares.enumerated().map { (Double($0.offset), $0.element) })
  }

  private func line(_ line: ResultLine) -> LinePanel.Line? {
    line.latency.map { latency in
      let times = [latency.p50, latency.p90, latency.p99, latency.p999]
      return LinePanel.Line(
        engine: line.engine, isLimit: line.role == .limit,
        points: times.enumerated().map { (x: Double($0.offset), y: $0.element / 1_000) })
    }
  }
}

extension LatencyPlot {
  static func plots(of results: MeasuredResults) -> [Plot] {
    // The plot over sizes has those of its part.
    results.comparisons.filter { $0.key.part != ScalePlot.part }.compactMap {
      LatencyPlot(comparison: $0, source: results.plotSource).plot
    }
  }
}
