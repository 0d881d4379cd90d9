import ArgumentParser
import BenchmarkReport

/// Commits by one thread or several.
struct CommitCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "commit",
    abstract: "Commits of new records, one by one or in batches, by one thread or several.",
    discussion: """
      Engines take turns in one process, on the same keys and values. The first engine named is \
      compared with each of the others. Beside durable commits, in each round, blocks are flushed \
      without any engine: the limit. Lists are separated by commas.
      """)

  @Option(help: "How many threads commit at once.")
  var threads = CommaList([1])

  @Option(help: "What a commit promises.")
  var durability = CommitDurability.durable

  @Option(help: "How many records are committed in a round.")
  var records = 10_000

  @Option(help: "How many records a transaction has.")
  var batch = CommaList([1])

  @Option(help: "Which keys.")
  var keys = CommitKeyOrder.random

  @Option(help: "How many records are in the store before.")
  var preload = 0

  @Option(
    help: "How long a relaxed commit may wait for its flush, in milliseconds, where one can say so."
  )
  var delay = 100

  @Option(help: "Which engines.")
  var engines = CommaList(CommitEngineName.allCases)

  @OptionGroup var options: BenchmarkOptions

  func validate() throws {
    guard records > 0, preload >= 0, records + preload <= Int(UInt32.max) else {
      throw ValidationError("There must be between 1 and \(UInt32.max) records.")
    }
    guard (threads.elements + batch.elements + [delay]).allSatisfy({ $0 > 0 }) else {
      throw ValidationError("Threads, batch and delay must be at least 1.")
    }
  }

  func run() throws {
    let scratch = try ScratchDirectory(in: options.directory)
    defer { scratch.remove() }
    let progress = Progress()
    defer { progress.clear() }
    let partakers = engines.elements.filter { $0.takesPart(in: durability) }
    let report = CommitReport(
      part: "commit", engines: partakers, durability: durability, options: options)
    report.showHeader()
    progress.show("making \(records + preload) entries")
    let dataset = CommitDataset(keys, preload: preload, count: records, seed: options.seed)
    for threadCount in threads.elements {
      for size in batch.elements {
        try report.run(
          CommitBenchmark(
            dataset: dataset, workload: .commits(threads: threadCount, batch: size),
            durability: durability, relaxedDelay: .milliseconds(delay), engines: partakers,
            roundCount: options.rounds, seed: options.seed, scratch: scratch, progress: progress),
          "\(Figures.grouped(records)) records, \(keys.rawValue) keys, into"
            + " \(Figures.grouped(preload)); \(threadCount) threads, \(size) records a transaction")
      }
    }
  }
}
