/// How fast each engine is, in Cambium's speed: bars to the left of the line are slower, to the right faster.
struct ThroughputPlot {
  let comparisons: [Comparison]
  let title: String
  let caption: [String]
  /// Whether parts and durability classes are mixed, so that each group has to say its own.
  var isMixed = false

  /// Nil where there is nobody to compare with.
  var drawing: SVGDrawing? {
    let groups = comparisons.compactMap(group)
    guard !groups.isEmpty else { return nil }
    let values = groups.flatMap { $0.bars.map(\.value) }
    return BarPlot(
      title: title, axisLabel: "speed, Cambium's = 1 (logarithmic)", caption: caption,
      kind: .logarithmic, range: .around(values + [0.5, 2], margin: 2.5),
      baseline: (1, "Cambium", Palette.color(of: "cambium")), groups: groups,
      limits: Set(comparisons.flatMap(\.lines).filter { $0.role == .limit }.map(\.engine))
    ).drawing
  }

  private func group(_ comparison: Comparison) -> BarPlot.Group? {
    let bars = comparison.lines.compactMap { line -> BarPlot.Bar? in
      guard let ratio = comparison.ratio(to: line) else { return nil }
      return BarPlot.Bar(
        engine: line.engine, value: 1 / ratio, label: "\(Figures.short(1 / ratio)) ×")
    }
    guard !bars.isEmpty else { return nil }
    let key = comparison.key
    return BarPlot.Group(
      label: isMixed ? "\(key.part): \(key.workload)" : key.workload,
      detail: isMixed ? "\(key.setting); \(key.durability)" : key.setting, bars: bars)
  }
}

extension ThroughputPlot {
  /// One of the workloads that stand for the others, and one for each part and durability class.
  static func plots(of results: MeasuredResults) -> [Plot] {
    let source = results.plotSource
    let headlines = ThroughputPlot(
      comparisons: Headline.comparisons(in: results),
      title: "Speed by workload and engine, at a glance",
      caption: [
        "Each workload in one setting, with its durability class behind it. Medians, measured side by side.",
        source,
      ], isMixed: true)
    let all = results.parts.flatMap { part in
      let comparisons = results.comparisons(of: part)
      return comparisons.map(\.key.durability).withoutRepetition.map { durability in
        plot(part, durability, comparisons.filter { $0.key.durability == durability }, source)
      }
    }
    let first = headlines.drawing.map {
      Plot(["throughput"], title: headlines.title, drawing: $0)
    }
    return ([first] + all).compactMap { $0 }
  }

  private static func plot(
    _ part: String, _ durability: String, _ comparisons: [Comparison], _ source: String
  ) -> Plot? {
    let plot = ThroughputPlot(
      comparisons: comparisons, title: "\(part): speed by workload and engine, \(durability)",
      caption: ["Durability class: \(durability). Medians, measured side by side.", source])
    return plot.drawing.map {
      Plot(["throughput", part, durability], title: plot.title, drawing: $0)
    }
  }
}

extension MeasuredResults {
  /// On what it was measured, in one line.
  var plotSource: String {
    runs.last.map {
      "\($0.machine.processor), \($0.machine.coreCount) cores, \($0.machine.fileSystem); Cambium"
        + " \($0.versions.commit), \($0.date)" + ($0.isQuick ? "; a quick run" : "")
    } ?? "machine not recorded"
  }
}
