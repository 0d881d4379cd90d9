import ArgumentParser
import BenchmarkReport

/// Loads and reads of an ordered map of byte strings.
struct TreeCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tree",
    abstract: "Loads and reads of an ordered map: keys to values of 100 bytes.",
    discussion: """
      Engines take turns in one process, on the same keys and values. Ratios are of the first \
      engine named to each of the others. A wrong answer of any engine ends the run with an error. \
      Lists are separated by commas.
      """)

  @Option(help: "How many entries.")
  var records = CommaList([1_000_000])

  @Option(help: "Which engines; with lmdb comes lmdb-sorted, for shuffled loads.")
  var engines = CommaList<EngineName>([.cambium, .lmdb, .sqlite])

  @Option(help: "Which keys.")
  var key = CommaList(KeyShape.allCases)

  @Option(help: "Which workloads.")
  var workloads = CommaList(Workload.allCases)

  @Option(help: "Point reads in a round; of ranges there are a tenth as many.")
  var reads = 1_000_000

  @OptionGroup var options: BenchmarkOptions

  func validate() throws {
    guard records.elements.allSatisfy({ 1...Int(UInt32.max) ~= $0 }) else {
      throw ValidationError("There must be between 1 and \(UInt32.max) records.")
    }
    guard reads > 0 else { throw ValidationError("There must be at least one read.") }
  }

  func run() throws {
    let scratch = try ScratchDirectory(in: options.directory)
    defer { scratch.remove() }
    let progress = Progress()
    defer { progress.clear() }

    show(ReportHeader(engines: allEngines, roundCount: options.rounds, seed: options.seed).lines)
    for count in records.elements {
      for shape in key.elements {
        progress.show("making \(count) entries with \(shape.rawValue) keys")
        let dataset = Dataset(shape, count: count, readCount: reads, seed: options.seed)
        var benchmark = TreeBenchmark(
          dataset: dataset, engines: allEngines, workloads: workloads.elements,
          roundCount: options.rounds, scratch: scratch, progress: progress)
        let results = try benchmark.run()
        progress.clear()
        show(results, of: dataset)
        try options.write(results.map(\.line))
      }
    }
  }

  /// Each engine once, with LMDB's second way to load beside it.
  private var allEngines: [EngineName] {
    var all: [EngineName] = []
    for engine in engines.elements {
      for engine in engine == .lmdb ? [.lmdb, .lmdbSorted] : [engine] where !all.contains(engine) {
        all.append(engine)
      }
    }
    return all
  }

  private func show(_ results: [Measurement], of dataset: Dataset) {
    let count = Figures.grouped(dataset.sorted.count)
    show(["", "\(dataset.shape.rawValue) keys, \(count) entries", ""])
    show(SpeedTable(measurements: results, engines: allEngines).lines)
    guard results.contains(where: \.workload.isLoad) else { return }
    show([""])
    show(SpaceTable(measurements: results, engines: allEngines).lines)
  }

  private func show(_ lines: [String]) {
    for line in lines { print(line) }
  }
}
