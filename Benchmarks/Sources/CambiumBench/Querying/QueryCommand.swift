import ArgumentParser
import BenchmarkReport

/// Queries on a million records.
struct QueryCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "query",
    abstract: "Queries by index, by scan, sorted, counted, added up, against GRDB and SQLite.",
    discussion: """
      All engines have the same records and the same indexes, and give Swift structs back; every answer \
      is compared. Ratios are of Cambium to each of the others, with the goal in brackets.
      """)

  @Option(help: "How many records.")
  var records = 1_000_000

  @Option(help: "Which workloads.")
  var workloads = CommaList(QueryWorkload.allCases)

  @Option(help: "Which engines.")
  var engines = CommaList(QueryEngineName.allCases)

  @OptionGroup var options: BenchmarkOptions

  func validate() throws {
    guard records > 0 else { throw ValidationError("There must be at least one record.") }
  }

  func run() throws {
    let scratch = try ScratchDirectory(in: options.directory)
    defer { scratch.remove() }
    let progress = Progress()
    defer { progress.clear() }
    progress.show("making \(records) records")
    var random = SplitMix64(seed: options.seed)
    let persons = (0..<records).map { Person.number($0, of: records, &random) }
    var opened: [(name: QueryEngineName, engine: any QueryEngine)] = []
    for name in engines.elements {
      progress.show("\(name.rawValue): loading")
      let engine = try name.open(in: try scratch.makeDirectory(name.rawValue))
      try engine.load(persons)
      opened.append((name, engine))
    }
    var table = TextTable(
      header: ["microseconds a query"] + opened.map(\.name.rawValue)
        + opened.dropFirst().map { "to \($0.name.rawValue)" })
    for workload in workloads.elements {
      progress.show(workload.rawValue)
      table.append(try measure(workload, opened))
    }
    progress.clear()
    print(
      "\(Figures.grouped(records)) records, medians of \(options.rounds) rounds, seed \(options.seed)"
    )
    for line in table.lines { print(line) }
  }

  private func measure(
    _ workload: QueryWorkload, _ opened: [(name: QueryEngineName, engine: any QueryEngine)]
  ) throws -> [String] {
    var seconds = [[Double]](repeating: [], count: opened.count)
    for round in 0...options.rounds {
      var answers: [QueryAnswer] = []
      for (place, entry) in opened.enumerated() {
        var numbers = SplitMix64(seed: options.seed &+ UInt64(round))
        var all = QueryAnswer()
        let start = ContinuousClock.now
        for _ in 0..<workload.repetitions {
          let number = Int(numbers.next() >> 1)
          let answer = try entry.engine.answer(workload, number, of: records)
          all.count += answer.count
          all.sum += answer.sum
        }
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        // The first round only warms up.
        if round > 0 { seconds[place].append(elapsed / Double(workload.repetitions)) }
        answers.append(all)
      }
      for answer in answers.dropFirst() where !answer.agrees(with: answers[0]) {
        throw ValidationError("\(workload.rawValue): \(answers)")
      }
    }
    try options.write(
      zip(opened, seconds).map { line(workload, $0.name, secondsPerQuery: median($1)) })
    let medians = seconds.map { median($0) * 1e6 }
    return [workload.rawValue] + medians.map { Figures.decimal($0, places: $0 < 100 ? 2 : 0) }
      + opened.indices.dropFirst().map { place in
        let goal = workload.goal(over: opened[place].name).map {
          " (\(Figures.decimal($0, places: 1)))"
        }
        return Figures.decimal(medians[place] / medians[0], places: 2) + (goal ?? "")
      }
  }

  private func line(
    _ workload: QueryWorkload, _ engine: QueryEngineName, secondsPerQuery: Double
  ) -> ResultLine {
    let count = workload.repetitions
    var line = ResultLine(
      part: "query", workload: workload.rawValue,
      setting: "\(Figures.grouped(records)) records", engine: engine.rawValue, durability: "read",
      count: count, rounds: options.rounds, seconds: secondsPerQuery * Double(count))
    if engine == .cambium {
      line.goals = QueryEngineName.allCases.compactMap { peer in
        workload.goal(over: peer).map { ResultGoal(.atLeast($0), against: peer.rawValue) }
      }
    }
    return line
  }
}

extension QueryAnswer {
  /// Sums of doubles depend on the order in which they are added.
  fileprivate func agrees(with other: QueryAnswer) -> Bool {
    count == other.count && abs(sum - other.sum) <= 1e-9 * max(abs(sum), 1)
  }
}

extension QueryEngineName {
  func open(in directory: String) throws -> any QueryEngine {
    switch self {
    case .cambium: try CambiumQueryEngine(directory: directory)
    case .grdb: try GRDBQueryEngine(directory: directory)
    case .sqlite: try SQLiteQueryEngine(directory: directory)
    }
  }
}
