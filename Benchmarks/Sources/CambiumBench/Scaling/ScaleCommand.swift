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

  @Option(help: "How many records.")
  var records = CommaList([100_000, 1_000_000, 10_000_000])

  @Option(help: "How many records a batch has.")
  var batch = 1_000

  @Option(help: "Which engines.")
  var engines = CommaList<CommitEngineName>(CommitEngineName.allCases)

  @OptionGroup var options: BenchmarkOptions

  func validate() throws {
    guard records.elements.allSatisfy({ 1...Int(UInt32.max) ~= $0 }) else {
      throw ValidationError("There must be between 1 and \(UInt32.max) records.")
    }
    guard batch > 0 else { throw ValidationError("There must be at least one record in a batch.") }
  }

  func run() throws {
    try CommitReport.runLoads(
      part: "scale", engines: engines.elements, options: options,
      records.elements.map { count in
        Load(
          title: "\(Figures.grouped(count)) records with random keys, in transactions of \(batch)",
          keys: .random, records: count, workload: .commits(threads: 1, batch: batch))
      })
  }
}
