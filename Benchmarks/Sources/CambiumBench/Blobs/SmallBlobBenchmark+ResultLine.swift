import BenchmarkReport

extension SmallBlobBenchmark {
  /// Reading is the same for each batch, and is shown with it.
  var lines: [ResultLine] {
    BlobEngineName.allCases.map(writeLine) + BlobEngineName.allCases.map(readLine)
  }

  private func writeLine(_ engine: BlobEngineName) -> ResultLine {
    var line = line("small blobs written", engine, "durable", writes[engine] ?? [])
    line.promise = engine.promise
    line.rawBytes = count * size
    line.bytesOnDisk = sizes[engine]
    if engine == .cambium { line.goals = [ResultGoal(.atLeast(3), against: "files")] }
    return line
  }

  private func readLine(_ engine: BlobEngineName) -> ResultLine {
    var line = line("small blobs read", engine, "read", reads[engine] ?? [])
    if engine == .cambium { line.goals = [ResultGoal(.atLeast(2), against: "sqlite")] }
    return line
  }

  private func line(
    _ workload: String, _ engine: BlobEngineName, _ durability: String, _ seconds: [Double]
  ) -> ResultLine {
    ResultLine(
      part: "blobs", workload: workload,
      setting: "\(Figures.grouped(count)) of \(Figures.grouped(size)) bytes of text,"
        + " written \(batch) a transaction",
      engine: engine.rawValue, durability: durability, count: count, rounds: roundCount,
      seconds: median(seconds))
  }
}
