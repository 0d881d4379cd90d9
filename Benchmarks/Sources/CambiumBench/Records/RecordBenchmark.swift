/// Workloads on one set of records, in which engines take turns.
///
/// In each round the engines do one workload after the other, and in each round another engine begins.
/// Insertions begin with empty stores; later workloads continue with the store of the last of them.
struct RecordBenchmark {
  let dataset: ItemDataset
  let setting: RecordSetting
  let engines: [RecordEngineName]
  let workloads: [RecordWorkload]
  let roundCount: Int
  let scratch: ScratchDirectory
  let progress: Progress

  private(set) var measurements: [RecordMeasurement] = []
  private var stores: [RecordEngineName: Store] = [:]

  /// One engine on its directory.
  private struct Store {
    let directory: String
    let engine: any RecordEngine
  }

  init(
    dataset: ItemDataset, setting: RecordSetting, engines: [RecordEngineName],
    workloads: [RecordWorkload], roundCount: Int, scratch: ScratchDirectory, progress: Progress
  ) {
    self.dataset = dataset
    self.setting = setting
    self.engines = engines
    self.workloads = workloads
    self.roundCount = roundCount
    self.scratch = scratch
    self.progress = progress
  }

  /// - Throws: errors of an engine, or `WrongRecords` from the first that gives a wrong answer.
  mutating func run() throws {
    for round in 0..<roundCount {
      let first = round % engines.count
      let turns = engines[first...] + engines[..<first]
      for workload in RecordWorkload.allCases where needs(workload) {
        for engine in turns {
          let summary = workload.summary(batch: setting.size.batch)
          progress.show("\(summary), round \(round + 1) of \(roundCount): \(engine.rawValue)")
          try run(workload, engine)
        }
      }
      for engine in engines { try removeStore(of: engine) }
    }
  }

  /// True if it is asked for, or has to be done for what is asked for.
  private func needs(_ workload: RecordWorkload) -> Bool {
    workloads.contains(workload)
      || workload == .insertBatches && workloads.contains { !$0.isInsertion }
  }

  private mutating func run(_ workload: RecordWorkload, _ name: RecordEngineName) throws {
    if workload.isInsertion { try removeStore(of: name) }
    let store = try stores[name] ?? makeStore(of: name)
    try store.engine.open()
    // Reads are from memory.
    if workload.isReading { _ = try workload.run(dataset, setting.size, on: store.engine) }
    let count = workload.operationCount(in: dataset, setting.size)
    var writing = Duration.zero
    var processor = 0.0
    let (round, digest) = try Round.measure(storeIn: store.directory) {
      let start = ContinuousClock.now
      let processorStart = processorTime()
      let digest = try workload.run(dataset, setting.size, on: store.engine)
      writing = ContinuousClock.now - start
      if workload.isClosing { try store.engine.close() }
      processor = processorTime() - processorStart
      return digest
    }
    try check(digest ?? verify(store), workload, name)
    keep(
      RecordRound(
        seconds: round.seconds, secondsOpen: writing / .seconds(1),
        processorSeconds: processor,
        bytesOnDisk: try diskUse(of: store.directory), peakResident: round.peakResident,
        anonymousGrowth: round.anonymousGrowth),
      workload, name, count)
  }

  /// Opens the store again and reads everything.
  private func verify(_ store: Store) throws -> ItemDigest {
    var digest = ItemDigest()
    try store.engine.open()
    try store.engine.scan { item in digest.addAll(of: item) }
    try store.engine.close()
    return digest
  }

  private func check(
    _ digest: ItemDigest, _ workload: RecordWorkload, _ engine: RecordEngineName
  ) throws {
    guard digest == workload.expected(in: dataset, setting.size) else {
      throw WrongRecords(engine: engine, workload: workload)
    }
  }

  private mutating func keep(
    _ round: RecordRound, _ workload: RecordWorkload, _ engine: RecordEngineName, _ count: Int
  ) {
    if let index = measurements.firstIndex(where: {
      $0.workload == workload && $0.engine == engine
    }) {
      return measurements[index].append(round)
    }
    var measurement = RecordMeasurement(workload: workload, engine: engine, operationCount: count)
    measurement.append(round)
    measurements.append(measurement)
  }

  // MARK: Stores

  private mutating func makeStore(of name: RecordEngineName) throws -> Store {
    let directory = try scratch.makeDirectory(name.rawValue)
    let options = RecordOptions(
      durability: setting.durability, indexes: setting.indexes,
      byteCount: dataset.byteCount, relaxedDelay: setting.relaxedDelay)
    let store = Store(
      directory: directory, engine: try name.makeEngine(directory: directory, options: options))
    stores[name] = store
    return store
  }

  private mutating func removeStore(of name: RecordEngineName) throws {
    guard let store = stores.removeValue(forKey: name) else { return }
    try store.engine.close()
    try scratch.removeDirectory(store.directory)
  }
}

/// The settings of all engines and workloads of a benchmark.
struct RecordSetting: Sendable {
  let durability: CommitDurability
  let indexes: RecordIndexes
  let size: RecordWorkloadSize
  let relaxedDelay: Duration
}

/// An engine's answer differed from the dataset, so its figures mean nothing.
struct WrongRecords: Error, CustomStringConvertible {
  let engine: RecordEngineName
  let workload: RecordWorkload

  var description: String { "\(engine.rawValue) gave a wrong answer: \(workload.rawValue)" }
}
