/// Workloads on one dataset, in which engines take turns.
///
/// In each round every engine does a workload once, and each round begins with another engine, so
/// that a machine that changes its speed, or the remains of one in the caches, falls on all alike.
struct TreeBenchmark {
  let dataset: Dataset
  let engines: [EngineName]
  let workloads: [Workload]
  let roundCount: Int
  let scratch: ScratchDirectory
  let progress: Progress

  private var measurements: [Measurement] = []
  private var stores: [EngineName: Store] = [:]

  /// One engine on its directory.
  private struct Store {
    let directory: String
    let engine: any Engine
  }

  init(
    dataset: Dataset, engines: [EngineName], workloads: [Workload], roundCount: Int,
    scratch: ScratchDirectory, progress: Progress
  ) {
    self.dataset = dataset
    self.engines = engines
    self.workloads = workloads
    self.roundCount = roundCount
    self.scratch = scratch
    self.progress = progress
  }

  /// All measurements, workload by workload.
  /// - Throws: `EngineError`, or `WrongAnswer` from the first engine that gives one.
  mutating func run() throws -> [Measurement] {
    if workloads.contains(.loadShuffled) {
      try load(.loadShuffled, rounds: roundCount)
      try removeStores()
    }
    // Reads are from stores loaded in order, which are the densest that each engine makes.
    try load(.loadSorted, rounds: workloads.contains(.loadSorted) ? roundCount : 1)
    try read()
    try removeStores()
    return measurements.filter { workloads.contains($0.workload) }
  }

  private mutating func load(_ workload: Workload, rounds: Int) throws {
    for round in 0..<rounds {
      for engine in turns(in: round, of: workload) {
        progress.show(dataset, workload, engine, round: round, of: rounds)
        try removeStore(of: engine)
        try load(workload, engine)
      }
    }
  }

  private mutating func load(_ workload: Workload, _ name: EngineName) throws {
    let store = try makeStore(of: name)
    let (round, _) = try Round.measure(storeIn: store.directory) {
      switch workload {
      case .loadShuffled: try store.engine.load(dataset.shuffled, arriving: .shuffled)
      default: try store.engine.load(dataset.sorted, arriving: .sorted)
      }
    }
    try store.engine.open()
    try check(try store.engine.scan(), workload, name)
    keep(round, workload, name)
  }

  private mutating func read() throws {
    for round in 0..<roundCount {
      for workload in workloads where !workload.isLoad {
        for name in turns(in: round, of: workload) {
          progress.show(dataset, workload, name, round: round, of: roundCount)
          try read(workload, name)
        }
      }
    }
  }

  private mutating func read(_ workload: Workload, _ name: EngineName) throws {
    guard let store = stores[name] else { return }
    try workload.prepare(dataset, store.engine)
    let (round, digest) = try Round.measure(storeIn: store.directory) {
      try workload.read(dataset, from: store.engine)
    }
    try check(digest, workload, name)
    keep(round, workload, name)
  }

  // MARK: Turns and results

  private func turns(in round: Int, of workload: Workload) -> [EngineName] {
    let partakers = engines.filter { $0.takesPart(in: workload) }
    guard !partakers.isEmpty else { return [] }
    let first = round % partakers.count
    return Array(partakers[first...] + partakers[..<first])
  }

  private func check(_ digest: Digest, _ workload: Workload, _ engine: EngineName) throws {
    guard digest == workload.expectedDigest(in: dataset) else {
      throw WrongAnswer(engine: engine, workload: workload, shape: dataset.shape)
    }
  }

  private mutating func keep(_ round: Round, _ workload: Workload, _ engine: EngineName) {
    if let index = measurements.firstIndex(where: {
      $0.workload == workload && $0.engine == engine
    }) {
      return measurements[index].append(round)
    }
    var measurement = Measurement(
      shape: dataset.shape, records: dataset.sorted.count, workload: workload, engine: engine,
      operationCount: workload.operationCount(in: dataset), rawByteCount: dataset.sorted.byteCount)
    measurement.append(round)
    measurements.append(measurement)
  }

  // MARK: Stores

  private mutating func makeStore(of name: EngineName) throws -> Store {
    let directory = try scratch.makeDirectory(name.rawValue)
    let shape = StoreShape(keys: dataset.shape, byteCount: dataset.sorted.byteCount)
    let store = Store(
      directory: directory, engine: try name.makeEngine(directory: directory, shape: shape))
    stores[name] = store
    return store
  }

  private mutating func removeStore(of name: EngineName) throws {
    guard let store = stores.removeValue(forKey: name) else { return }
    store.engine.close()
    try scratch.removeDirectory(store.directory)
  }

  private mutating func removeStores() throws {
    for name in engines { try removeStore(of: name) }
  }
}

/// An engine's answer differed from the dataset, so its figures mean nothing.
struct WrongAnswer: Error, CustomStringConvertible {
  let engine: EngineName
  let workload: Workload
  let shape: KeyShape

  var description: String {
    "\(engine.rawValue) gave a wrong answer: \(workload.summary), \(shape.rawValue) keys"
  }
}
