import Foundation
import Testing

@testable import BenchmarkReport

@Suite struct `A file of results` {
  private let entries: [ReportEntry] =
    [.run(.sample(steps: [PlannedStep("tree", ["tree", "--rounds", "1"])], isQuick: true))]
    + everything.map(ReportEntry.result)
    + [
      .outcome(
        StepOutcome(
          step: PlannedStep("tree", ["tree"]), seconds: 1.5, problem: "a\n\"b\"", peakResident: 7))
    ]

  @Test func `reads back as it was written`() throws {
    let file = ReportFile(entries)
    #expect(ReportFile(parsing: try file.text()) == file)
  }

  @Test func `has one line for each entry`() throws {
    #expect(try ReportFile(entries).text().split(separator: "\n").count == entries.count)
  }

  @Test func `that is torn keeps the lines before, and says so`() throws {
    let text = try ReportFile(entries).text()
    let torn = ReportFile(parsing: String(text.dropLast(20)))
    #expect(torn.entries == Array(entries.dropLast()))
    #expect(torn.unreadable == [entries.count])
    #expect(!Report(torn).isComplete)
    #expect(Report(torn).markdown.contains("1 lines of results could not be read"))
  }

  @Test func `with lines of no known kind is read as far as it goes`() {
    let file = ReportFile(parsing: "{\"kind\":\"news\"}\n\nno JSON\n")
    #expect(file.entries.isEmpty)
    #expect(file.unreadable == [1, 3])
  }

  @Test func `is added to, and made where there is none`() throws {
    let path = FileManager.default.temporaryDirectory.path + "/results-\(UUID()).jsonl"
    defer { try? FileManager.default.removeItem(atPath: path) }
    for entry in entries { try ReportFile.append([entry], to: path) }
    #expect(try ReportFile(contentsOf: path).entries == entries)
  }

  // MARK: Ratios

  @Test func `gets ratios into Cambium's lines, and nothing else changes`() throws {
    let lines = ReportFile(entries).withRatios().entries.compactMap { entry in
      if case .result(let line) = entry { line } else { nil }
    }
    #expect(lines[0].ratios == ["lmdb": 2, "sqlite": 4])
    #expect(lines.map { line in line.with { $0.ratios = [:] } } == everything)
    let others = lines.filter { $0.engine != "cambium" }
    #expect(others.allSatisfy { $0.ratios.isEmpty })
  }

  // MARK: Several runs

  @Test func `of several runs has the last one's comparison, whole`() {
    let runs: [[ResultLine]] = [
      [
        .sample("cambium", rate: 1), .sample("lmdb", rate: 1),
        .sample("cambium", rate: 7, workload: "kept"),
      ],
      [.sample("cambium", rate: 2), .sample("sqlite", rate: 1)],
    ]
    let results = MeasuredResults(
      ReportFile(runs.flatMap { [.run(.sample())] + $0.map(ReportEntry.result) }))
    #expect(results.comparisons.map(\.key.workload) == ["scan", "kept"])
    // LMDB's figure of another run is not compared with this run's.
    #expect(results.comparisons[0].lines.map(\.engine) == ["cambium", "sqlite"])
    #expect(results.comparisons[0].own?.figure == 2)
  }

  @Test func `of several runs knows that a step failed once and then did not`() {
    let step = PlannedStep("tree", ["tree"])
    let outcomes = ["signal 6", nil].map {
      ReportEntry.outcome(StepOutcome(step: step, seconds: 1, problem: $0, peakResident: 1))
    }
    let runs = outcomes.flatMap { [.run(.sample(steps: [step])), $0] }
    #expect(Report(ReportFile(runs)).isComplete)
    #expect(Report(ReportFile(runs)).markdown.contains("Merged of 2 runs"))
  }
}
