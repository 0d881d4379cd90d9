/// Figures side by side, each peer's with how many times as good Cambium's is.
struct FigureTable {
  let comparisons: [Comparison]

  private var engines: [String] {
    comparisons.flatMap { $0.lines.map(\.engine) }.withoutRepetition
  }

  private var hasGoals: Bool { comparisons.contains { !$0.judgedGoals.isEmpty } }

  var lines: [String] {
    var table = MarkdownTable(
      ["workload", "setting", "unit"] + engines + (hasGoals ? ["goals"] : []), wordColumns: 3)
    for comparison in comparisons { table.append(row(comparison)) }
    return table.lines
  }

  private func row(_ comparison: Comparison) -> [String] {
    let unit = comparison.own ?? comparison.lines.first
    let goals = comparison.judgedGoals.map(\.text).joined(separator: "; ")
    return [comparison.key.workload, comparison.key.setting, unit?.unit.rawValue ?? ""]
      + engines.map { engine in
        comparison.line(of: engine).map { comparison.cell($0, Figures.short($0.figure)) } ?? "–"
      } + (hasGoals ? [goals] : [])
  }
}
