import Glibc

/// One workload on one dataset, in which engines take turns, each round beginning with another.
struct CommitBenchmark {
  let dataset: CommitDataset
  let workload: CommitWorkload
  let durability: CommitDurability
  let relaxedDelay: Duration
  let engines: [CommitEngineName]
  let roundCount: Int
  let scratch: ScratchDirectory
  let progress: Progress

  /// The entries that are removed: half of the entries, in another order than they were put.
  private let removed: ByteList
  private let remaining: Queries
  private var measurements: [CommitMeasurement] = []
  /// Of raw flushes, by round.
  private(set) var rawFlushes: [[Int]] = []

  init(
    dataset: CommitDataset, workload: CommitWorkload, durability: CommitDurability,
    relaxedDelay: Duration, engines: [CommitEngineName], roundCount: Int, seed: UInt64,
    scratch: ScratchDirectory, progress: Progress
  ) {
    self.dataset = dataset
    self.workload = workload
    self.durability = durability
    self.relaxedDelay = relaxedDelay
    self.engines = engines
    self.roundCount = roundCount
    self.scratch = scratch
    self.progress = progress
    var random = SplitMix64(seed: seed &+ 1)
    let order = (0..<UInt32(dataset.entries.count)).shuffled(using: &random)
    let half = order.count / 2
    let isRemoval = workload == .removal
    removed = dataset.entries.keys.arranged(by: isRemoval ? Array(order[..<half]) : [])
    remaining =
      isRemoval
      ? Queries(halfGone: dataset.entries, order, removed: half) : dataset.sample
  }

  /// - Throws: `CommitEngineError`, or `WrongContents` from the first engine that has them.
  mutating func run() throws -> [CommitMeasurement] {
    for round in 0..<roundCount {
      if durability == .durable {
        progress.show("raw flush, round \(round + 1) of \(roundCount)")
        let directory = try scratch.makeDirectory("raw")
        rawFlushes.append(try RawFlush.measure(1_000, in: directory))
        try scratch.removeDirectory(directory)
      }
      let first = round % engines.count
      for engine in engines[first...] + engines[..<first] {
        progress.show("\(workload.name), round \(round + 1) of \(roundCount): \(engine.rawValue)")
        let directory = try scratch.makeDirectory(engine.rawValue)
        keep(try measure(engine, in: directory), of: engine)
        try scratch.removeDirectory(directory)
      }
    }
    return measurements
  }

  private func measure(
    _ name: CommitEngineName, in directory: String
  ) throws -> CommitRound {
    let engine = try name.makeEngine(
      directory: directory,
      options: CommitOptions(
        durability: durability, threadCount: workload.threadCount, byteCount: dataset.byteCount,
        relaxedDelay: relaxedDelay))
    try prepare(engine)
    // Remains of others in the page cache must not interfere.
    sync()
    let written = WrittenBytes.now(of: directory)
    let ownBytes = engine.bytesWritten
    var latencies: [Int] = []
    var settling = Duration.zero
    let (round, _) = try Round.measure(storeIn: directory) {
      latencies = try workload.run(dataset, removing: removed, on: engine, durability)
      let end = ContinuousClock.now
      try engine.settle()
      settling = ContinuousClock.now - end
    }
    let result = CommitRound(
      seconds: round.seconds, settlingSeconds: settling / .seconds(1), latencies: latencies,
      written: WrittenBytes.now(of: directory) - written,
      ownBytes: engine.bytesWritten.map { $0 - (ownBytes ?? 0) }, bytesOnDisk: round.bytesOnDisk,
      peakResident: round.peakResident, anonymousGrowth: round.anonymousGrowth)
    try verify(engine, name)
    return result
  }

  /// Brings the store to where the clock starts: with its data, closed and opened once.
  private func prepare(_ engine: any CommitEngine) throws {
    try engine.open()
    let before = workload == .removal ? dataset.entries : dataset.preload
    if before.count == 0 { return }
    // As a store that has grown is, not as dense as one that was loaded in order.
    try engine.load(before, arriving: dataset.keyOrder == .ascending ? .sorted : .shuffled)
    try engine.settle()
    engine.close()
    try engine.open()
  }

  /// Opens the store again, and looks whether it has what was put there.
  private func verify(_ engine: any CommitEngine, _ name: CommitEngineName) throws {
    engine.close()
    try engine.open()
    defer { engine.close() }
    let expected = dataset.preload.count + dataset.entries.count - removed.count
    let count = try engine.count()
    guard count == expected else {
      throw WrongContents(engine: name, what: "\(count) entries, not \(expected)")
    }
    guard try engine.read(remaining.keys) == remaining.expected else {
      throw WrongContents(engine: name, what: "other values than were put there")
    }
  }

  private mutating func keep(_ round: CommitRound, of engine: CommitEngineName) {
    if let index = measurements.firstIndex(where: { $0.engine == engine }) {
      return measurements[index].append(round)
    }
    let isRemoval = workload == .removal
    var measurement = CommitMeasurement(
      engine: engine, recordCount: isRemoval ? removed.count : dataset.entries.count,
      byteCount: isRemoval
        ? removed.count * (CommitKeyOrder.keyLength + Dataset.valueLength)
        : dataset.entries.byteCount)
    measurement.append(round)
    measurements.append(measurement)
  }
}

extension Queries {
  /// Point reads of some that were removed, the first ones of `order`, and of some that were not.
  init(halfGone entries: EntryList, _ order: [UInt32], removed: Int) {
    var keys = ByteList(length: CommitKeyOrder.keyLength, capacity: CommitDataset.sampleCount)
    var expected = Digest()
    for index in order[..<removed].prefix(CommitDataset.sampleCount / 2) {
      keys.append(entries.keys, at: Int(index))
      expected.addMiss()
    }
    for index in order[removed...].prefix(CommitDataset.sampleCount / 2) {
      keys.append(entries.keys, at: Int(index))
      expected.add(entries.values[Int(index)])
    }
    self.init(keys: keys, expected: expected)
  }
}

/// A store did not hold the entries that were put there, so its engine's figures mean nothing.
struct WrongContents: Error, CustomStringConvertible {
  let engine: CommitEngineName
  let what: String

  var description: String { "\(engine.rawValue) has \(what)" }
}
