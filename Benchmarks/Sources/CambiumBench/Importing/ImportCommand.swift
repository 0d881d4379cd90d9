import ArgumentParser
import BenchmarkReport

/// Records that are imported over those that a store has.
struct ImportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "import",
    abstract: "Imports of records of which half are stored already, against SQLite.",
    discussion: """
      Cambium's importRecords(…), which finds each record by its key, against SQLite's INSERT … ON CONFLICT (id) DO UPDATE, \
      prepared, each in one transaction. Both get the same Swift structs of eight fields, in an order that is not that of \
      the keys. The clock stops when the store is closed and all debts are paid. Every byte of every record is compared \
      afterwards. Ratios are of Cambium to SQLite, with their goals in brackets; those of CPU are of the processor \
      time of all threads, which changes less with other users of the machine.
      """)

  @Option(help: "How many records are imported; half of them are stored before.")
  var records = 100_000

  @Option(
    help:
      "Indexes: none; two, on a date and a string; or three, also on an integer.")
  var indexes = CommaList([RecordIndexes.none, .two])

  @Option(help: "What the commit promises.")
  var durability = CommaList([CommitDurability.durable])

  @Option(help: "Whether the stored records change.")
  var workloads = CommaList(ImportWorkload.allCases)

  @Option(help: "Which engines.")
  var engines = CommaList(ImportEngineName.allCases)

  @OptionGroup var options: BenchmarkOptions

  func validate() throws {
    guard records >= 2 else { throw ValidationError("There must be at least two records.") }
  }

  func run() throws {
    let scratch = try ScratchDirectory(in: options.directory)
    defer { scratch.remove() }
    let progress = Progress()
    defer { progress.clear() }
    progress.show("making \(records) records")
    let dataset = ImportDataset(count: records, seed: options.seed)
    var table = TextTable(
      header: ["records a second"] + engines.elements.map(\.rawValue)
        + ["spread", "to SQLite", "CPU to SQLite"])
    for indexes in indexes.elements {
      for durability in durability.elements {
        let setting = RecordOptions(
          durability: durability, indexes: indexes, byteCount: dataset.byteCount,
          relaxedDelay: .milliseconds(100))
        for workload in workloads.elements {
          try measure(workload, setting, dataset, scratch, progress, &table)
        }
      }
    }
    progress.clear()
    print(
      "\(Figures.grouped(records)) records, half of them stored before; medians of \(options.rounds) rounds, seed \(options.seed)"
    )
    for line in table.lines { print(line) }
  }

  private func measure(
    _ workload: ImportWorkload, _ setting: RecordOptions, _ dataset: ImportDataset,
    _ scratch: ScratchDirectory, _ progress: Progress, _ table: inout TextTable
  ) throws {
    let names = engines.elements
    var rounds: [ImportEngineName: [ImportRound]] = [:]
    for number in 0..<options.rounds {
      let first = number % names.count
      for name in names[first...] + names[..<first] {
        progress.show("\(workload.rawValue), round \(number + 1): \(name.rawValue)")
        let directory = try scratch.makeDirectory(name.rawValue)
        rounds[name, default: []].append(
          try round(workload, name, setting, dataset, in: directory))
        try scratch.removeDirectory(directory)
      }
    }
    try report(workload, setting, rounds, &table)
  }

  private func round(
    _ workload: ImportWorkload, _ name: ImportEngineName, _ setting: RecordOptions,
    _ dataset: ImportDataset, in directory: String
  ) throws -> ImportRound {
    let engine = name.makeEngine(directory: directory, setting)
    try engine.open()
    try engine.insert(dataset.stored[...])
    try engine.close()
    try engine.open()
    let (round, processorSeconds) = try Round.measure(storeIn: directory) {
      let start = processorTime()
      try engine.importItems(workload.items(dataset), workload)
      try engine.close()
      return processorTime() - start
    }
    var digest = ItemDigest()
    try engine.open()
    try engine.scan { digest.addAll(of: $0) }
    try engine.close()
    guard digest == workload.expected(dataset) else {
      throw ValidationError("\(name.rawValue) gave a wrong answer: \(workload.rawValue)")
    }
    return ImportRound(round: round, processorSeconds: processorSeconds)
  }

  // MARK: Report

  /// Adds a workload to the results and the table.
  private func report(
    _ workload: ImportWorkload, _ setting: RecordOptions,
    _ rounds: [ImportEngineName: [ImportRound]], _ table: inout TextTable
  ) throws {
    let lines = engines.elements.map { name in
      line(workload, setting, name, rounds[name, default: []])
    }
    try options.write(lines)
    let seconds = rounds.mapValues { $0.seconds }
    let processor = rounds.mapValues { $0.processorSeconds }
    let cells = engines.elements.map { name in
      seconds[name].map { Figures.grouped(Int(Double(records) / $0)) } ?? "–"
    }
    func ratio(_ figures: [ImportEngineName: Double]) -> String? {
      guard let own = figures[.cambium], let other = figures[.sqlite] else { return nil }
      return Figures.decimal(other / own, places: 2)
    }
    let goal = Figures.decimal(ImportWorkload.goal, places: 1)
    table.append(
      ["\(workload.rawValue), \(setting.indexes.text), \(setting.durability.rawValue)"] + cells
        + [
          spread(rounds), ratio(seconds).map { "\($0) (\(goal))" } ?? "–", ratio(processor) ?? "–",
        ])
  }

  /// The least and the most that a round took, over its engine's median.
  private func spread(_ rounds: [ImportEngineName: [ImportRound]]) -> String {
    let shares = rounds.values.flatMap { rounds in
      let middle = rounds.seconds
      return rounds.map { $0.round.seconds / middle }
    }
    return
      "\(Figures.decimal(shares.min() ?? 1, places: 2))…\(Figures.decimal(shares.max() ?? 1, places: 2))"
  }

  private func line(
    _ workload: ImportWorkload, _ setting: RecordOptions, _ name: ImportEngineName,
    _ rounds: [ImportRound]
  ) -> ResultLine {
    var line = ResultLine(
      part: "import", workload: workload.rawValue,
      setting: "\(Figures.grouped(records)) records, \(setting.indexes.text)",
      engine: name.rawValue,
      durability: setting.durability.rawValue, count: records, rounds: rounds.count,
      seconds: rounds.seconds)
    line.promise = name.promise(of: setting.durability)
    line.peakResident = rounds.map(\.round.peakResident).max()
    line.anonymousGrowth = rounds.map(\.round.anonymousGrowth).max()
    line.bytesOnDisk = rounds.last?.round.bytesOnDisk
    line.details = ["cpu_seconds": rounds.processorSeconds]
    if name == .cambium {
      line.goals = [
        ResultGoal(.atLeast(ImportWorkload.goal), against: ImportEngineName.sqlite.rawValue)
      ]
    }
    return line
  }
}

/// One import by one engine.
struct ImportRound {
  let round: Round
  /// The processor time of all threads.
  let processorSeconds: Double
}

extension [ImportRound] {
  /// The medians.
  fileprivate var seconds: Double { median(map(\.round.seconds)) }
  fileprivate var processorSeconds: Double { median(map(\.processorSeconds)) }
}
