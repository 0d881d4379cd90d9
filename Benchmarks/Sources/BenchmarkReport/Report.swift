/// The report of one run, or several: text, and pictures for it.
public struct Report {
  private let results: MeasuredResults
  /// In the order in which the text shows them.
  public let plots: [Plot]

  public init(_ file: ReportFile) {
    results = MeasuredResults(file)
    plots =
      ThroughputPlot.plots(of: results)
      + [MigrationPlot(results: results).plot, ScalePlot(results: results).plot].compactMap { $0 }
      + LatencyPlot.plots(of: results)
  }

  /// True if every step ran, and to its end.
  public var isComplete: Bool { results.problems.isEmpty && results.unreadableCount == 0 }

  /// In Markdown; pictures are in files beside it.
  public var markdown: String {
    let lines =
      RunSection(results: results).lines + HeadlineTable(results: results).lines
      + plotLines(named: "throughput.svg") + LossSection(results: results).lines
      + GoalSection(results: results).lines
      + results.parts.flatMap { PartSection(part: $0, results: results).lines + plotLines(of: $0) }
      + plotSection
    return lines.joined(separator: "\n") + "\n"
  }

  private func plotLines(named name: String) -> [String] {
    plots.filter { $0.fileName == name }.flatMap { Self.lines(of: $0) }
  }

  /// Those of a part stand with its tables.
  private func plotLines(of part: String) -> [String] {
    plots.filter { $0.fileName.hasPrefix("throughput-\(part)-") }.flatMap { Self.lines(of: $0) }
  }

  private var plotSection: [String] {
    let others = plots.filter { !$0.fileName.hasPrefix("throughput") }
    return others.isEmpty ? [] : ["## Plots", ""] + others.flatMap { Self.lines(of: $0) }
  }

  private static func lines(of plot: Plot) -> [String] {
    ["![\(plot.title)](\(plot.fileName))", ""]
  }
}

extension ReportFile {
  /// The results, with the ratios to peers in Cambium's lines.
  public func withRatios() -> ReportFile {
    let comparisons = MeasuredResults(self).comparisons
    let lines = Dictionary(
      comparisons.flatMap { zip($0.lines, $0.linesWithRatios) }.map { ($0.identity, ($0, $1)) },
      uniquingKeysWith: { first, _ in first })
    var file = self
    file.entries = entries.map { entry in
      guard case .result(let line) = entry, let (old, new) = lines[line.identity], old == line
      else { return entry }
      return .result(new)
    }
    return file
  }
}

extension ResultLine {
  fileprivate var identity: [String] { [part, workload, setting, durability, engine] }
}
