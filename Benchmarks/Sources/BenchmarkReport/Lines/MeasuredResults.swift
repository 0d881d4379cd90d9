/// All that one run measured, or several.
///
/// Ratios are only of figures that were measured side by side, so where several runs have the same comparison it is the
/// last one's, whole.
struct MeasuredResults {
  private(set) var runs: [RunDescription] = []
  private(set) var comparisons: [Comparison] = []
  /// The last of each step.
  private(set) var outcomes: [StepOutcome] = []
  let unreadableCount: Int

  /// The run that a comparison is of, by its place in `comparisons`.
  private var runIndexes: [Int] = []
  private var places: [Comparison.Key: Int] = [:]

  init(_ file: ReportFile) {
    unreadableCount = file.unreadable.count
    for entry in file.entries {
      switch entry {
      case .run(let run): runs.append(run)
      case .result(let line): put(line)
      case .outcome(let outcome): put(outcome)
      }
    }
  }

  private mutating func put(_ line: ResultLine) {
    let key = Comparison.Key(line)
    guard let place = places[key] else {
      places[key] = comparisons.count
      runIndexes.append(runs.count)
      comparisons.append(Comparison(key))
      comparisons[comparisons.count - 1].put(line)
      return
    }
    if runIndexes[place] != runs.count {
      comparisons[place] = Comparison(key)
      runIndexes[place] = runs.count
    }
    comparisons[place].put(line)
  }

  private mutating func put(_ outcome: StepOutcome) {
    outcomes.removeAll { $0.step.name == outcome.step.name }
    outcomes.append(outcome)
  }

  /// The parts in the order in which they were to run, or did.
  var parts: [String] {
    var parts: [String] = []
    let all = runs.flatMap(\.steps).map(\.part) + comparisons.map(\.key.part)
    for part in all where !parts.contains(part) { parts.append(part) }
    return parts
  }

  func comparisons(of part: String) -> [Comparison] {
    comparisons.filter { $0.key.part == part }
  }

  // MARK: Missing results

  /// The steps that failed, or whose end is unknown, each with the known facts.
  var problems: [(step: PlannedStep, problem: String)] {
    var seen: Set<String> = []
    let planned = runs.flatMap(\.steps) + outcomes.map(\.step)
    return planned.filter { seen.insert($0.name).inserted }.compactMap { step in
      guard let outcome = outcomes.first(where: { $0.step.name == step.name }) else {
        return (step, "did not run to its end")
      }
      return outcome.problem.map { (outcome.step, $0) }
    }
  }
}
