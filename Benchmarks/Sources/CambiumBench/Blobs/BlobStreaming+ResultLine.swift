import BenchmarkReport

extension BlobStreaming {
  var lines: [ResultLine] {
    [
      rangeLine, memoryLine("memory, writing a stream", writingGrowth, durability: "durable"),
      memoryLine("memory, reading a stream", readingGrowth, durability: "read"),
    ]
  }

  private var rangeLine: ResultLine {
    var line = ownLine(
      "4 KiB of it read", durability: "read", median(times) * 1e3, .milliseconds)
    line.goals = [ResultGoal(.atMost(2))]
    line.details = [
      "p99_ms": times[times.count * 99 / 100] * 1e3, "first_ms": firstTime * 1e3,
    ]
    return line
  }

  private func memoryLine(_ workload: String, _ bytes: Int, durability: String) -> ResultLine {
    var line = ownLine(
      workload, durability: durability, Double(bytes) / Double(1 << 20), .mebibytes)
    line.goals = [ResultGoal(.atMost(16))]
    return line
  }

  private func ownLine(
    _ workload: String, durability: String, _ figure: Double, _ unit: FigureUnit
  ) -> ResultLine {
    ResultLine(
      part: "blobs", workload: workload,
      setting: "a blob of \(Figures.grouped(mebibytes)) MiB of text", engine: "cambium",
      durability: durability, rounds: 1, figure: figure, unit: unit)
  }
}
