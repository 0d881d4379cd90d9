import ArgumentParser
import BenchmarkReport

/// Loads and removals by transactions.
struct LoadCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "load",
    abstract:
      "Many records put into an empty store, in one transaction or in batches; or half of them removed.",
    discussion: """
      Engines take turns in one process, on the same keys and values. The first engine named is \
      compared with each of the others. Lists are separated by commas.
      """)

  enum Order: String, CaseIterable, ExpressibleByArgument {
    case sorted, shuffled
  }

  enum Transactions: String, CaseIterable, ExpressibleByArgument {
    case one, batches
  }

  @Option(help: "How many records.")
  var records = 1_000_000

  @Option(help: "In which order they come.")
  var order = CommaList(Order.allCases)

  @Option(help: "All in one transaction, or in batches, each of them durable.")
  var transactions = Transactions.one

  @Option(help: "How many records a batch has.")
  var batch = 1_000

  @Flag(help: "Remove half of the records, at random, in one transaction, instead of loading them.")
  var removal = false

  @Option(help: "Which engines.")
  var engines = CommaList<CommitEngineName>(CommitEngineName.allCases)

  @OptionGroup var options: BenchmarkOptions

  func validate() throws {
    guard 1...Int(UInt32.max) ~= records else {
      throw ValidationError("There must be between 1 and \(UInt32.max) records.")
    }
    guard batch > 0 else { throw ValidationError("There must be at least one record in a batch.") }
  }

  func run() throws {
    try CommitReport.runLoads(
      part: "load", engines: engines.elements, options: options,
      (removal ? [.shuffled] : order.elements).map { order in
        Load(
          title: title(order), keys: order == .sorted ? .ascending : .random, records: records,
          workload: workload(order))
      })
  }

  private func workload(_ order: Order) -> CommitWorkload {
    if removal { return .removal }
    if transactions == .batches { return .commits(threads: 1, batch: batch) }
    return .load(order == .sorted ? .sorted : .shuffled)
  }

  private func title(_ order: Order) -> String {
    let count = Figures.grouped(records)
    if removal { return "Removal of half of \(count) records, at random, in one transaction" }
    let how = transactions == .one ? "one transaction" : "transactions of \(batch)"
    return "Load of \(count) records, \(order.rawValue), in \(how)"
  }
}
