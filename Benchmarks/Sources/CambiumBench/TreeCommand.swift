import ArgumentParser

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

  @Option(help: "How often each workload is done; figures are medians.")
  var rounds = 5

  @Option(help: "Point reads in a round; of ranges there are a tenth as many.")
  var reads = 1_000_000

  @Option(help: "What all keys, values and orders are made from.")
  var seed: UInt64 = 2026

  @Option(help: "Where to put the stores, for as long as the run lasts.")
  var directory = "."

  @Option(help: "A file to write results to, one JSON object a line.")
  var json: String?

  func validate() throws {
    guard records.elements.allSatisfy({ 1...Int(UInt32.max) ~= $0 }) else {
      throw ValidationError("There must be between 1 and \(UInt32.max) records.")
    }
    guard rounds > 0, reads > 0 else {
      throw ValidationError("There must be at least one round and one read.")
    }
  }

  func run() throws {
    let scratch = try ScratchDirectory(in: directory)
    defer { scratch.remove() }
    let progress = Progress()
    defer { progress.clear() }

    show(ReportHeader(engines: allEngines, roundCount: rounds, seed: seed).lines)
    var measurements: [Measurement] = []
    for count in records.elements {
      for shape in key.elements {
        progress.show("making \(count) entries with \(shape.rawValue) keys")
        let dataset = Dataset(shape, count: count, readCount: reads, seed: seed)
        var benchmark = TreeBenchmark(
          dataset: dataset, engines: allEngines, workloads: workloads.elements,
          roundCount: rounds, scratch: scratch, progress: progress)
        let results = try benchmark.run()
        progress.clear()
        show(results, of: dataset)
        measurements += results
        // After each dataset, so that a run of hours that is interrupted leaves what it had.
        if let json { try ResultLine.write(measurements, to: json) }
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
