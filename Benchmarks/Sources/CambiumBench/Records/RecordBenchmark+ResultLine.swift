import BenchmarkReport

extension RecordBenchmark {
  var lines: [ResultLine] { measurements.map(line) }

  private func line(_ measurement: RecordMeasurement) -> ResultLine {
    let (workload, engine) = (measurement.workload, measurement.engine)
    var line = ResultLine(
      part: "records", workload: workload.rawValue, setting: describe(workload),
      engine: engine.rawValue,
      durability: workload.isReading ? "read" : setting.durability.rawValue,
      count: measurement.operationCount, rounds: measurement.rounds.count,
      seconds: measurement.seconds)
    line.goals = goals(of: engine, at: workload)
    line.anonymousGrowth = measurement.anonymousGrowth
    line.peakResident = measurement.peakResident
    if !workload.isReading {
      line.promise = engine.promise(of: setting.durability)
      line.bytesOnDisk = measurement.bytesOnDisk
    }
    if workload == .insertOnce || workload == .insertBatches { line.rawBytes = dataset.byteCount }
    line.details = [
      "seconds_before_closing": measurement.secondsOpen,
      "cpu_seconds": measurement.processorSeconds,
      "spread_least": measurement.spread.lowerBound, "spread_most": measurement.spread.upperBound,
    ]
    return line
  }

  private func describe(_ workload: RecordWorkload) -> String {
    let isBatched = [.insertBatches, .update, .delete].contains(workload)
    return
      "\(Figures.grouped(dataset.items.count)) records, \(dataset.keyOrder.rawValue) keys, \(setting.indexes.text)"
      + (isBatched ? ", \(Figures.grouped(setting.size.batch)) a transaction" : "")
  }

  private func goals(of engine: RecordEngineName, at workload: RecordWorkload) -> [ResultGoal] {
    let speeds = RecordEngineName.allCases.compactMap { peer in
      Goal.speed(of: engine, against: peer, at: workload).map {
        ResultGoal($0, against: peer.rawValue)
      }
    }
    let rate = Goal.rate(of: engine, at: workload, setting, dataset.keyOrder).map { ResultGoal($0) }
    let isLoad = workload == .insertOnce || workload == .insertBatches
    let size = isLoad ? Goal.size(of: engine, against: .grdb) : nil
    return speeds
      + [rate, size.map { ResultGoal($0, on: .size, against: "grdb") }].compactMap { $0 }
  }
}
