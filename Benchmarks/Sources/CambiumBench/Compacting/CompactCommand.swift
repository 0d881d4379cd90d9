import ArgumentParser
import BenchmarkReport

/// Compactions, and copies without garbage.
struct CompactCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "compact",
    abstract: "Stores give back the room of half of their records, or are copied without it.",
    discussion: """
      Every method gets a store of its own, into which the same records were put in one transaction, and from which \
      half of them were removed, at random. The clock stops when its result would survive a power cut. The first \
      method named is compared with each of the others. Then commits are timed while Cambium compacts, and while it \
      does not. Lists are separated by commas.
      """)

  @Option(help: "How many records are put into a store; half of them are removed.")
  var records = 1_000_000

  @Option(help: "How many commits are timed, with and without a compaction under way; 0 for none.")
  var commits = 20_000

  @Option(help: "Which methods.")
  var methods = CommaList(CompactionMethod.allCases)

  @OptionGroup var options: BenchmarkOptions

  func validate() throws {
    guard records > 1, records <= Int(UInt32.max), commits >= 0 else {
      throw ValidationError("There must be at least two records.")
    }
  }

  func run() throws {
    let scratch = try ScratchDirectory(in: options.directory)
    defer { scratch.remove() }
    let progress = Progress()
    defer { progress.clear() }
    progress.show("making \(records) entries")
    let dataset = CommitDataset(.random, preload: 0, count: records, seed: options.seed)
    var benchmark = CompactionBenchmark(
      dataset: dataset, methods: methods.elements, roundCount: options.rounds, seed: options.seed,
      scratch: scratch, progress: progress)
    let report = CompactionReportLines(benchmark, seed: options.seed)
    for line in report.header { print(line) }
    try benchmark.run()
    progress.clear()
    for line in CompactionReportLines(benchmark, seed: options.seed).table { print(line) }
    try options.write(benchmark.lines)
    if commits > 0 { try timeCommits(dataset, in: scratch) }
  }

  private func timeCommits(_ dataset: CommitDataset, in scratch: ScratchDirectory) throws {
    let store = try scratch.makeDirectory("commits")
    defer { try? scratch.removeDirectory(store) }
    let engine = try CommitEngineName.cambium.makeEngine(
      directory: store,
      options: CommitOptions(
        durability: .durable, threadCount: 1, byteCount: dataset.byteCount,
        relaxedDelay: .milliseconds(100)))
    try engine.open()
    try engine.load(dataset.entries, arriving: .shuffled)
    try engine.settle()
    engine.close()
    let timed = try CommitsMeanwhile(in: store, dataset.entries, count: commits)
    try options.write([timed.line(records: records)])
    let ratio = timed.meanwhile.slowest / timed.without.slowest
    print(
      "", "Durable commits of one record, by one thread, p50 and p99 in µs:",
      "  without  \(micros(timed.without.half))  \(micros(timed.without.slowest))",
      "  while the store is compacted again and again  \(micros(timed.meanwhile.half))"
        + "  \(micros(timed.meanwhile.slowest)), p99 \(Figures.decimal(ratio, places: 2)) ×",
      separator: "\n")
  }

  private func micros(_ nanoseconds: Double) -> String {
    Figures.decimal(nanoseconds / 1_000, places: 1)
  }
}
