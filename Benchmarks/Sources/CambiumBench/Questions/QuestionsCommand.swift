import ArgumentParser
import BenchmarkReport
import Cambium
import FoundationEssentials

/// The questions of the articles for users of SQL.
struct QuestionsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "questions",
    abstract: "The 79 questions of the articles for users of SQL, against SQLite.",
    discussion: """
      Both engines have the same records; SQLite has an index of each reference and of each field that has one in the store, \
      and statistics. Statements are those of the articles, prepared once. Both give rows of values back, which are compared. \
      The engines take turns; a question that takes less than 10 ms is put more than once in a round.
      """)

  @Option(help: "The share of the records that the databases have.")
  var share = 1.0

  @Option(help: "Which subjects: music, films, trade.")
  var subjects = CommaList(QuestionSubject.allCases)

  @Option(help: "Which questions, such as N1,S7. (default: all)")
  var questions: String?

  @OptionGroup var options: BenchmarkOptions

  func validate() throws {
    guard share > 0, share <= 10 else {
      throw ValidationError("The share is above 0, and at most 10.")
    }
  }

  func run() throws {
    let scratch = try ScratchDirectory(in: options.directory)
    defer { scratch.remove() }
    let progress = Progress()
    defer { progress.clear() }
    var results: [QuestionResult] = []
    for subject in subjects.elements {
      progress.show("\(subject.rawValue): loading")
      let pair = try QuestionPair(subject, share: share, scratch)
      defer { pair.close() }
      for question in subject.questions where isAsked(question) {
        progress.show(question.name)
        let result = try pair.measure(question, rounds: options.rounds)
        try options.write(lines(result, subject))
        results.append(result)
      }
    }
    progress.clear()
    try report(results)
  }

  private func isAsked(_ question: SQLQuestion) -> Bool {
    questions?.split(separator: ",").contains { $0 == question.name } ?? true
  }

  // MARK: Reporting

  private func lines(_ result: QuestionResult, _ subject: QuestionSubject) -> [ResultLine] {
    zip(["cambium", "sqlite"], [result.cambium, result.sqlite]).map { engine, seconds in
      var line = ResultLine(
        part: "questions", workload: result.question.name,
        setting: "\(subject.rawValue), \(Figures.short(share)) times the records", engine: engine,
        durability: "read", count: 1, rounds: options.rounds, seconds: seconds)
      if engine == "cambium" {
        line.goals = [ResultGoal(.atLeast(result.question.goal), against: "sqlite")]
      }
      return line
    }
  }

  private func report(_ results: [QuestionResult]) throws {
    var table = TextTable(header: ["question", "rows", "cambium ms", "sqlite ms", "times as fast"])
    for result in results {
      table.append([
        result.question.name + (result.question.isOneQuery ? "" : " (several)"),
        Figures.grouped(result.rowCount), Figures.decimal(result.cambium * 1e3, places: 3),
        Figures.decimal(result.sqlite * 1e3, places: 3), Figures.decimal(result.ratio, places: 2),
      ])
    }
    print("medians of \(options.rounds) rounds")
    for line in table.lines { print(line) }
    guard questions == nil, !results.isEmpty else { return }
    let ratios = results.map(\.ratio)
    let slow = results.filter { $0.ratio < 1 }.sorted { $0.ratio < $1.ratio }
    var figures = OwnFigures(part: "questions", roundCount: options.rounds)
    // Times as fast as SQLite, so that a report has them beside the questions.
    figures.note(
      "median", median(ratios), .times, durability: "read", goal: .atLeast(2))
    figures.note(
      "worst", ratios.min() ?? 0, .times, durability: "read", goal: .atLeast(1 / 3.0),
      remark: slow.first?.question.name ?? "")
    figures.show()
    try options.write(figures.lines)
    let single = results.filter(\.question.isOneQuery).count
    print("\(single) of \(results.count) are one query.")
    let names = slow.map { "\($0.question.name) \(Figures.decimal($0.ratio, places: 2))" }
    print(
      slow.isEmpty
        ? "None is slower than SQLite." : "Slower than SQLite: \(names.joined(separator: ", ")).")
  }
}

extension SQLQuestion {
  /// How many times as fast as SQLite it is to be.
  fileprivate var goal: Double {
    // Totals of all orders, and revenue by category over five tables.
    ["N1", "S7"].contains(name) ? 1 : 1 / 3.0
  }
}

/// The times of a question.
private struct QuestionResult {
  let question: SQLQuestion
  let rowCount: Int
  /// In seconds.
  let cambium: Double
  let sqlite: Double

  /// How many times as fast as SQLite Cambium is.
  var ratio: Double { sqlite / cambium }
}

// MARK: - Measuring

/// The records of a subject in both engines.
private struct QuestionPair {
  private let store: PersistentStore
  private let database: QuestionDatabase
  private let statements: [String: String]

  init(_ subject: QuestionSubject, share: Double, _ scratch: ScratchDirectory) throws {
    var options = StoreOptions()
    options.durability = .relaxed
    let path = try scratch.makeDirectory(subject.rawValue)
    let loaded = try PersistentStore(at: path, model: subject.model, options: options)
    try subject.insert(into: loaded, share: share)
    database = try QuestionDatabase(
      directory: try scratch.makeDirectory("\(subject.rawValue)-sqlite"), of: loaded)
    // Folded, as SQLite's log is copied back.
    try loaded.close()
    store = try PersistentStore(at: path, model: subject.model, options: options)
    let articles = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../../Sources/Cambium/Cambium.docc")
    statements =
      QuestionArticle(
        try String(
          contentsOf: articles.appending(path: "\(subject.article).md"), encoding: .utf8)
      ).statements
  }

  func close() { try? store.close() }

  func measure(_ question: SQLQuestion, rounds: Int) throws -> QuestionResult {
    guard let text = statements[question.name] else {
      throw ValidationError("The article has no statement for \(question.name).")
    }
    let statement = try database.prepare(text)
    // Warms up, too.
    let rows = try question.answer(store)
    try check(question, rows, try database.rows(statement))
    let ask: [() throws -> Int] = [
      { try question.answer(store).count }, { try database.rows(statement).count },
    ]
    let repetitions = try ask.map { ask in
      let seconds = try Self.seconds(1, ask)
      return seconds > 0.01 ? 1 : Swift.min(200, Int(0.01 / Swift.max(seconds, 1e-6)) + 1)
    }
    var seconds = [[Double]](repeating: [], count: ask.count)
    for _ in 0..<rounds {
      for place in ask.indices {
        seconds[place].append(try Self.seconds(repetitions[place], ask[place]))
      }
    }
    return QuestionResult(
      question: question, rowCount: rows.count, cambium: median(seconds[0]),
      sqlite: median(seconds[1]))
  }

  /// Returns how long an answer takes.
  private static func seconds(_ count: Int, _ answer: () throws -> Int) throws -> Double {
    var total = 0
    let start = ContinuousClock.now
    for _ in 0..<count { total &+= try answer() }
    let elapsed = (ContinuousClock.now - start) / .seconds(1)
    // Uses the answers, so that none is left out.
    guard total >= 0 else { throw ValidationError("There are too many rows.") }
    return elapsed / Double(count)
  }

  /// - Throws: `ValidationError` if the engines do not agree.
  private func check(
    _ question: SQLQuestion, _ rows: [[FieldValue]], _ expected: [[FieldValue]]
  ) throws {
    var cells = [rows, expected].map { rows in rows.map { $0.map(QuestionCell.compared) } }
    if question.isInAnyOrder {
      cells = cells.map { $0.sorted { $0.lexicographicallyPrecedes($1) } }
    }
    guard cells[0] != cells[1] else { return }
    let place = zip(cells[0], cells[1]).enumerated().first { $0.element.0 != $0.element.1 }
    let difference = place.map { "row \($0.offset): \($0.element.0), \($0.element.1)" } ?? ""
    throw ValidationError(
      "\(question.name): \(rows.count) rows, SQLite has \(expected.count). \(difference)")
  }
}
