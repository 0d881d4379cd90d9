import ArgumentParser
import BenchmarkReport

/// Texts that are searched by words.
struct TextCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "text",
    abstract: "An index of words, built and queried, against SQLite's FTS5.",
    discussion: """
      Texts are made of 30,000 words by the seed, each as often as words of a language are (Zipf's law). \
      Both engines give Swift structs back, and every answer is compared. Ratios are of Cambium to SQLite, with \
      the goal in brackets.
      """)

  @Option(help: "How many texts.")
  var records = 100_000

  @Option(help: "Which workloads.")
  var workloads = CommaList(TextWorkload.allCases)

  @OptionGroup var options: BenchmarkOptions

  func validate() throws {
    guard records > 0 else { throw ValidationError("There must be at least one text.") }
  }

  func run() throws {
    let scratch = try ScratchDirectory(in: options.directory)
    defer { scratch.remove() }
    let progress = Progress()
    defer { progress.clear() }
    var random = SplitMix64(seed: options.seed)
    let vocabulary = Vocabulary()
    let texts = (0..<records).map { PackageText(id: $0, body: vocabulary.description(&random)) }
    progress.show("building")
    let (engines, seconds) = try build(texts, scratch)
    var table = TextTable(header: ["microseconds"] + TextEngineName.allCases.map(\.rawValue) + [""])
    try report("build", seconds, count: records, goal: 0.5, durability: "flushed", &table)
    for workload in workloads.elements {
      progress.show(workload.rawValue)
      let seconds = try measure(workload, engines, vocabulary)
      try report(
        workload.rawValue, seconds, count: workload.repetitions, goal: workload.goal,
        durability: "read", &table)
    }
    progress.clear()
    print(
      "\(Figures.grouped(records)) texts, a text or a query, medians of \(options.rounds) rounds, seed \(options.seed)"
    )
    for line in table.lines { print(line) }
  }

  /// Returns the engines of the last round, and the times of all rounds.
  private func build(
    _ texts: [PackageText], _ scratch: ScratchDirectory
  ) throws -> ([any TextEngine], [[Double]]) {
    var seconds = [[Double]](repeating: [], count: TextEngineName.allCases.count)
    var engines: [any TextEngine] = []
    for round in 0..<options.rounds {
      engines = []
      for (place, name) in TextEngineName.allCases.enumerated() {
        let engine = try name.open(in: try scratch.makeDirectory("\(name.rawValue)-\(round)"))
        let start = ContinuousClock.now
        try engine.load(texts)
        seconds[place].append((ContinuousClock.now - start) / .seconds(1))
        engines.append(engine)
      }
    }
    for engine in engines { try engine.settle() }
    return (engines, seconds)
  }

  private func measure(
    _ workload: TextWorkload, _ engines: [any TextEngine], _ vocabulary: Vocabulary
  ) throws -> [[Double]] {
    var seconds = [[Double]](repeating: [], count: engines.count)
    for round in 0...options.rounds {
      var random = SplitMix64(seed: options.seed &+ UInt64(round))
      let questions = (0..<workload.repetitions).map { _ in workload.words(vocabulary, &random) }
      var answers: [TextAnswer] = []
      for (place, engine) in engines.enumerated() {
        var all = TextAnswer()
        let start = ContinuousClock.now
        for words in questions {
          let answer = try engine.answer(workload, words)
          all.count += answer.count
          all.sum &+= answer.sum
        }
        // The first round only warms up.
        let elapsed = (ContinuousClock.now - start) / .seconds(1)
        if round > 0 { seconds[place].append(elapsed) }
        answers.append(all)
      }
      guard answers.allSatisfy({ $0 == answers[0] }) else {
        throw ValidationError("\(workload.rawValue): \(answers)")
      }
    }
    return seconds
  }

  /// Adds a workload to the results and the table.
  private func report(
    _ workload: String, _ seconds: [[Double]], count: Int, goal: Double?, durability: String,
    _ table: inout TextTable
  ) throws {
    let medians = seconds.map { median($0) }
    let lines = zip(TextEngineName.allCases, medians).map { engine, seconds in
      var line = ResultLine(
        part: "text", workload: workload, setting: "\(Figures.grouped(records)) texts",
        engine: engine.rawValue, durability: durability, count: count, rounds: options.rounds,
        seconds: seconds)
      if engine == .cambium, let goal {
        line.goals = [ResultGoal(.atLeast(goal), against: TextEngineName.sqlite.rawValue)]
      }
      return line
    }
    try options.write(lines)
    table.append(
      [workload]
        + medians.map { Figures.decimal($0 * 1e6 / Double(count), places: 2) }
        + [
          Figures.decimal(medians[1] / medians[0], places: 2)
            + (goal.map { " (\(Figures.decimal($0, places: 1)))" } ?? "")
        ])
  }
}

extension TextEngineName {
  func open(in directory: String) throws -> any TextEngine {
    switch self {
    case .cambium: try CambiumTextEngine(directory: directory)
    case .sqlite: try SQLiteTextEngine(directory: directory)
    }
  }
}
