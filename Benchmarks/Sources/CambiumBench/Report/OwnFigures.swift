import BenchmarkReport

/// Cambium's own figures, which no peer is compared with: a table, and lines.
struct OwnFigures {
  /// The command.
  let part: String
  let roundCount: Int
  private var rows: [[String]] = []
  private(set) var lines: [ResultLine] = []

  init(part: String, roundCount: Int) {
    self.part = part
    self.roundCount = roundCount
  }

  /// - Parameters:
  ///   - setting: The setting that the figure was taken in.
  ///   - durability: The promise to writers, if there are any.
  ///   - remark: The text after the figure.
  mutating func note(
    _ name: String, setting: String = "", _ figure: Double, _ unit: FigureUnit,
    durability: String, goal: Goal? = nil, remark: String = ""
  ) {
    var line = ResultLine(
      part: part, workload: name, setting: setting, engine: "cambium", durability: durability,
      rounds: roundCount, figure: figure, unit: unit)
    line.goals = goal.map { [ResultGoal($0)] } ?? []
    lines.append(line)
    rows.append([
      setting.isEmpty ? name : "\(name), \(setting)",
      "\(Figures.short(figure)) \(unit.rawValue)" + (remark.isEmpty ? "" : " (\(remark))"),
      goal.map { "\($0.text) \(unit.rawValue)" } ?? "",
      goal.map { $0.isMet(by: figure) ? "met" : "MISSED" } ?? "",
    ])
  }

  func show() {
    var table = TextTable(header: ["figure", "median", "goal", ""])
    for row in rows { table.append(row) }
    for line in table.lines { print(line) }
  }
}
