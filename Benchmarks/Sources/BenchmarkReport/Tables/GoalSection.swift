/// The goals that were missed, and how many there are.
struct GoalSection {
  let results: MeasuredResults

  var lines: [String] {
    let goals = results.comparisons.flatMap(\.judgedGoals)
    guard !goals.isEmpty else { return [] }
    let measured = goals.filter { $0.reached != nil }
    let missed = goals.filter(\.isMissed)
    return [
      "## Goals", "",
      "\(measured.count - missed.count) of \(measured.count) goals are met"
        + (measured.count < goals.count
          ? "; \(goals.count - measured.count) were not measured." : "."),
      "",
    ] + table(missed)
  }

  private func table(_ missed: [JudgedGoal]) -> [String] {
    guard !missed.isEmpty else { return [] }
    var table = MarkdownTable(
      ["missed: part", "workload", "setting", "durability", "goal", "reached"], wordColumns: 5)
    for goal in missed {
      let key = goal.comparison.key
      table.append([
        key.part, key.workload, key.setting, key.durability, "\(goal.goal.text) \(goal.subject)",
        goal.reached.map(Figures.short) ?? "",
      ])
    }
    return table.lines + [""]
  }
}
