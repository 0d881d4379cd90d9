@testable import BenchmarkReport

// Results as a run would have them, small enough to reckon with.

extension ResultLine {
  /// A million operations at `rate` a second.
  static func sample(
    _ engine: String, rate: Double, part: String = "tree", workload: String = "scan",
    setting: String = "1,000,000 entries", durability: String = "read"
  ) -> ResultLine {
    ResultLine(
      part: part, workload: workload, setting: setting, engine: engine, durability: durability,
      count: 1_000_000, rounds: 5, seconds: 1_000_000 / rate)
  }

  func with(_ change: (inout ResultLine) -> Void) -> ResultLine {
    var line = self
    change(&line)
    return line
  }
}

extension RunDescription {
  static func sample(
    steps: [PlannedStep] = [], isQuick: Bool = false, date: String = "2026-11-22T10:00:00Z"
  ) -> RunDescription {
    RunDescription(
      date: date, isQuick: isQuick, seed: 2026,
      machine: MachineDescription(
        processor: "A Processor & Sons <2>", coreCount: 2, memory: 8 << 30, fileSystem: "ext4",
        kernel: "6.18"),
      versions: SoftwareVersions(
        swift: "Swift version 6.3.1", commit: "0123456789ab",
        peers: ["SQLite": "3.40.1", "LMDB": "0.9.24"]), steps: steps)
  }
}

/// A report of lines, as one run has them.
func report(_ lines: [ResultLine]) -> Report {
  Report(ReportFile([.run(.sample())] + lines.map(ReportEntry.result)))
}

/// One of everything that is drawn or listed.
let everything: [ResultLine] =
  [
    .sample("cambium", rate: 400).with {
      $0.goals = [
        ResultGoal(.atLeast(3), against: "lmdb"), ResultGoal(.atLeast(1), against: "sqlite"),
      ]
      $0.peakResident = 200 << 20
    },
    .sample("lmdb", rate: 200).with { $0.peakResident = 100 << 20 },
    .sample("sqlite", rate: 100).with { $0.peakResident = 50 << 20 },
  ]
  + [("cambium", 1.0), ("sqlite", 2.0)].map { engine, scale in
    .sample(engine, rate: 1_000 / scale, part: "commit", workload: "commit", durability: "durable")
      .with {
        $0.latency = LatencyPercentiles(
          p50: 100_000 * scale, p90: 200_000 * scale, p99: 400_000 * scale, p999: 800_000 * scale)
        $0.promise = "survives a power cut"
      }
  }
  + [10_000, 100_000, 1_000_000].flatMap { size in
    [("cambium", 2e6), ("sqlite", 1e6), ("disk", 3e6)].map { engine, rate in
      ResultLine(
        part: "migrate", workload: "require", setting: "\(size) records", engine: engine,
        role: engine == "disk" ? .limit : nil, durability: "durable", count: size, rounds: 3,
        seconds: Double(size) / rate)
    }
  }
  + [100_000, 1_000_000, 10_000_000].flatMap { size in
    [("cambium", 4e5), ("rocksdb", 2e5), ("lmdb", 1e5)].map { engine, rate in
      ResultLine(
        part: "scale", workload: "load-batches", setting: "\(size) records", engine: engine,
        durability: "durable", count: size, rounds: 1, seconds: Double(size) / rate
      ).with {
        $0.latency = LatencyPercentiles(p50: 1e6, p90: 2e6, p99: 1e9 / rate, p999: 2e9 / rate)
        ($0.rawBytes, $0.bytesOnDisk, $0.anonymousGrowth) = (size * 116, size * 232, 0)
        // LMDB writes in maps, where a device may not be asked.
        if engine != "lmdb" { $0.details = ["device_bytes_per_byte": 3.5] }
      }
    }
  }
