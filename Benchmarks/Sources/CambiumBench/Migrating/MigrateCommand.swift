import ArgumentParser
import BenchmarkReport

/// Migrations from one version to another.
struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Changes of a schema, against SQLite doing the same its best way, and by copy.",
    discussion: """
      Every change is durable when the clock stops; SQLite's log is then in its database, and Cambium's \
      migration is published. Changes that SQLite makes without touching a row are shown as they are. Ratios are \
      of Cambium to SQLite, with their goals in brackets.
      """)

  @Option(help: "How many records.")
  var records = CommaList([1_000_000])

  @Option(help: "Which workloads.")
  var workloads = CommaList(MigrateWorkload.allCases)

  @OptionGroup var options: BenchmarkOptions

  func validate() throws {
    guard records.elements.allSatisfy({ $0 > 0 }) else {
      throw ValidationError("There must be at least one record.")
    }
  }

  func run() throws {
    let scratch = try ScratchDirectory(in: options.directory)
    defer { scratch.remove() }
    let progress = Progress()
    defer { progress.clear() }
    for count in records.elements {
      let benchmark = try MigrateBenchmark(
        records: count, options: options, scratch: scratch, progress: progress)
      var table = MigrateTable()
      for workload in workloads.elements {
        let measurement = try benchmark.measure(workload)
        table.append(measurement)
        try options.write(measurement.lines)
      }
      let scan = workloads.elements.contains(.add) ? try benchmark.measureScan() : nil
      if let scan { try options.write([scan.line]) }
      try benchmark.finish()
      progress.clear()
      print(
        "\(Figures.grouped(count)) records of 8 fields, medians of \(options.rounds) rounds, seed"
          + " \(options.seed)")
      for line in table.lines { print(line) }
      if let scan { print(scan.text) }
    }
  }
}
