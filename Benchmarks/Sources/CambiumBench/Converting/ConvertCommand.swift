import ArgumentParser
import BenchmarkReport
import FoundationEssentials

/// Files of others that become stores.
struct ConvertCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "convert",
    abstract: "A SQLite database and a CSV file imported by the command, against sqlite3.",
    discussion: """
      `cambium import` of a database of three tables with three indexes, against `sqlite3 .dump | sqlite3`, which writes all \
      of it into another; and of a CSV file into a type that a store has, against `.import` into the same table, with the \
      same key and indexes. Each is processes of its own, and the clock stops when they end, with all of it flushed. The \
      records are counted afterwards, and their quantities added up.
      """)

  @Option(help: "How many rows the database has, of all tables.")
  var rows = 5_100_000

  @Option(help: "How many lines the CSV file has.")
  var lines = 1_000_000

  @Option(help: "Which conversions.")
  var workloads = CommaList(Conversion.allCases)

  @Option(help: "The command; by default, the one built beside this program.")
  var command: String?

  @OptionGroup var options: BenchmarkOptions

  func validate() throws {
    guard rows >= 51, lines >= 1 else {
      throw ValidationError("There must be at least 51 rows and a line.")
    }
  }

  func run() throws {
    let scratch = try ScratchDirectory(in: options.directory)
    defer { scratch.remove() }
    let progress = Progress()
    defer { progress.clear() }
    progress.show("making \(rows) rows")
    let source = try ShopDatabase(rows: rows, lines: lines, in: scratch.makeDirectory("source"))
    let command = try self.command ?? Self.commandBesideThis()
    var table = TextTable(
      header: ["seconds", "cambium", "sqlite3", "to sqlite3", "MiB at most", "sqlite3's"])
    for workload in workloads.elements {
      var ends: [ConvertingEngine: [ConversionRound]] = [:]
      let engines = ConvertingEngine.allCases
      for round in 0..<options.rounds {
        for engine in round.isMultiple(of: 2) ? engines : engines.reversed() {
          progress.show("\(workload.rawValue), round \(round + 1): \(engine.rawValue)")
          let directory = try scratch.makeDirectory("target")
          ends[engine, default: []].append(
            try workload.round(of: engine, source, command: command, in: directory))
          try scratch.removeDirectory(directory)
        }
      }
      try options.write(engines.map { line(workload, $0, ends[$0, default: []]) })
      table.append(row(workload, ends))
    }
    progress.clear()
    print("Medians of \(options.rounds) rounds")
    for line in table.lines { print(line) }
  }

  /// The command in this program's directory, where both are built.
  private static func commandBesideThis() throws -> String {
    let own = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let path = own.prefix(upTo: own.lastIndex(of: "/") ?? own.startIndex) + "/cambium"
    guard FileManager.default.isExecutableFile(atPath: String(path)) else {
      throw ValidationError("\(path) is not there: build it, or name the command by --command.")
    }
    return String(path)
  }

  // MARK: Report

  private func count(_ workload: Conversion) -> Int {
    switch workload {
    case .database: rows
    case .csv: lines
    }
  }

  private func row(
    _ workload: Conversion, _ ends: [ConvertingEngine: [ConversionRound]]
  ) -> [String] {
    let (own, peer) = (ends[.cambium, default: []], ends[.sqlite, default: []])
    let (seconds, others) = (own.seconds, peer.seconds)
    return [
      "\(workload.rawValue), \(Figures.grouped(count(workload)))",
      Figures.decimal(seconds, places: 2), Figures.decimal(others, places: 2),
      "\(Figures.decimal(others / seconds, places: 2)) (\(Figures.decimal(workload.goal, places: 2)))",
      Figures.grouped(own.peakResident >> 20), Figures.grouped(peer.peakResident >> 20),
    ]
  }

  private func line(
    _ workload: Conversion, _ engine: ConvertingEngine, _ rounds: [ConversionRound]
  ) -> ResultLine {
    var line = ResultLine(
      part: "convert", workload: workload.rawValue,
      setting: "\(Figures.grouped(count(workload))) \(workload.unit)", engine: engine.rawValue,
      durability: "flushed", count: count(workload), rounds: rounds.count, seconds: rounds.seconds)
    line.peakResident = rounds.peakResident
    line.bytesOnDisk = rounds.last?.bytesOnDisk
    if engine == .cambium {
      line.goals = [
        ResultGoal(.atLeast(workload.goal), against: ConvertingEngine.sqlite.rawValue)
      ]
    }
    return line
  }
}

/// The program that makes a store of the file.
enum ConvertingEngine: String, CaseIterable {
  case cambium
  /// The shell, of the library's own version.
  case sqlite = "sqlite3"
}

/// One conversion, of processes that have ended.
struct ConversionRound {
  let seconds: Double
  /// Of the process that had most.
  let peakResident: Int
  let bytesOnDisk: Int
}

extension [ConversionRound] {
  fileprivate var seconds: Double { median(map(\.seconds)) }
  fileprivate var peakResident: Int { map(\.peakResident).max() ?? 0 }
}
