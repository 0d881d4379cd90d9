import ArgumentParser

/// The cost of observers for writers: Cambium's own figures, against the goals.
struct ObserveCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "observe",
    abstract: "What observers cost a commit, and how soon they are told.",
    discussion: """
      Commits of one record are taken with and without observers, one after the other in turn, so that what \
      they differ by is what the observers cost.
      """)

  @Option(help: "How many records are in the store.")
  var records = 1_000_000

  @Option(help: "How many keys are observed at once.")
  var keys = 1_000

  @Option(help: "How many commits a figure is taken from.")
  var commits = 20_000

  @OptionGroup var options: BenchmarkOptions

  func validate() throws {
    guard records >= 1000, commits >= 100, (1...records).contains(keys) else {
      throw ValidationError(
        "There must be a thousand records, a hundred commits, and keys among the records.")
    }
  }

  func run() async throws {
    let scratch = try ScratchDirectory(in: options.directory)
    defer { scratch.remove() }
    var figures = try ObserveFigures(
      scratch: scratch, records: records, commits: commits, options: options)
    try await figures.measureQuery()
    try await figures.measureKeys(keys)
    try await figures.measureLatency()
    try figures.measureLooks()
    try figures.finish()
    figures.figures.show()
    try options.write(figures.figures.lines)
  }
}
