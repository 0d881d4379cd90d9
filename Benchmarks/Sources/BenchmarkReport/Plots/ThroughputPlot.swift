/// How fast each engine is, in figures: a group of bars for each workload.
struct ThroughputPlot {
  let title: String
  let caption: [String]
  /// Without the panels that have nothing to show.
  let panels: [SpeedPlot.Panel]

  init(title: String, caption: [String], panels: [SpeedPlot.Panel]) {
    self.title = title
    self.caption =
      caption + [
        "Longer is faster. The bars of a workload are to scale; each workload has its own."
      ]
    self.panels = panels.filter { !$0.groups.isEmpty }
  }

  /// `nil` if there is no peer to compare with.
  func plot(named words: [String]) -> Plot? {
    guard !panels.isEmpty else { return nil }
    let drawing = SpeedPlot(title: title, caption: caption, panels: panels).drawing
    return Plot(words, title: title, drawing: drawing)
  }
}

extension SpeedPlot.Group {
  /// `nil` if nothing is compared, or the figures are not speeds.
  init?(_ lines: [ResultLine], label: String, detail: String) {
    let own = lines.first { $0.role == .own }
    let bars = lines.filter { $0.unit.prefersMore && $0.unit == own?.unit }
    guard bars.contains(where: { $0.role != .own }) else { return nil }
    self.init(
      label: label, detail: detail,
      bars: bars.map {
        SpeedPlot.Bar(engine: $0.engine, role: $0.role, value: $0.figure, label: $0.figureText)
      })
  }
}

extension ThroughputPlot {
  /// The overview, and a plot for each part and durability class.
  static func plots(of results: MeasuredResults) -> [Plot] {
    let parts = results.parts.flatMap { part in
      let comparisons = results.comparisons(of: part)
      return comparisons.map(\.key.durability).withoutRepetition.map { durability in
        plot(
          part, durability, comparisons.filter { $0.key.durability == durability },
          results.plotSource)
      }
    }
    return ([overview(of: results)] + parts).compactMap { $0 }
  }

  private static func overview(of results: MeasuredResults) -> Plot? {
    ThroughputPlot(
      title: "Speed by workload and engine",
      caption: [
        "The durability class is named last in each second line. Medians, measured side by side.",
        results.plotSource,
      ],
      panels: Overview.panels.map { panel in
        SpeedPlot.Panel(
          title: panel.title,
          groups: panel.workloads.compactMap { workload in
            workload.comparison(in: results).flatMap {
              SpeedPlot.Group(
                $0.withoutLimits, label: workload.label,
                detail: "\($0.key.setting); \($0.key.durability)")
            }
          })
      }
    ).plot(named: ["throughput"])
  }

  /// In two columns if there are many workloads.
  private static func plot(
    _ part: String, _ durability: String, _ comparisons: [Comparison], _ source: String
  ) -> Plot? {
    let groups = comparisons.compactMap {
      SpeedPlot.Group(
        $0.lines, label: WorkloadTitles.workload($0.key), detail: $0.key.setting)
    }
    let middle = groups.count > 3 ? (groups.count + 1) / 2 : groups.count
    return ThroughputPlot(
      title: "\(WorkloadTitles.part(part)): speed by engine, \(durability)",
      caption: ["Durability class: \(durability). Medians, measured side by side.", source],
      panels: [groups[..<middle], groups[middle...]].map {
        SpeedPlot.Panel(title: "", groups: Array($0))
      }
    ).plot(named: ["throughput", part, durability])
  }
}

extension Comparison {
  /// The disk is so much faster than any engine that beside it these look alike.
  fileprivate var withoutLimits: [ResultLine] { lines.filter { $0.role != .limit } }
}

extension MeasuredResults {
  /// The machine that it was measured on, in one line.
  var plotSource: String {
    runs.last.map {
      "\($0.machine.processor), \($0.machine.coreCount) cores, \($0.machine.fileSystem); Cambium"
        + " \($0.versions.commit), \($0.date)" + ($0.isQuick ? "; a quick run" : "")
    } ?? "machine not recorded"
  }
}
