import BenchmarkReport

/// Medians side by side, and how many times as fast as each peer the first engine is.
struct RecordTable {
  let benchmark: RecordBenchmark

  private var engines: [RecordEngineName] { benchmark.engines }
  private var peers: ArraySlice<RecordEngineName> { benchmark.engines.dropFirst() }

  private func all(_ workload: RecordWorkload) -> [RecordMeasurement] {
    benchmark.measurements.filter { $0.workload == workload }
  }

  // MARK: Speed

  var speedLines: [String] {
    var table = TextTable(
      header: ["ns per record"] + engines.map(\.rawValue) + ["before closing", "spread"]
        + peers.map { "vs \($0.rawValue)" } + peers.map { "CPU vs \($0.rawValue)" })
    for workload in benchmark.workloads where !all(workload).isEmpty {
      table.append(row(workload, all(workload)))
    }
    return table.lines + rateLines
  }

  private func row(_ workload: RecordWorkload, _ all: [RecordMeasurement]) -> [String] {
    let summary = workload.summary(batch: benchmark.setting.size.batch)
    let times = engines.map { engine in
      all.of(engine).map { Figures.nanoseconds($0.nanosecondsPerRecord) } ?? "–"
    }
    return [summary] + times + [shares(all), spread(all)] + peers.map { ratio(all, $0, workload) }
      + peers.map { processorRatio(all, $0) }
  }

  private func processorRatio(_ all: [RecordMeasurement], _ peer: RecordEngineName) -> String {
    guard let mine = all.of(engines[0]), let other = all.of(peer) else { return "–" }
    return Figures.decimal(other.processorSeconds / mine.processorSeconds, places: 2) + " ×"
  }

  /// The shares of the time before closing.
  private func shares(_ all: [RecordMeasurement]) -> String {
    guard all.contains(where: \.workload.isClosing) else { return "–" }
    return engines.compactMap { all.of($0) }.map {
      "\(Int(($0.secondsOpen / $0.seconds * 100).rounded())) %"
    }.joined(separator: ", ")
  }

  /// The widest of any engine, so that a reader knows how much a ratio may be trusted.
  private func spread(_ all: [RecordMeasurement]) -> String {
    let least = all.map(\.spread.lowerBound).min() ?? 1
    let most = all.map(\.spread.upperBound).max() ?? 1
    return "\(Figures.decimal(least, places: 2))…\(Figures.decimal(most, places: 2))"
  }

  private func ratio(
    _ all: [RecordMeasurement], _ peer: RecordEngineName, _ workload: RecordWorkload
  ) -> String {
    guard let mine = all.of(engines[0]), let other = all.of(peer) else { return "–" }
    let ratio = mine.recordsPerSecond / other.recordsPerSecond
    let text = Figures.decimal(ratio, places: 2) + " ×"
    let goal = Goal.speed(of: engines[0], against: peer, at: workload)
    return goal.map { "\(text) \($0.verdict(on: ratio))" } ?? text
  }

  /// Where so many a second are promised.
  private var rateLines: [String] {
    benchmark.measurements.flatMap { measurement -> [String] in
      let goal = Goal.rate(
        of: measurement.engine, at: measurement.workload, benchmark.setting,
        benchmark.dataset.keyOrder)
      guard let goal, benchmark.workloads.contains(measurement.workload) else { return [] }
      let rate = measurement.recordsPerSecond
      let open = Double(measurement.operationCount) / measurement.secondsOpen
      return [
        "",
        "\(measurement.workload.rawValue), \(measurement.engine.rawValue): "
          + "\(Figures.decimal(rate, places: 0)) a second"
          + " \(goal.verdict(on: rate)); before closing \(Figures.decimal(open, places: 0))"
          + " \(goal.verdict(on: open))",
      ]
    }
  }

  // MARK: Space

  var spaceLines: [String] {
    var table = TextTable(
      header: ["bytes on disk, closed"] + engines.map(\.rawValue)
        + peers.map { "of \($0.rawValue)" })
    let shown: [RecordWorkload] = [.insertOnce, .insertBatches, .update, .delete]
    for workload in benchmark.workloads where shown.contains(workload) && !all(workload).isEmpty {
      let all = all(workload)
      let sizes = engines.map { engine in
        all.of(engine).map { Figures.mebibytes($0.bytesOnDisk) } ?? "–"
      }
      let summary = workload.summary(batch: benchmark.setting.size.batch)
      table.append([summary] + sizes + peers.map { relativeSize(all, $0, workload) })
    }
    return table.lines
  }

  private func relativeSize(
    _ all: [RecordMeasurement], _ peer: RecordEngineName, _ workload: RecordWorkload
  ) -> String {
    guard let mine = all.of(engines[0]), let other = all.of(peer) else { return "–" }
    let ratio = Double(mine.bytesOnDisk) / Double(other.bytesOnDisk)
    let text = Figures.decimal(ratio, places: 3) + " ×"
    let goal = workload.isInsertion ? Goal.size(of: engines[0], against: peer) : nil
    return goal.map { "\(text) \($0.verdict(on: ratio))" } ?? text
  }
}
