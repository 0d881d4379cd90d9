import BenchmarkReport

/// The space of the stores, and the memory for loading them.
struct SpaceTable {
  let measurements: [Measurement]
  let engines: [EngineName]

  var lines: [String] {
    var table = TextTable(
      header: [
        "space", "on disk", "of keys and values", "anonymous growth", "peak resident",
      ])
    for workload in Workload.allCases where workload.isLoad {
      for engine in engines {
        let all = measurements.filter { $0.workload == workload }
        guard let measurement = all.of(engine) else { continue }
        table.append(row(measurement))
      }
    }
    return table.lines
  }

  private func row(_ measurement: Measurement) -> [String] {
    let size = measurement.relativeSize
    let memory = Double(measurement.anonymousGrowth) / Double(1 << 20)
    return [
      "\(measurement.workload.summary), \(measurement.engine.rawValue)",
      Figures.mebibytes(measurement.bytesOnDisk),
      Figures.decimal(size, places: 3) + " ×"
        + verdict(Goal.relativeSize(of: measurement.engine), on: size),
      Figures.mebibytes(measurement.anonymousGrowth)
        + verdict(Goal.loadMemory(of: measurement.engine), on: memory),
      Figures.mebibytes(measurement.peakResident),
    ]
  }

  private func verdict(_ goal: Goal?, on figure: Double) -> String {
    goal.map { " " + $0.verdict(on: figure) } ?? ""
  }
}
