import FoundationEssentials
import Glibc
import Synchronization

/// Stores from which half of the records were removed give room back, or are copied without it, in turns.
struct CompactionBenchmark {
  let dataset: CommitDataset
  let methods: [CompactionMethod]
  let roundCount: Int
  let scratch: ScratchDirectory
  let progress: Progress
  private let removed: ByteList
  private let remaining: Queries
  private(set) var measurements: [CompactionMeasurement] = []

  init(
    dataset: CommitDataset, methods: [CompactionMethod], roundCount: Int, seed: UInt64,
    scratch: ScratchDirectory, progress: Progress
  ) {
    self.dataset = dataset
    self.methods = methods
    self.roundCount = roundCount
    self.scratch = scratch
    self.progress = progress
    var random = SplitMix64(seed: seed &+ 1)
    let order = (0..<UInt32(dataset.entries.count)).shuffled(using: &random)
    let half = order.count / 2
    removed = dataset.entries.keys.arranged(by: Array(order[..<half]))
    remaining = Queries(halfGone: dataset.entries, order, removed: half)
  }

  /// Of the keys and values that are left.
  var liveBytes: Int { liveCount * (CommitKeyOrder.keyLength + Dataset.valueLength) }
  private var liveCount: Int { dataset.entries.count - removed.count }

  mutating func run() throws {
    measurements = methods.map { CompactionMeasurement(method: $0, liveBytes: liveBytes) }
    for round in 0..<roundCount {
      let first = round % methods.count
      for index in Array(first..<methods.count) + Array(0..<first) {
        let method = methods[index]
        progress.show("compact, round \(round + 1) of \(roundCount): \(method.rawValue)")
        measurements[index].rounds.append(try measure(method))
      }
    }
  }

  private func measure(_ method: CompactionMethod) throws -> CompactionRound {
    let directory = try scratch.makeDirectory("\(method.rawValue)-store")
    let copy = "\(scratch.path)/\(method.rawValue)-copy"
    defer {
      try? scratch.removeDirectory(directory)
      try? scratch.removeDirectory(copy)
    }
    try prepare(method.engine, in: directory)
    let before = try diskUse(of: directory)
    // Remains of others in the page cache must not interfere.
    sync()
    let room = RoomWatch(scratch.path)
    let (round, _) = try Round.measure(storeIn: directory) {
      try method.run(in: directory, copy: copy)
    }
    let peak = room.end()
    let result = method.copies ? copy : directory
    try verify(method, in: result)
    return CompactionRound(
      seconds: round.seconds, before: before, after: try diskUse(of: result),
      roomNeeded: peak, anonymousGrowth: round.anonymousGrowth)
  }

  /// Loads all and removes half, each in one transaction.
  private func prepare(_ name: CommitEngineName, in directory: String) throws {
    let engine = try makeEngine(name, directory)
    try engine.open()
    try engine.load(dataset.entries, arriving: .shuffled)
    try engine.settle()
    try engine.remove(removed)
    try engine.settle()
    engine.close()
  }

  private func verify(_ method: CompactionMethod, in directory: String) throws {
    let engine = try makeEngine(method.engine, directory)
    try engine.open()
    defer { engine.close() }
    let count = try engine.count()
    guard count == liveCount, try engine.read(remaining.keys) == remaining.expected else {
      throw WrongContents(engine: method.engine, what: "\(count) entries after \(method.rawValue)")
    }
  }

  private func makeEngine(
    _ name: CommitEngineName, _ directory: String
  ) throws -> any CommitEngine {
    try name.makeEngine(
      directory: directory,
      options: CommitOptions(
        durability: .durable, threadCount: 1, byteCount: dataset.byteCount,
        relaxedDelay: .milliseconds(100)))
  }
}

/// The figures of one round of one method.
struct CompactionRound {
  let seconds: Double
  /// The bytes on the disk of the store, and of the result.
  let before: Int
  let after: Int
  /// How much more there was on the disk meanwhile, at most.
  let roomNeeded: Int
  let anonymousGrowth: Int
}

/// All rounds of one method.
struct CompactionMeasurement {
  let method: CompactionMethod
  let liveBytes: Int
  var rounds: [CompactionRound] = []

  var seconds: Double { median(rounds.map(\.seconds)) }
  /// Of keys and values.
  var bytesPerSecond: Double { Double(liveBytes) / seconds }
  /// Of keys and values.
  var sizeShare: Double { median(rounds.map { Double($0.after) }) / Double(liveBytes) }
  var before: Int { Int(median(rounds.map { Double($0.before) })) }
  var after: Int { Int(median(rounds.map { Double($0.after) })) }
  var roomNeeded: Int { Int(median(rounds.map { Double($0.roomNeeded) })) }
  var anonymousGrowth: Int { Int(median(rounds.map { Double($0.anonymousGrowth) })) }
}

/// Watches how much more space is taken on a directory's disk while something runs, every two milliseconds.
private final class RoomWatch: Sendable {
  private let directory: String
  private let start: Int
  private let highest = Mutex(0)
  private let thread: Mutex<RepeatingThread?> = Mutex(nil)

  init(_ directory: String) {
    self.directory = directory
    start = (try? diskUse(of: directory)) ?? 0
    let watching = try? RepeatingThread(each: .milliseconds(2)) { [weak self] in self?.look() }
    thread.withLock { $0 = watching }
  }

  /// Files that go meanwhile are looked at again the next time.
  private func look() {
    guard let used = try? diskUse(of: directory) else { return }
    highest.withLock { $0 = max($0, used - start) }
  }

  func end() -> Int {
    thread.withLock { $0 }?.end()
    return highest.withLock { $0 }
  }
}
