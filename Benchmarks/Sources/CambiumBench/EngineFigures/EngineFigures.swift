import BenchmarkReport
import Cambium
import FoundationEssentials
import Glibc

/// Takes figures of the engine, and shows them beside their goals.
struct EngineFigures {
  let scratch: ScratchDirectory
  private let roundCount: Int
  let seed: UInt64
  var figures: OwnFigures
  private var storeCount = 0
  let value = [UInt8](repeating: 7, count: Dataset.valueLength)

  init(scratch: ScratchDirectory, roundCount: Int, seed: UInt64) {
    self.scratch = scratch
    self.roundCount = roundCount
    self.seed = seed
    figures = OwnFigures(part: "engine", roundCount: roundCount)
  }

  mutating func makeStore() throws -> (directory: String, store: RawStore, RawTreeName) {
    storeCount += 1
    let directory = try scratch.makeDirectory("store-\(storeCount)")
    let store = try RawStore(at: directory)
    return (directory, store, try store.tree("entries"))
  }

  func median(_ figure: () throws -> Double) rethrows -> Double {
    var figures: [Double] = []
    for _ in 0..<roundCount { figures.append(try figure()) }
    return figures.sorted()[roundCount / 2]
  }

  func seconds(_ body: () throws -> Void) rethrows -> Double {
    let start = ContinuousClock.now
    try body()
    return (ContinuousClock.now - start) / .seconds(1)
  }
}

// MARK: Size

extension EngineFigures {
  mutating func measureEmptyStore() throws {
    let (directory, store, _) = try makeStore()
    try store.close()
    let size = try diskUse(of: directory)
    figures.note(
      "an empty store on disk", Double(size) / 1024, .kibibytes, durability: "flushed",
      goal: .atMost(256))
    try scratch.removeDirectory(directory)
  }
}

// MARK: Tasks

extension EngineFigures {
  /// Durable commits of one record: by one thread, then by tasks that each commit one after the other.
  mutating func measureTasks(_ taskCount: Int, commits: Int) async throws {
    let (directory, store, tree) = try makeStore()
    var random = SplitMix64(seed: seed &+ 1)
    var ratios: [Double] = []
    var times: [Double] = []
    for _ in 0..<roundCount {
      let alone = try seconds {
        for _ in 0..<1000 { try commit(random.next(), to: store, tree) }
      }
      let (seed, value) = (random.next(), value)
      let start = ContinuousClock.now
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<taskCount {
          group.addTask {
            var random = SplitMix64(seed: seed &+ UInt64(task))
            for _ in 0..<commits / taskCount {
              let key = Self.key(random.next())
              try await store.write { transaction in
                try unsafe transaction.put(key.span.bytes, value.span.bytes, in: tree)
              }
            }
          }
        }
        try await group.waitForAll()
      }
      let time = (ContinuousClock.now - start) / .seconds(1)
      let each = time / Double(commits / taskCount * taskCount)
      times.append(each * 1e6)
      ratios.append(alone / 1000 / each)
    }
    let ratio = ratios.sorted()[roundCount / 2]
    let time = Figures.decimal(times.sorted()[roundCount / 2], places: 2)
    let goal = taskCount >= 256 ? 50.0 : taskCount >= 16 ? 6.0 : 1.0
    figures.note(
      "commits of tasks, times one thread's", setting: "\(taskCount) tasks", ratio, .times,
      durability: "durable", goal: .atLeast(goal), remark: "\(time) µs")
    try store.close()
    try scratch.removeDirectory(directory)
  }

  private func commit(_ number: UInt64, to store: RawStore, _ tree: RawTreeName) throws {
    let key = Self.key(number)
    try store.write { transaction in
      try unsafe transaction.put(key.span.bytes, value.span.bytes, in: tree)
    }
  }

  static func key(_ number: UInt64) -> [UInt8] {
    var key = [UInt8](repeating: 0, count: 16)
    for index in 0..<8 { key[index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
    return key
  }
}

// MARK: Reading

extension EngineFigures {
  /// Snapshots, and point reads of a store at rest and of the same with its overlay almost full, while
  /// another thread commits into it.
  mutating func measureReads(records: Int) throws {
    let (directory, store, tree) = try makeStore()
    let value = value
    var random = SplitMix64(seed: seed &+ 2)
    let keys = (0..<records).map { _ in Self.key(random.next()) }
    try store.write { transaction in
      for key in keys { try unsafe transaction.put(key.span.bytes, value.span.bytes, in: tree) }
    }
    try store.fold()
    try measureSnapshots(store)
    let atRest = try median { try readNanoseconds(keys, store, tree) }
    // About 15 of the 16 MiB that are folded.
    let overlaid = keys.prefix(min(records, 100_000))
    for start in stride(from: 0, to: overlaid.count, by: 1000) {
      try store.write(durability: .relaxed) { transaction in
        for key in overlaid[start..<min(start + 1000, overlaid.count)] {
          try unsafe transaction.put(key.span.bytes, value.span.bytes, in: tree)
        }
      }
    }
    let writer = try RepeatingThread(each: .milliseconds(1)) {
      for key in overlaid.prefix(200) {
        try store.write(durability: .relaxed) { transaction in
          try unsafe transaction.put(key.span.bytes, value.span.bytes, in: tree)
        }
      }
    }
    let beside = try median { try readNanoseconds(keys, store, tree) }
    writer.end()
    try writer.check()
    let ratio = atRest / beside
    figures.note(
      "point reads beside writes, overlay full, times at rest",
      setting: "\(Figures.grouped(records)) records", ratio, .times, durability: "read",
      goal: .atLeast(0.7),
      remark: "\(Figures.nanoseconds(atRest)), \(Figures.nanoseconds(beside)) ns")
    try store.close()
    try scratch.removeDirectory(directory)
  }

  private mutating func measureSnapshots(_ store: RawStore) throws {
    let count = 1_000_000
    let time = try median {
      try seconds { for _ in 0..<count { _ = try store.snapshot() } } / Double(count) * 1e9
    }
    figures.note("a snapshot", time, .nanoseconds, durability: "read", goal: .atMost(100))
  }

  /// The time of a point read, in random order, with a new snapshot for each hundred.
  private func readNanoseconds(
    _ keys: [[UInt8]], _ store: RawStore, _ tree: RawTreeName
  ) throws -> Double {
    let count = 200_000
    var random = SplitMix64(seed: seed &+ 3)
    return try seconds {
      for _ in 0..<count / 100 {
        let entries = try store.snapshot()[tree]
        for _ in 0..<100 {
          let key = keys[Int.random(in: 0..<keys.count, using: &random)]
          let found = try unsafe entries.value(for: key.span.bytes)
          precondition(found?.byteCount == value.count, "every key is there")
        }
      }
    } / Double(count) * 1e9
  }
}

// MARK: Opening

extension EngineFigures {
  /// Opening the store that a killed process leaves with a log as full as it gets: a copy of the files while a store is
  /// open.
  mutating func measureOpening() throws {
    let (directory, store, tree) = try makeStore()
    var random = SplitMix64(seed: seed &+ 4)
    for _ in 0..<130_000 {
      let key = Self.key(random.next())
      try store.write(durability: .relaxed) { transaction in
        try unsafe transaction.put(key.span.bytes, value.span.bytes, in: tree)
      }
    }
    try store.flush()
    var replayed = 0
    let time = try median {
      let copy = "\(scratch.path)/copy"
      try FileManager.default.copyItem(atPath: directory, toPath: copy)
      defer { try? FileManager.default.removeItem(atPath: copy) }
      var opened: RawStore?
      let time = try seconds { opened = try RawStore(at: copy) }
      replayed = opened?.report.replayedCommits ?? 0
      try opened?.close()
      return time
    }
    figures.note(
      "opening after a kill", setting: "\(Figures.grouped(replayed)) commits replayed", time * 1e3,
      .milliseconds, durability: "flushed", goal: .atMost(300))
    try store.close()
    try scratch.removeDirectory(directory)
  }
}
