/// Records that a migration takes a second, by the number of records, with the limit of the disk.
struct MigrationPlot {
  let results: MeasuredResults

  /// The workload that was measured in the most sizes, if in two at least.
  private var comparisons: [Comparison] {
    let all = results.comparisons(of: "migrate")
    let groups = all.map(\.key.workload).withoutRepetition.map { workload in
      all.filter { $0.key.workload == workload }.sorted { $0.size < $1.size }
    }
    let most = groups.max { $0.count < $1.count } ?? []
    return most.count > 1 ? most : []
  }

  var plot: Plot? {
    let comparisons = comparisons
    guard let key = comparisons.first?.key else { return nil }
    let title = "\(WorkloadTitles.workload(key)): records a second"
    let plot = LinePlot(
      title: title, subtitle: "by the number of records in the store",
      horizontal: axis(comparisons.map(\.size)),
      verticalLabel: "records a second (logarithmic)",
      caption: [
        "Every record is rewritten; durability class: \(key.durability), debts paid before the clock stops.",
        "disk: writing as many bytes as Cambium's store has, in order, directly, and flushing them.",
        results.plotSource,
      ], lines: lines(comparisons))
    return Plot(["migration"], title: title, drawing: plot.drawing)
  }

  private func axis(_ sizes: [Double]) -> LinePlot.Horizontal {
    LinePlot.Horizontal(
      label: "records in the store (logarithmic)", kind: .logarithmic,
      range: .around(sizes, margin: 1.3),
      ticks: sizes.map { ($0, Figures.plain($0)) })
  }

  private func lines(_ comparisons: [Comparison]) -> [LinePlot.Line] {
    comparisons.flatMap { $0.lines.map(\.engine) }.withoutRepetition.map { engine in
      let found = comparisons.compactMap { comparison in
        comparison.line(of: engine).map { (comparison.size, $0) }
      }
      return LinePlot.Line(
        engine: engine, isLimit: found.contains { $0.1.role == .limit },
        points: found.map { (x: $0.0, y: $0.1.figure) })
    }
  }
}

extension Comparison {
  /// How many records are migrated.
  fileprivate var size: Double { Double(lines.map(\.count).max() ?? 1) }
}
