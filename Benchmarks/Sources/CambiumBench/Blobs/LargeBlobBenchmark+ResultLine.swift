import BenchmarkReport

/// A step of Cambium's, and the peers that it is compared with.
struct LargeBlobPair {
  let name: String
  let workload: String
  let own: LargeBlobBenchmark.Step
  let engine: String
  let other: LargeBlobBenchmark.Step
  let role: EngineRole
  let goal: Goal?

  /// A step that touches no disk is a limit, not a peer.
  static let all: [LargeBlobPair] = [
    LargeBlobPair(
      name: "text written, to zstd -1 on all cores and a flush", workload: "text written",
      own: .writeText, engine: "zstd", other: .writeTextByHand, role: .peer, goal: .atLeast(0.9)),
    LargeBlobPair(
      name: "text written, to zstd -1 on all cores in memory", workload: "text written",
      own: .writeText, engine: "zstd in memory", other: .compressText, role: .limit, goal: nil),
    LargeBlobPair(
      name: "text read, to a file and zstd", workload: "text read", own: .readText,
      engine: "zstd", other: .readTextByHand, role: .peer, goal: .atLeast(0.9)),
    LargeBlobPair(
      name: "text read, to zstd in memory", workload: "text read", own: .readText,
      engine: "zstd in memory", other: .decompressText, role: .limit, goal: .atLeast(0.9)),
    LargeBlobPair(
      name: "noise written, to a file past the page cache", workload: "noise written",
      own: .writeNoise, engine: "file, direct", other: .writeDirect, role: .peer,
      goal: .atLeast(0.9)),
    LargeBlobPair(
      name: "noise written, to a file", workload: "noise written", own: .writeNoise,
      engine: "file", other: .writeBuffered, role: .peer, goal: nil),
  ]
}

extension LargeBlobBenchmark {
  var lines: [ResultLine] {
    let workloads: [(name: String, own: Step)] = [
      ("text written", .writeText), ("text read", .readText), ("noise written", .writeNoise),
      ("noise read", .readNoise),
    ]
    return workloads.flatMap { workload in
      let pairs = LargeBlobPair.all.filter { $0.workload == workload.name }
      var own = line(workload.name, "cambium", workload.own, .own)
      own.goals = pairs.compactMap { pair in
        pair.goal.map { ResultGoal($0, against: pair.engine) }
      }
      return [own] + pairs.map { line($0.workload, $0.engine, $0.other, $0.role) }
    }
  }

  private func line(
    _ workload: String, _ engine: String, _ step: Step, _ role: EngineRole
  ) -> ResultLine {
    ResultLine(
      part: "blobs", workload: workload, setting: "a blob of \(mebibytes) MiB", engine: engine,
      role: role, durability: workload.hasSuffix("written") ? "durable" : "read", count: 1,
      rounds: roundCount, seconds: Double(mebibytes) / speed(step), figure: speed(step),
      unit: .mebibytesPerSecond)
  }
}
