/// The costs of random keys, by the number of records: a panel for each figure.
struct ScalePlot {
  static let part = "scale"

  let results: MeasuredResults

  /// A figure of a line; nil where it was not measured.
  private static let figures:
    [(title: String, unit: String, of: @Sendable (ResultLine) -> Double?)] = [
      ("Speed", "records a second", { $0.figure }),
      ("99 of 100 batches took no longer", "ms", { $0.latency.map { $0.p99 / 1e6 } }),
      ("999 of 1,000 batches took no longer", "ms", { $0.latency.map { $0.p999 / 1e6 } }),
      ("Written to the disk", "bytes for each byte", { $0.writtenForEachByte }),
      ("On disk at the end", "times the data", { $0.sizeOverData }),
      (
        "Memory asked for", "MiB",
        // Less than a MiB is as good as nothing.
        { $0.anonymousGrowth.map { max(1, Double($0) / Double(1 << 20)) } }
      ),
    ]

  /// Nil unless there are two sizes at least.
  var plot: Plot? {
    let comparisons = results.comparisons(of: Self.part).sorted {
      $0.recordCount < $1.recordCount
    }
    guard comparisons.count > 1, let key = comparisons.first?.key else { return nil }
    let title = "Random keys, as a store grows"
    let plot = LinePlot(
      title: title, subtitle: "batches of records with random keys into an empty store",
      caption: [
        "Durability class: \(key.durability), debts paid before the clock stops. All axes are logarithmic.",
        results.plotSource,
      ],
      panels: Self.figures.map { figure in
        LinePanel(
          title: figure.title, horizontal: .sizes(of: comparisons), verticalLabel: figure.unit,
          lines: comparisons.lines(figure.of))
      }.filter { !$0.lines.isEmpty })
    return Plot([Self.part], title: title, drawing: plot.drawing)
  }
}

extension LinePanel.Horizontal {
  /// The numbers of records that comparisons are of.
  static func sizes(of comparisons: [Comparison]) -> LinePanel.Horizontal {
    let sizes = comparisons.map { Double($0.recordCount) }
    return LinePanel.Horizontal(
      label: "records in the store (logarithmic)", kind: .logarithmic,
      range: .around(sizes, margin: 1.3), ticks: sizes.map { ($0, Figures.plain($0)) })
  }
}

extension Comparison {
  /// The most that any engine had.
  var recordCount: Int { lines.map(\.count).max() ?? 1 }
}

extension [Comparison] {
  /// A figure of each engine over the numbers of records.
  func lines(_ figure: (ResultLine) -> Double?) -> [LinePanel.Line] {
    flatMap { $0.lines.map(\.engine) }.withoutRepetition.compactMap { engine in
      let found = compactMap { comparison in
        comparison.line(of: engine).flatMap { line in
          figure(line).map { (x: Double(comparison.recordCount), y: $0, role: line.role) }
        }
      }
      guard !found.isEmpty else { return nil }
      return LinePanel.Line(
        engine: engine, isLimit: found.contains { $0.role == .limit },
        points: found.map { (x: $0.x, y: $0.y) })
    }
  }
}
