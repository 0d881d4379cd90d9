/// The results of one part: a table for each durability class.
struct PartSection {
  let part: String
  let results: MeasuredResults

  private var comparisons: [Comparison] { results.comparisons(of: part) }

  var lines: [String] {
    ["## \(part)", ""] + problemLines
      + durabilities.flatMap { durability in
        section(durability, comparisons.filter { $0.key.durability == durability })
      }
  }

  private var durabilities: [String] {
    comparisons.map(\.key.durability).withoutRepetition
  }

  private var problemLines: [String] {
    results.problems.filter { $0.step.part == part }.flatMap {
      ["> **\($0.step.name) failed**: \($0.problem). Figures of it may be missing.", ""]
    }
  }

  private func section(_ durability: String, _ comparisons: [Comparison]) -> [String] {
    let table = FigureTable(comparisons: comparisons)
    return ["### \(part), durability: \(durability)", ""] + table.lines + [""]
      + promises(comparisons) + LatencyTable(comparisons: comparisons).lines
      + SpaceTable(comparisons: comparisons).lines
  }

  private func promises(_ comparisons: [Comparison]) -> [String] {
    let promises = comparisons.flatMap(\.lines).compactMap { line in
      line.promise.map { "- \(line.engine): \($0)" }
    }.withoutRepetition
    return promises.isEmpty ? [] : ["When a write returns:", ""] + promises + [""]
  }
}

extension [String] {
  /// Each once, where it came first.
  var withoutRepetition: [String] {
    var seen: Set<String> = []
    return filter { seen.insert($0).inserted }
  }
}
