/// Records that a migration takes a second, by the number of records, with the limit of the disk.
struct MigrationPlot {
  let results: MeasuredResults

  /// The workload that was measured in the most sizes, if in two at least.
  private var comparisons: [Comparison] {
    let all = results.comparisons(of: "migrate")
    let groups = all.map(\.key.workload).withoutRepetition.map { workload in
      all.filter { $0.key.workload == workload }.sorted { $0.recordCount < $1.recordCount }
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
      caption: [
        "Every record is rewritten; durability class: \(key.durability), debts paid before the clock stops.",
        "disk: writing as many bytes as Cambium's store has, in order, directly, and flushing them.",
        results.plotSource,
      ],
      panels: [
        LinePanel(
          horizontal: .sizes(of: comparisons), verticalLabel: "records a second (logarithmic)",
          lines: comparisons.lines(\.figure))
      ])
    return Plot(["migration"], title: title, drawing: plot.drawing)
  }
}
