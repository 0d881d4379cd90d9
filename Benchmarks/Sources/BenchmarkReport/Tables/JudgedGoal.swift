/// A goal, and the figure that was reached.
struct JudgedGoal {
  let comparison: Comparison
  let goal: Goal
  /// The subject of the goal: `times lmdb`, `size on disk`.
  let subject: String
  /// Nil if it was not measured.
  let reached: Double?

  var isMissed: Bool { reached.map { !goal.isMet(by: $0) } ?? false }

  /// `≥ 3 times lmdb: met`, or the same in bold with the figure.
  var text: String {
    let goal = "\(goal.text) \(subject)"
    guard let reached else { return "\(goal): not measured" }
    return isMissed ? "\(goal): **missed, \(Figures.short(reached))**" : "\(goal): met"
  }
}

extension Comparison {
  /// The goals of all lines, Cambium's or whosever.
  var judgedGoals: [JudgedGoal] {
    lines.flatMap { line in
      line.goals.compactMap { goal in goal.goal.map { judged(goal, $0, of: line) } }
    }
  }

  private func judged(_ goal: ResultGoal, _ bound: Goal, of line: ResultLine) -> JudgedGoal {
    let peer = goal.peer.flatMap { self.line(of: $0) }
    if let name = goal.peer, peer == nil {
      return JudgedGoal(
        comparison: self, goal: bound, subject: "of \(name), \(goal.measure.rawValue)",
        reached: nil)
    }
    return JudgedGoal(
      comparison: self, goal: bound, subject: goal.subject(unit: line.unit),
      reached: reached(goal.measure, line, peer))
  }

  private func reached(
    _ measure: ResultGoal.Measure, _ line: ResultLine, _ peer: ResultLine?
  ) -> Double? {
    switch measure {
    case .figure:
      return peer.map { line.unit.ratio(of: line.figure, to: $0.figure) } ?? line.figure
    case .size:
      guard let size = line.bytesOnDisk, let other = peer.map(\.bytesOnDisk) ?? line.rawBytes else {
        return nil
      }
      return Double(size) / Double(other)
    case .memory:
      return line.anonymousGrowth.map { Double($0) / Double(1 << 20) }
    }
  }
}

extension ResultGoal {
  fileprivate func subject(unit: FigureUnit) -> String {
    switch (measure, peer) {
    case (.figure, let peer?): "× \(peer)"
    case (.figure, nil): unit.rawValue
    case (.size, let peer?): "× \(peer)'s size on disk"
    case (.size, nil): "× the data, on disk"
    case (.memory, _): "MiB of memory"
    }
  }
}
