import ArgumentParser
import BenchmarkReport
import FoundationEssentials

/// Everything, against all peers, as one report.
struct ReportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "report",
    abstract: "Runs every benchmark against all peers in turn, and writes a report.",
    discussion: """
      Each step runs in a process of its own, one after the other. A step that fails is stated in the report, and the \
      exit status is 1. The report is Markdown (report.md), with its lines (results.jsonl) and plots (SVG) beside it.
      """)

  @Flag(
    help: "Smaller counts and one round, in at most five minutes: to see that everything works.")
  var quick = false

  @Option(
    name: .customLong("from"),
    help: ArgumentHelp(
      "Measure nothing; make the report of a results.jsonl. Several are merged, the last one's lines first of all.",
      valueName: "file"))
  var sources: [String] = []

  @Option(
    name: .customLong("part"),
    help: ArgumentHelp(
      "Run only the steps of this command. May come several times.", valueName: "command"))
  var parts: [String] = []

  @Option(help: "Where to write the report.")
  var output = "Benchmarks/Results"

  @Option(
    help: ArgumentHelp(
      "A page to put the most important figures into, between its marks. Not of a quick run.",
      valueName: "file"))
  var readme: String?

  @Option(help: "What all keys, values and orders are made from.")
  var seed: UInt64 = 2026

  @Option(help: "Where to put the stores, for as long as the run lasts.")
  var directory = "."

  @Option(help: "Which version of Cambium this is, for the report.")
  var commit = "commit not known"

  @Option(help: "What compiled it, for the report.")
  var swift = "Swift, version not known"

  private var steps: [PlannedStep] {
    BenchmarkPlan.steps(isQuick: quick).filter { parts.isEmpty || parts.contains($0.part) }
  }

  func validate() throws {
    guard !steps.isEmpty else { throw ValidationError("No step is of these parts.") }
  }

  func run() throws {
    try FileManager.default.createDirectory(atPath: output, withIntermediateDirectories: true)
    let file = sources.isEmpty ? try measure() : try merge()
    let report = Report(file)
    try ReportFiles(directory: output).write(report, of: file)
    print("\(output)/report.md")
    if let readme, !quick { try putSummary(of: file, into: readme) }
    guard report.isComplete else { throw ExitCode(1) }
  }

  private func putSummary(of file: ReportFile, into path: String) throws {
    let page = try String(contentsOfFile: path, encoding: .utf8)
    guard let changed = SummaryTable(file).placed(in: page) else {
      throw ValidationError("\(path) has no place for figures.")
    }
    try Data(changed.utf8).write(to: URL(filePath: path), options: .atomic)
  }

  private func merge() throws -> ReportFile {
    let files = try sources.map { try ReportFile(contentsOf: $0) }
    return files.dropFirst().reduce(files[0]) { $0.followed(by: $1) }.withRatios()
  }

  // MARK: Measuring

  /// Results are on disk after each measurement, so that an interrupted run leaves its results.
  private func measure() throws -> ReportFile {
    let path = "\(output)/\(ReportFiles.results)"
    try ReportFile([.run(description)]).write(to: path)
    let end = quick ? ContinuousClock.now + .seconds(285) : nil
    for (index, step) in steps.enumerated() {
      printError(
        "\(index + 1) of \(steps.count): \(step.name): \(step.arguments.joined(separator: " "))")
      let outcome = try run(step, addingTo: path, until: end)
      if let problem = outcome.problem { printError("\(step.name) failed: \(problem)") }
      try ReportFile.append([.outcome(outcome)], to: path)
    }
    return try ReportFile(contentsOf: path).withRatios()
  }

  private func run(
    _ step: PlannedStep, addingTo path: String, until end: ContinuousClock.Instant?
  ) throws -> StepOutcome {
    if let end, ContinuousClock.now >= end {
      return StepOutcome(
        step: step, seconds: 0, problem: "was not begun: the time is over", peakResident: 0)
    }
    let arguments =
      ["cambium-bench"] + step.arguments
      + ["--seed", "\(seed)", "--directory", directory, "--json", path]
    let child = try ChildProcess.run(arguments, until: end)
    return StepOutcome(
      step: step, seconds: child.seconds, problem: child.problem, peakResident: child.peakResident)
  }

  private var description: RunDescription {
    RunDescription(
      date: Date.now.formatted(.iso8601), isQuick: quick, seed: seed,
      machine: Machine.description(of: directory),
      versions: SoftwareVersions(swift: swift, commit: commit, peers: Self.peerVersions),
      steps: steps)
  }

  private static var peerVersions: [String: String] {
    [
      "SQLite": CommitEngineName.sqlite.version, "LMDB": CommitEngineName.lmdb.version,
      "RocksDB": CommitEngineName.rocksdb.version, "GRDB": RecordEngineName.grdb.version,
      "zstd": StockZstd.version,
    ]
  }
}
