/// The most memory that was resident, by part and engine.
struct MemoryPlot {
  let results: MeasuredResults

  /// For parts whose engines' peaks are not told apart.
  private static let wholeProcess = "all in one process"

  var plot: Plot? {
    let groups = results.parts.compactMap(group)
    guard !groups.isEmpty else { return nil }
    let title = "Peak resident memory by part and engine"
    let most = groups.flatMap { $0.bars.map(\.value) }.max() ?? 1
    let plot = BarPlot(
      title: title, axisLabel: "MiB",
      caption: [
        "The most over all workloads of a part, with what the benchmark itself holds (keys, values) and pages of",
        "mapped files. \(Self.wholeProcess): where engines are not told apart, the whole process with all of them.",
        "Durability classes: all of the part. \(results.plotSource)",
      ], kind: .linear, range: 0...max(most, 1) * 1.1, baseline: (0, "", Palette.faint),
      groups: groups)
    return Plot(["memory"], title: title, drawing: plot.drawing)
  }

  private func group(_ part: String) -> BarPlot.Group? {
    let lines = results.comparisons(of: part).flatMap(\.lines)
    let bars = lines.map(\.engine).withoutRepetition.compactMap { engine in
      lines.filter { $0.engine == engine }.compactMap(\.peakResident).max().map {
        bar(engine, $0)
      }
    }
    if !bars.isEmpty { return BarPlot.Group(label: part, detail: "", bars: bars) }
    let peaks = results.outcomes.filter { $0.step.part == part }.map(\.peakResident)
    return peaks.max().map {
      BarPlot.Group(label: part, detail: "", bars: [bar(Self.wholeProcess, $0)])
    }
  }

  private func bar(_ engine: String, _ bytes: Int) -> BarPlot.Bar {
    BarPlot.Bar(
      engine: engine, value: Double(bytes) / Double(1 << 20), label: Figures.mebibytes(bytes))
  }
}
