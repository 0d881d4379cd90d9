/// The longest times of shares of the operations.
struct LatencyTable {
  let comparisons: [Comparison]

  var lines: [String] {
    var table = MarkdownTable(
      ["latency, µs", "setting", "engine", "p50", "p90", "p99", "p99.9"], wordColumns: 3)
    for comparison in comparisons {
      for line in comparison.lines {
        guard let latency = line.latency else { continue }
        table.append(
          [comparison.key.workload, comparison.key.setting, line.engine]
            + [latency.p50, latency.p90, latency.p99, latency.p999].map {
              Figures.short($0 / 1_000)
            })
      }
    }
    return table.isEmpty ? [] : table.lines + [""]
  }
}
