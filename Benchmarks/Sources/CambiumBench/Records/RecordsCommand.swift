import ArgumentParser
import BenchmarkReport

/// Records of eight fields.
struct RecordsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "records",
    abstract: "Records of eight fields: inserted, fetched, scanned, updated, deleted.",
    discussion: """
      Engines take turns in one process, on the same records. Ratios are of the first engine named \
      to each of the others. A wrong answer of any engine ends the run with an error. Lists are \
      separated by commas.
      """)

  @Option(help: "How many records.")
  var records = CommaList([100_000])

  @Option(
    help: "Indexes: none; two, on a date and a string; or three, also on an integer.")
  var indexes = CommaList([RecordIndexes.none, .two])

  @Option(help: "What a write promises.")
  var durability = CommaList(CommitDurability.allCases)

  @Option(help: "Which workloads.")
  var workloads = CommaList(RecordWorkload.allCases)

  @Option(help: "Which keys: UUIDs of version 4, or ones that grow, like those of version 7.")
  var keys = CommaList([CommitKeyOrder.random])

  @Option(help: "Which engines; grdb-rowid is grdb with an ordinary table.")
  var engines = CommaList<RecordEngineName>([.cambium, .grdb, .json])

  @Option(help: "How many records a transaction has.")
  var batch = 1_000

  @Option(help: "How many records are written one by one, at most.")
  var singles = 10_000

  @Option(help: "How many records are fetched in a round.")
  var fetches = 100_000

  @Option(help: "How many records are put into a folder of files, at most.")
  var folderMax = 10_000

  @Option(
    help: "How long a relaxed write may wait for its flush, in milliseconds, where one can say so.")
  var delay = 100

  @OptionGroup var options: BenchmarkOptions

  func validate() throws {
    guard records.elements.allSatisfy({ 2...Int(UInt32.max) ~= $0 }) else {
      throw ValidationError("There must be between 2 and \(UInt32.max) records.")
    }
    guard [batch, singles, fetches, delay].allSatisfy({ $0 > 0 }) else {
      throw ValidationError("Batch, singles, fetches and delay must be at least 1.")
    }
  }

  func run() throws {
    let scratch = try ScratchDirectory(in: options.directory)
    defer { scratch.remove() }
    let progress = Progress()
    defer { progress.clear() }
    showHeader()
    for count in records.elements {
      for order in keys.elements {
        progress.show("making \(count) records")
        let dataset = ItemDataset(order, count: count, fetches: fetches, seed: options.seed)
        for setting in settings {
          try run(dataset, setting, scratch, progress)
        }
      }
    }
  }

  private var settings: [RecordSetting] {
    indexes.elements.flatMap { indexes in
      durability.elements.map { durability in
        RecordSetting(
          durability: durability, indexes: indexes,
          size: RecordWorkloadSize(batch: batch, singles: singles),
          relaxedDelay: .milliseconds(delay))
      }
    }
  }

  private func run(
    _ dataset: ItemDataset, _ setting: RecordSetting, _ scratch: ScratchDirectory,
    _ progress: Progress
  ) throws {
    let partakers = engines.elements.filter {
      $0.takesPart(
        with: dataset.items.count, indexes: setting.indexes, folderMax: folderMax)
    }
    guard !partakers.isEmpty else { return }
    var benchmark = RecordBenchmark(
      dataset: dataset, setting: setting, engines: partakers, workloads: workloads.elements,
      roundCount: options.rounds, scratch: scratch, progress: progress)
    try benchmark.run()
    progress.clear()
    show(benchmark)
    try options.write(benchmark.lines)
  }

  // MARK: Report

  private func showHeader() {
    show([
      "\(Machine.processor), \(Machine.coreCount) cores, \(Figures.mebibytes(Machine.memory))"
        + ", Linux \(Machine.kernel)",
      engines.elements.map { "\($0.rawValue) \($0.version)" }.joined(separator: ", "),
      "Medians of \(options.rounds) rounds in which the engines take turns; seed \(options.seed). One thread.",
      "Each engine gets the same records, as Swift structs, and gives structs back; every answer is",
      "checked, and after each workload that writes, every byte of every record in the store opened anew.",
      "The clock of what writes stops when the store is closed and all debts are paid; the shares of the",
      "time before closing are in the order of the engines. Reads are from memory, after an untimed pass.",
      "CPU is the processor time of all threads, which changes less with other users of the machine.",
      "",
      "What a write promises:",
    ])
    for durability in durability.elements {
      show(
        engines.elements.map {
          "  \(durability.rawValue), \($0.rawValue): \($0.promise(of: durability))"
        })
    }
  }

  private func show(_ benchmark: RecordBenchmark) {
    let table = RecordTable(benchmark: benchmark)
    let setting = benchmark.setting
    show([
      "",
      "\(Figures.grouped(benchmark.dataset.items.count)) records,"
        + " \(benchmark.dataset.keyOrder.rawValue) keys, \(setting.indexes.text), \(setting.durability.rawValue)",
      "",
    ])
    show(table.speedLines)
    guard benchmark.workloads.contains(where: { $0 == .insertOnce || $0 == .insertBatches }) else {
      return
    }
    show([""])
    show(table.spaceLines)
  }

  private func show(_ lines: [String]) {
    for line in lines { print(line) }
  }
}
