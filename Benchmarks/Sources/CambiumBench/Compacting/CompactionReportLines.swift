import BenchmarkReport

/// The results of compactions, in words and as a table.
struct CompactionReportLines {
  private let benchmark: CompactionBenchmark
  private let seed: UInt64

  init(_ benchmark: CompactionBenchmark, seed: UInt64) {
    self.benchmark = benchmark
    self.seed = seed
  }

  var header: [String] {
    let engines = Set(benchmark.methods.map(\.engine)).sorted { $0.rawValue < $1.rawValue }
    return [
      "\(Machine.processor), \(Machine.coreCount) cores, \(Figures.mebibytes(Machine.memory))"
        + ", Linux \(Machine.kernel)",
      engines.map { "\($0.rawValue) \($0.version)" }.joined(separator: ", "),
      "Medians of \(benchmark.roundCount) rounds in which the methods take turns; seed \(seed).",
      "\(Figures.grouped(benchmark.dataset.entries.count)) records, keys of \(CommitKeyOrder.keyLength) bytes, values of"
        + " \(Dataset.valueLength), in any order; half of them removed. What became of it is opened, and its",
      "count and sampled values are checked. Speeds are of keys and values that are left; room is what the",
      "medium held more meanwhile, copies included.", "",
    ]
  }

  var table: [String] {
    var table = TextTable(
      header: [
        "method", "ms", "MiB a second", "before", "after", "of keys and values", "room",
        "anonymous growth", "first is",
      ])
    for measurement in benchmark.measurements { table.append(row(measurement)) }
    return table.lines
  }

  private func row(_ measurement: CompactionMeasurement) -> [String] {
    let first = benchmark.measurements[0]
    let ratio = measurement.seconds / first.seconds
    return [
      measurement.method.rawValue, Figures.decimal(measurement.seconds * 1_000, places: 0),
      Figures.decimal(measurement.bytesPerSecond / Double(1 << 20), places: 0),
      Figures.mebibytes(measurement.before), Figures.mebibytes(measurement.after),
      Figures.decimal(measurement.sizeShare, places: 3),
      Figures.mebibytes(measurement.roomNeeded), Figures.mebibytes(measurement.anonymousGrowth),
      measurement.method == first.method ? "–" : Figures.decimal(ratio, places: 2) + " ×",
    ]
  }
}
