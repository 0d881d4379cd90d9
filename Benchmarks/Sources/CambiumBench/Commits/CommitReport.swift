import BenchmarkReport

/// A benchmark of writing to an empty store, with the title of its table.
struct Load {
  let title: String
  let keys: CommitKeyOrder
  let records: Int
  let workload: CommitWorkload
}

/// Runs benchmarks of writing and shows what comes of them.
struct CommitReport {
  /// The command.
  let part: String
  let engines: [CommitEngineName]
  let durability: CommitDurability
  let options: BenchmarkOptions

  /// Runs durable loads one after the other, each with entries of its own.
  ///
  /// - Parameters:
  ///   - part: The command.
  ///   - engines: Those asked for; of these, the ones that have durable commits take part.
  static func runLoads(
    part: String, engines: [CommitEngineName], options: BenchmarkOptions, _ loads: [Load]
  ) throws {
    let scratch = try ScratchDirectory(in: options.directory)
    defer { scratch.remove() }
    let progress = Progress()
    defer { progress.clear() }
    let partakers = engines.filter { $0.takesPart(in: .durable) }
    let report = CommitReport(
      part: part, engines: partakers, durability: .durable, options: options)
    report.showHeader()
    for load in loads {
      progress.show("making \(load.records) entries")
      let dataset = CommitDataset(load.keys, preload: 0, count: load.records, seed: options.seed)
      try report.run(
        CommitBenchmark(
          dataset: dataset, workload: load.workload, durability: .durable, relaxedDelay: .zero,
          engines: partakers, roundCount: options.rounds, seed: options.seed, scratch: scratch,
          progress: progress), load.title)
    }
  }

  func showHeader() {
    show([
      "\(Machine.processor), \(Machine.coreCount) cores, \(Figures.mebibytes(Machine.memory))"
        + ", Linux \(Machine.kernel)",
      engines.map { "\($0.rawValue) \($0.version)" }.joined(separator: ", "),
      "Medians of \(options.rounds) rounds in which the engines take turns; seed \(options.seed).",
      "Keys of \(CommitKeyOrder.keyLength) bytes, values of \(Dataset.valueLength). Each store is opened"
        + " again and its count and sampled values are checked.",
      "The clock stops when all debts are paid (settling): everything flushed, logs copied back,",
      "compactions done. Bytes written for each byte of keys and values: on device, by its own counter,",
      "whoever wrote, with the file system's journal; in calls, by this process, without what is written in",
      "maps; own count, of the engine's.", "",
      "What a commit promises (\(durability.rawValue)):",
    ])
    show(engines.map { "  \($0.rawValue): \($0.promise(of: durability))" })
  }

  func run(_ benchmark: CommitBenchmark, _ title: String) throws {
    var benchmark = benchmark
    let measurements = try benchmark.run()
    benchmark.progress.clear()
    let ordered = engines.compactMap { engine in measurements.first { $0.engine == engine } }
    show(["", title, ""])
    show(CommitTable(measurements: ordered, rawFlushes: benchmark.rawFlushes).lines)
    try options.write(benchmark.lines(ordered, part: part))
  }

  private func show(_ lines: [String]) {
    for line in lines { print(line) }
  }
}
