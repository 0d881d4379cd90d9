import Foundation
import Testing

@testable import BenchmarkReport

@Suite struct `The figures of README` {
  private func file(_ lines: [ResultLine]) -> ReportFile {
    ReportFile([.run(.sample())] + lines.map(ReportEntry.result)).withRatios()
  }

  @Test
  func `are lines of the report, the fastest peer first, in bold what is better than Cambium's`() {
    let lines = ["cambium": 100.0, "lmdb": 50, "sqlite": 200].map { engine, rate in
      ResultLine.sample(
        engine, rate: rate, part: "commit", workload: "commit",
        setting: "16 threads, 1 a transaction", durability: "durable")
    }.sorted { $0.engine < $1.engine }
    #expect(
      SummaryTable(file(lines)).lines == [
        "| a second | Cambium | peers |", "| --- | ---: | ---: |",
        "| durable commits, 16 threads | 100 | **SQLite 200 (0.500 ×)**; LMDB 50.0 (2.00 ×) |",
      ])
  }

  @Test func `take the place of those that were between the marks, and nothing else`() {
    let table = SummaryTable(file([]))
    let page = "before\n<!-- figures of Scripts/bench -->\nold\n<!-- end -->\nafter <!-- end -->\n"
    let header = "| a second | Cambium | peers |\n| --- | ---: | ---: |\n"
    #expect(
      table.placed(in: page)
        == "before\n<!-- figures of Scripts/bench -->\n\n\(header)\n<!-- end -->\nafter <!-- end -->\n"
    )
    #expect(table.placed(in: "before\n<!-- end -->\n<!-- figures of Scripts/bench -->\n") == nil)
    #expect(table.placed(in: "") == nil)
  }

  @Test func `are those of the report in Results`() throws {
    let root = URL(filePath: #filePath).appending(path: "../../../..").standardized
    let results = try ReportFile(
      contentsOf: root.appending(path: "Benchmarks/Results/results.jsonl").path)
    try #require(results.unreadable.isEmpty)
    let page = try String(contentsOf: root.appending(path: "README.md"), encoding: .utf8)
    let isSame = SummaryTable(results).placed(in: page) == page
    #expect(isSame, "Scripts/bench report --from Benchmarks/Results/results.jsonl puts them there")
  }
}
