import ArgumentParser

/// Figures for which no peer has one, or no fair one: Cambium's own numbers, against the goals.
struct EngineCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "engine",
    abstract: "What Cambium promises of itself: tasks, snapshots, reads beside writes, opening.",
    discussion: """
      Durable commits of tasks are compared with those of one thread in the same run. Reads beside \
      writes are compared with reads of the same store at rest, and reads through a level with those \
      without one.
      """)

  @Option(help: "How many records are in the store.")
  var records = 1_000_000

  @Option(help: "How many tasks commit at once.")
  var tasks = CommaList([16, 256])

  @Option(help: "How many records the tasks commit together.")
  var commits = 50_000

  @Option(help: "How many records are in the store that gets a level; 0 for none.")
  var levelRecords = 7_000_000

  @OptionGroup var options: BenchmarkOptions

  func validate() throws {
    guard records >= 1000, commits >= 1000, tasks.elements.allSatisfy({ $0 > 0 }) else {
      throw ValidationError("There must be a thousand records and commits, and a task.")
    }
  }

  func run() async throws {
    let scratch = try ScratchDirectory(in: options.directory)
    defer { scratch.remove() }
    var figures = EngineFigures(
      scratch: scratch, roundCount: options.rounds, seed: options.seed)
    try figures.measureEmptyStore()
    for count in tasks.elements {
      try await figures.measureTasks(count, commits: commits)
    }
    try figures.measureReads(records: records)
    try figures.measureOpening()
    if levelRecords > 0 { try figures.measureLevels(records: levelRecords) }
    figures.figures.show()
    try options.write(figures.figures.lines)
  }
}
