import ArgumentParser
import BenchmarkReport

/// The options of all commands that measure.
struct BenchmarkOptions: ParsableArguments {
  @Option(help: "How often each workload is done; figures are medians.")
  var rounds = 5

  @Option(help: "What all keys, values and orders are made from.")
  var seed: UInt64 = 2026

  @Option(help: "Where to put the stores, for as long as the run lasts.")
  var directory = "."

  @Option(help: "A file to add results to, one JSON object a line.")
  var json: String?

  func validate() throws {
    guard rounds > 0 else { throw ValidationError("There must be at least one round.") }
  }

  /// Adds results to the file that was asked for, if one was. After each thing that was measured, so
  /// that a run of hours that is interrupted leaves its results.
  func write(_ lines: [ResultLine]) throws {
    if let json { try ReportFile.append(lines, to: json) }
  }
}
