import Foundation
import Testing

/// The feature table has every row once, and the tests that it names exist.
@Suite struct FeatureTableTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private static func article() throws -> String {
    try String(
      contentsOf: root.appending(path: "Sources/Cambium/Cambium.docc/FeatureTable.md"),
      encoding: .utf8)
  }

  @Test func `the feature table has every row once, and each that works names tests that exist`()
    throws
  {
    let names = try FeatureTable.testNames(under: Self.root.appending(path: "Tests"))
    #expect(names.count > 1_000, "the tests are not found")
    let faults = FeatureTable(try Self.article()).faults(tests: names)
    #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))")
  }

  @Test func `faults of a feature table are found`() throws {
    let rows = FeatureTable.counts.flatMap { letter, count in
      (1...count).map { "| \(letter)\($0) | a feature | works | `it` | `it works` |" }
    }
    func faults(_ change: (inout [String]) -> Void = { _ in }) -> [String] {
      var changed = rows
      change(&changed)
      let table = ["| row | feature | state | how | test |", "|---|---|---|---|---|"] + changed
      return FeatureTable(table.joined(separator: "\n")).faults(tests: ["it works"])
    }
    #expect(faults().isEmpty)
    #expect(faults { $0.removeLast() } == ["T6 is missing"])
    #expect(faults { $0.append($0[0]) } == ["A1 is there twice"])
    #expect(
      faults { $0.append("| A27 | a feature | works | | `it works` |") }
        == ["A27 is not a known row"])
    #expect(
      faults { $0[1] = "| A2 | a feature | works | | |" } == ["A2 works, and names no test"])
    #expect(
      faults { $0[1] = "| A2 | a feature | works | | `it works`, `it does not` |" }
        == ["A2 names a test that does not exist: it does not"])
    #expect(
      faults { $0[1] = "| A2 | a feature | partly: slow | | `it does not` |" }
        == ["A2 names a test that does not exist: it does not"])
    #expect(faults { $0[1] = "| A2 | a feature | not here: too hard | | |" }.isEmpty)
    #expect(
      faults { $0[1] = "| A2 | a feature | perhaps | | `it works` |" }
        == ["A2 has no state: perhaps"])
    #expect(
      faults { $0.append("| A2 | works |") } == ["This is no row of five cells: | A2 | works |"])
  }

  @Test func `names of tests are read from sources`() {
    let source = """
      @Test func `one`() {}
      func `helper`() {}
      @Test(arguments: [1, 2])
      private func `two, 2`(_ number: Int) {}
      @Test
      func
        `three`() {}
      @Test func four() {}
      func `other helper`() {}
      """
    #expect(FeatureTable.testNames(in: source) == ["one", "two, 2", "three"])
  }
}
