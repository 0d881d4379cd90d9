import BenchmarkReport

/// The facts before the figures: the machine, the versions, and the compared engines.
struct ReportHeader {
  let engines: [EngineName]
  let roundCount: Int
  let seed: UInt64

  var lines: [String] {
    [
      "\(Machine.processor), \(Machine.coreCount) cores, \(Figures.mebibytes(Machine.memory))"
        + ", Linux \(Machine.kernel)",
      engines.map { "\($0.rawValue) \($0.version)" }.joined(separator: ", "),
      "Medians of \(roundCount) rounds in which the engines take turns; seed \(seed). One thread.",
      "Each engine gets the same keys and values of \(Dataset.valueLength) bytes; every answer is "
        + "checked.",
      "Loads are flushed to the medium before the clock stops (durability: flushed).",
      "Reads (durability: read) are in random order from a store loaded in order, with the file in",
      "the page cache, after an untimed pass; first point reads: without one, and with opening.",
      "Peak resident memory counts the input and pages of mapped files; anonymous growth is what an",
      "engine itself asked for.",
    ]
  }
}
