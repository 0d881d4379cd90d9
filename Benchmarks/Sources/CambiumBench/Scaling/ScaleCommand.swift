import ArgumentParser
import BenchmarkReport

/// Batches of random keys, by the number of records.
struct ScaleCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scale",
    abstract: "The costs of random keys as a store grows: batches of records into an empty store.",
    discussion: """
      Each number of records is a load of its own, of durable batches. Engines take turns in one process, on the same \
      keys and values. The first engine named is compared with each of the others. Lists are separated by commas.
      """)

  @Option(help: "How many records; 100000000 takes 30 GB of memory for its input.")
  var records = CommaList([100_000, 1_000_000, 10_000_000])

  @Option(help: "How many records a batch has.")
  var batch = 1_000

  @Option(help: "Which engines. At 10^7 records SQLite takes a quarter of an hour or more.")
  var engines = CommaList<CommitEngineName>(CommitEngineName.allCases)

  @OptionGroup var options: BenchmarkOptions

  func validate() throws {
    guard records.elements.allSatisfy({ 1...Int(UInt32.max) ~= $0 }) else {
      throw ValidationError("There must be between 1 and \(UInt32.max) records.")
    }
    guard batch > 0 else { throw ValidationError("There must be at least one record in a batch.") }
  }

  func run() throws {
    let scratch = try ScratchDirectory(in: options.directory)
    defer { scratch.remove() }
    let progress = Progress()
    defer { progress.clear() }
    let partakers = engines.elements.filter { $0.takesPart(in: .durable) }
    let report = CommitReport(
      part: "scale", engines: partakers, durability: .durable, options: options)
    report.showHeader()
    for count in records.elements {
      progress.show("making \(count) entries")
      let dataset = CommitDataset(.random, preload: 0, count: count, seed: options.seed)
      try report.run(
        CommitBenchmark(
          dataset: dataset, workload: .commits(threads: 1, batch: batch), durability: .durable,
          relaxedDelay: .zero, engines: partakers, roundCount: options.rounds, seed: options.seed,
          scratch: scratch, progress: progress),
        "\(Figures.grouped(count)) records with random keys, in transactions of \(batch)")
    }
  }
}
