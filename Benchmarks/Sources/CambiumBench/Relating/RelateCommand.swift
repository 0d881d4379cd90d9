import ArgumentParser
import BenchmarkReport

/// Records that lead to one another.
struct RelateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "relate",
    abstract: "Checked references, reads along them, and deletions by rules, against GRDB.",
    discussion: """
      GRDB has foreign_keys = ON and indexes on its child keys; both engines write their log without flushing \
      it. Primary keys are integers, which are SQLite's row numbers. Ratios are of Cambium to GRDB, with their \
      goals in brackets.
      """)

  @Option(help: "How many books; a tenth as many authors.")
  var records = 1_000_000

  @OptionGroup var options: BenchmarkOptions

  func validate() throws {
    guard records >= 10_000 * (options.rounds + 1) else {
      throw ValidationError("Each round deletes 1,000 authors with ten books each.")
    }
  }

  func run() throws {
    let scratch = try ScratchDirectory(in: options.directory)
    defer { scratch.remove() }
    let progress = Progress()
    defer { progress.clear() }
    progress.show("making the library")
    let library = Library(bookCount: records, seed: options.seed)
    var table = TextTable(
      header: ["microseconds"] + RelateEngineName.allCases.map(\.rawValue) + ["to GRDB"])
    progress.show("insert")
    let (engines, seconds) = try insert(library, scratch)
    try report(.insert, seconds, count: records, &table)
    for workload in RelateWorkload.allCases where workload != .insert {
      progress.show(workload.rawValue)
      let count =
        switch workload {
        case .page: 5_000
        case .named: records / 100
        case .priced: records / 10
        default: 1_000
        }
      try report(workload, try measure(workload, engines), count: count, &table)
    }
    progress.clear()
    print(
      "\(Figures.grouped(records)) books, a record, medians of \(options.rounds) rounds, seed \(options.seed)"
    )
    for line in table.lines { print(line) }
  }

  /// Returns the engines of the last round, and the times of all rounds.
  private func insert(
    _ library: Library, _ scratch: ScratchDirectory
  ) throws -> ([RelateEngineName: any RelateEngine], [RelateEngineName: [Double]]) {
    var seconds: [RelateEngineName: [Double]] = [:]
    var engines: [RelateEngineName: any RelateEngine] = [:]
    for round in 0..<options.rounds {
      for name in RelateEngineName.allCases {
        engines[name] = nil
        let engine = try name.open(in: try scratch.makeDirectory("\(name.rawValue)-\(round)"))
        try engine.load(library)
        let start = ContinuousClock.now
        for first in stride(from: 0, to: library.books.count, by: 1_000) {
          try engine.insert(library.books[first..<min(first + 1_000, library.books.count)])
        }
        seconds[name, default: []].append((ContinuousClock.now - start) / .seconds(1))
        engines[name] = engine
      }
    }
    return (engines, seconds)
  }

  private func measure(
    _ workload: RelateWorkload, _ engines: [RelateEngineName: any RelateEngine]
  ) throws -> [RelateEngineName: [Double]] {
    var seconds: [RelateEngineName: [Double]] = [:]
    for round in 0...options.rounds {
      var answers: Set<Int> = []
      for name in RelateEngineName.allCases where name.takes(workload) {
        guard let engine = engines[name] else { continue }
        let start = ContinuousClock.now
        let count = try perform(workload, round, engine)
        // The first round only warms up.
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        if round > 0 { seconds[name, default: []].append(elapsed) }
        answers.insert(try workload.kind.map { try engine.countLeft($0) } ?? count)
      }
      guard answers.count == 1 else { throw ValidationError("\(workload.rawValue): \(answers)") }
    }
    return seconds
  }

  /// Returns the count.
  private func perform(
    _ workload: RelateWorkload, _ round: Int, _ engine: any RelateEngine
  ) throws -> Int {
    if let kind = workload.kind {
      let first = workload.firstID + 1_000 * round
      try engine.delete(kind, first..<first + 1_000)
      return 0
    }
    let authors = round * 1_000..<(round + 1) * 1_000
    var sum = 0
    switch workload {
    case .page:
      for number in 0..<100 { sum &+= try engine.page(from: (round * 100 + number) * 50).value }
    case .children: sum = try engine.books(of: authors, latest: nil).value
    case .latest: sum = try engine.books(of: authors, latest: 3).value
    case .named: sum = try engine.books(ofAuthorsNamed: "Author \(10 + round)").value
    case .priced: sum = try engine.authors(ofBooksAbove: 900 - round, count: 3).value
    default:
      for number in 0..<1_000 { sum += try engine.countReviews(of: number % Library.busyCritics) }
    }
    return sum
  }

  /// Adds a workload to the results and the table.
  private func report(
    _ workload: RelateWorkload, _ seconds: [RelateEngineName: [Double]], count: Int,
    _ table: inout TextTable
  ) throws {
    let medians = seconds.mapValues { median($0) }
    let names = RelateEngineName.allCases.filter { medians[$0] != nil }
    try options.write(
      names.map { name in
        var line = ResultLine(
          part: "relate", workload: workload.rawValue,
          setting: "\(Figures.grouped(records)) books", engine: name.rawValue,
          durability: workload.isReading ? "read" : "relaxed", count: count,
          rounds: options.rounds, seconds: medians[name] ?? 0)
        guard name == .cambium else { return line }
        if let goal = workload.goal {
          line.goals = [ResultGoal(.atLeast(goal), against: RelateEngineName.grdb.rawValue)]
        }
        return line
      })
    let goal = workload.goal.map { " (\(Figures.decimal($0, places: 1)))" } ?? ""
    let cells = RelateEngineName.allCases.map { name in
      medians[name].map { Figures.decimal($0 * 1e6 / Double(count), places: 2) } ?? "–"
    }
    let ratio = (medians[.grdb] ?? 0) / (medians[.cambium] ?? 1)
    table.append([workload.rawValue] + cells + [Figures.decimal(ratio, places: 2) + goal])
  }
}
