import BenchmarkReport

extension Measurement {
  var line: ResultLine {
    var line = ResultLine(
      part: "tree", workload: workload.rawValue,
      setting: "\(shape.rawValue) keys, \(Figures.grouped(records)) entries",
      engine: engine.rawValue, durability: workload.durability.rawValue, count: operationCount,
      rounds: rounds.count, seconds: seconds)
    line.goals = goals
    line.peakResident = peakResident
    line.anonymousGrowth = anonymousGrowth
    // The same store is read by all that follows.
    if workload.isLoad { (line.rawBytes, line.bytesOnDisk) = (rawByteCount, bytesOnDisk) }
    line.details = ["spread_least": spread.lowerBound, "spread_most": spread.upperBound]
    return line
  }

  private var goals: [ResultGoal] {
    let speeds = EngineName.allCases.compactMap { peer in
      Goal.speed(of: engine, against: peer, at: workload).map {
        ResultGoal($0, against: peer.rawValue)
      }
    }
    guard workload.isLoad else { return speeds }
    let size = Goal.relativeSize(of: engine).map { ResultGoal($0, on: .size) }
    let memory = Goal.loadMemory(of: engine).map { ResultGoal($0, on: .memory) }
    return speeds + [size, memory].compactMap { $0 }
  }
}
