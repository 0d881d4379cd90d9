import Testing

@testable import BenchmarkReport

@Suite struct `A goal` {
  private func texts(_ lines: [ResultLine]) -> [String] {
    MeasuredResults(ReportFile(lines.map(ReportEntry.result))).comparisons
      .flatMap(\.judgedGoals).map(\.text)
  }

  private func own(_ goals: [ResultGoal]) -> ResultLine {
    .sample("cambium", rate: 300).with {
      $0.goals = goals
      ($0.bytesOnDisk, $0.rawBytes, $0.anonymousGrowth) = (120, 100, 32 << 20)
    }
  }

  @Test func `is about a peer's figure, or its own`() {
    let goals = [
      ResultGoal(.atLeast(3), against: "lmdb"), ResultGoal(.atLeast(4), against: "lmdb"),
      ResultGoal(.atLeast(300)), ResultGoal(.atLeast(301)),
    ]
    #expect(
      texts([own(goals), .sample("lmdb", rate: 100)]) == [
        "≥ 3 × lmdb: met", "≥ 4 × lmdb: **missed, 3.00**", "≥ 300 /s: met",
        "≥ 301 /s: **missed, 300**",
      ])
  }

  @Test func `is about bytes on disk, or memory`() {
    let goals = [
      ResultGoal(.atMost(1.1), on: .size), ResultGoal(.atMost(2), on: .size, against: "lmdb"),
      ResultGoal(.atMost(64), on: .memory), ResultGoal(.atMost(16), on: .memory),
    ]
    let peer = ResultLine.sample("lmdb", rate: 100).with { $0.bytesOnDisk = 60 }
    #expect(
      texts([own(goals), peer]) == [
        "≤ 1.1 × the data, on disk: **missed, 1.20**", "≤ 2 × lmdb's size on disk: met",
        "≤ 64 MiB of memory: met", "≤ 16 MiB of memory: **missed, 32.0**",
      ])
  }

  @Test func `against a peer that was not measured is neither met nor missed`() {
    let goals = [ResultGoal(.atLeast(3), against: "lmdb")]
    #expect(texts([own(goals)]) == ["≥ 3 of lmdb, figure: not measured"])
    #expect(report([own(goals)]).markdown.contains("0 of 0 goals are met; 1 were not measured."))
  }

  @Test func `that is missed is listed, with what was reached`() {
    let markdown = report(everything).markdown
    #expect(markdown.contains("1 of 2 goals are met."))
    #expect(
      markdown.contains("| tree | scan | 1,000,000 entries | read | ≥ 3 × lmdb | 2.00 |"))
  }

  @Test(arguments: [
    (Goal.atLeast(2.5), 2.5, true), (.atLeast(2.5), 2.4, false), (.atMost(2), 2, true),
    (.atMost(2), 2.1, false),
  ])
  func `is met at its bound`(goal: Goal, figure: Double, isMet: Bool) {
    #expect(goal.isMet(by: figure) == isMet)
    #expect(goal.verdict(on: figure) == "(\(goal.text) \(isMet ? "met" : "not met"))")
  }
}
