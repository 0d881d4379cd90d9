/// The facts before the figures: machine, versions, and missing results.
struct RunSection {
  let results: MeasuredResults

  var lines: [String] {
    ["# Benchmarks", ""] + results.runs.flatMap(describe) + mergeLines + problemLines + [
      "Figures are medians of the rounds, in which the engines take turns on the same data; every answer is",
      "checked. In brackets: how many times as good Cambium's figure is as that one, measured beside it; bold",
      "where a peer's is better.", "",
    ]
  }

  private func describe(_ run: RunDescription) -> [String] {
    let machine = run.machine
    let peers = run.versions.peers.sorted { $0.key < $1.key }
    return [
      "- Measured: \(run.date)" + (run.isQuick ? ", **quick**: smaller counts, and one round" : ""),
      "- Machine: \(machine.processor), \(machine.coreCount) cores,"
        + " \(Figures.mebibytes(machine.memory)) of memory; \(machine.fileSystem);"
        + " Linux \(machine.kernel)",
      "- Cambium: \(run.versions.commit); \(run.versions.swift)",
      "- Peers: " + peers.map { "\($0.key) \($0.value)" }.joined(separator: ", "),
      "- Seed: \(run.seed)", "",
    ] + quickWarning(run)
  }

  private func quickWarning(_ run: RunDescription) -> [String] {
    guard run.isQuick else { return [] }
    return [
      "> A quick run shows that everything works. Its stores are too small for folds, caches and disks to matter,",
      "> and goals are about larger ones: judge nothing by it.", "",
    ]
  }

  private var mergeLines: [String] {
    guard results.runs.count > 1 else { return [] }
    return [
      "Merged of \(results.runs.count) runs. What was measured in several is the last one's, all engines together.",
      "",
    ]
  }

  private var problemLines: [String] {
    var lines = results.problems.map { "> **\($0.step.name)** (\($0.step.part)): \($0.problem)" }
    if results.unreadableCount > 0 {
      lines.append("> \(results.unreadableCount) lines of results could not be read.")
    }
    guard !lines.isEmpty else { return [] }
    return ["> **Not everything was measured.**", ">"] + lines.flatMap { [$0, ">"] }.dropLast()
      + [""]
  }
}
