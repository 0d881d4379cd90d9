import BenchmarkReport

/// The time of one change, by round, in seconds.
struct MigrateMeasurement {
  let workload: MigrateWorkload
  let records: Int
  /// Of Cambium's store, in bytes.
  let storeSize: Int
  var own: [Double] = []
  /// The most that Cambium's memory grew by.
  var growth = 0
  /// SQLite's best way.
  var best: [Double] = []
  /// SQLite's way for every change that it has no statement for.
  var copy: [Double] = []
  /// SQLite's way back: a copy from before, in place of the database.
  var restored: [Double] = []
  /// The time that the disk takes to write as many bytes as the store has; empty if no row has to be written.
  var disk: [Double] = []

  init(workload: MigrateWorkload, records: Int, storeSize: Int) {
    self.workload = workload
    self.records = records
    self.storeSize = storeSize
  }

  var recordsPerSecond: Double { Double(records) / median(own) }
}

// MARK: Lines

extension MigrateMeasurement {
  var lines: [ResultLine] {
    let peers = [("sqlite", best), ("sqlite-copy", copy), ("sqlite-restore", restored)]
    return [ownLine]
      + peers.filter { !$0.1.isEmpty }.map { line($0.0, $0.1) }
      + (disk.isEmpty ? [] : [line("disk", disk, role: .limit)])
  }

  private var ownLine: ResultLine {
    var line = line("cambium", own)
    line.anonymousGrowth = growth
    line.details = ["bytes_before": Double(storeSize)]
    line.goals = [ResultGoal(.atLeast(workload.rateGoal)), ResultGoal(.atMost(128), on: .memory)]
    if let goal = workload.goal {
      line.goals.append(ResultGoal(.atLeast(goal), against: "sqlite-copy"))
    }
    return line
  }

  private func line(_ engine: String, _ seconds: [Double], role: EngineRole? = nil) -> ResultLine {
    ResultLine(
      part: "migrate", workload: workload.rawValue,
      setting: "\(Figures.grouped(records)) records", engine: engine, role: role,
      durability: "flushed", count: records, rounds: seconds.count, seconds: median(seconds))
  }
}

// MARK: Table

/// Medians side by side, and how many times as fast Cambium is.
struct MigrateTable {
  private var table = TextTable(header: [
    "seconds", "cambium", "records/s", "MiB", "sqlite", "copy", "restore", "disk", "to sqlite",
    "to copy", "to restore",
  ])

  var lines: [String] { table.lines }

  mutating func append(_ measurement: MigrateMeasurement) {
    let workload = measurement.workload
    let own = median(measurement.own)
    let goal = workload.goal.map { " (\(Figures.decimal($0, places: 0)))" } ?? ""
    table.append([
      workload.rawValue, Figures.decimal(own, places: 3),
      Figures.grouped(Int(measurement.recordsPerSecond))
        + " (\(Figures.grouped(Int(workload.rateGoal))))",
      "\(measurement.growth >> 20)", seconds(measurement.best), seconds(measurement.copy),
      seconds(measurement.restored), seconds(measurement.disk), ratio(measurement.best, own),
      ratio(measurement.copy, own) + goal, ratio(measurement.restored, own),
    ])
  }

  private func seconds(_ rounds: [Double]) -> String {
    rounds.isEmpty ? "–" : Figures.decimal(median(rounds), places: 3)
  }

  private func ratio(_ rounds: [Double], _ own: Double) -> String {
    rounds.isEmpty ? "–" : Figures.decimal(median(rounds) / own, places: 2)
  }
}
