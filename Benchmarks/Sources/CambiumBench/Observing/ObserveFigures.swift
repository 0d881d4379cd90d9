import BenchmarkReport
import Cambium
import FoundationEssentials

/// Takes figures of observers, and shows them beside their goals.
struct ObserveFigures {
  private let store: PersistentStore
  private let items: [Item]
  private let commitCount: Int
  private let roundCount: Int
  private let seed: UInt64
  private(set) var figures: OwnFigures
  /// How many changes were waited for: each makes another value, since an equal value is no change.
  private var awaited = 0

  private let path: String

  init(scratch: ScratchDirectory, records: Int, commits: Int, options: BenchmarkOptions) throws {
    let dataset = ItemDataset(.random, count: records, fetches: 1, seed: options.seed)
    items = dataset.items
    commitCount = commits
    roundCount = options.rounds
    seed = options.seed
    figures = OwnFigures(part: "observe", roundCount: roundCount)
    path = "\(scratch.path)/store"
    store = try PersistentStore(
      at: path, model: StoreModel(version: 1, records: [Item.self]))
    let items = items
    try store.write { try $0.insert(contentsOf: items) }
  }

  func finish() throws { try store.close() }

  private mutating func note(_ name: String, setting: String, _ times: [Double], goal: Goal?) {
    figures.note(
      name, setting: setting, times.median / 1_000, .microseconds, durability: "relaxed", goal: goal
    )
  }

  private var inStore: String { "\(Figures.grouped(items.count)) records" }
}

// MARK: Costs

extension ObserveFigures {
  /// An observer that takes everything in as it comes, and one that never asks.
  mutating func measureQuery() async throws {
    let all = items.indices
    var (idle, busy): ([Double], [Double]) = ([], [])
    for round in 0..<roundCount {
      let none = try nanoseconds(of: all, round)
      let observed = try store.changes(of: Item.where { $0.isDone == true })
      idle.append(try nanoseconds(of: all, round) - none)
      let (first, told) = AsyncStream.makeStream(of: Void.self)
      let task = Task {
        for try await _ in observed { told.yield() }
      }
      try await change(items[0], until: first)
      busy.append(try nanoseconds(of: all, round) - none)
      task.cancel()
      try await task.value
    }
    note(
      "a commit's cost of an observer of a query that does not ask", setting: inStore, idle,
      goal: .atMost(5))
    note(
      "the same, while it takes in what comes", setting: inStore, busy, goal: .atMost(5))
  }

  /// As many tasks that each wait for a change of one record, and commits to these records.
  mutating func measureKeys(_ count: Int) async throws {
    var costs: [Double] = []
    for round in 0..<roundCount {
      let none = try nanoseconds(of: 0..<count, round)
      let (first, told) = AsyncStream.makeStream(of: Void.self)
      let task = Task { [store, items] in
        try await withThrowingTaskGroup { group in
          for item in items.prefix(count) {
            let changes = try store.changes(of: Item.self, key: item.id)
            group.addTask {
              for try await _ in changes { told.yield() }
            }
          }
          try await group.waitForAll()
        }
      }
      try await Task.sleep(for: .milliseconds(200))
      try await change(items[0], until: first)
      costs.append(try nanoseconds(of: 0..<count, round) - none)
      task.cancel()
      try await task.value
    }
    note(
      "a commit's cost of observers of single keys",
      setting: "\(Figures.grouped(count)) observers, \(inStore)", costs, goal: .atMost(10))
  }

  /// Commits a change of a record, and waits until an observer was told of one: measurements then have an observer.
  private mutating func change(_ item: Item, until told: AsyncStream<Void>) async throws {
    awaited += 1
    var item = item
    item.isDone = true
    item.count = -awaited
    let changed = item
    try await store.write(durability: .relaxed) { try $0.save(changed) }
    for await _ in told { break }
  }

  /// The time of a relaxed commit of one record: then it is not the flush that is measured.
  private func nanoseconds(of range: Range<Int>, _ round: Int) throws -> Double {
    var random = SplitMix64(seed: seed &+ UInt64(round))
    let start = ContinuousClock.now
    for number in 0..<commitCount {
      var item = items[Int.random(in: range, using: &random)]
      item.count = number
      try store.save(item, durability: .relaxed)
    }
    return (ContinuousClock.now - start) / .nanoseconds(1) / Double(commitCount)
  }
}

// MARK: How soon they are told

extension ObserveFigures {
  /// From the return of a commit to the change in the hands of the waiting task.
  mutating func measureLatency() async throws {
    let changes = try store.changes(of: Item.self, key: items[0].id)
    let (moments, told) = AsyncStream.makeStream(of: ContinuousClock.Instant.self)
    let task = Task {
      for try await _ in changes { told.yield(.now) }
      told.finish()
    }
    var times: [Double] = []
    var iterator = moments.makeAsyncIterator()
    for number in 0..<500 {
      try await Task.sleep(for: .milliseconds(1))
      var item = items[0]
      item.count = -1 - number
      let changed = item
      try await store.write(durability: .relaxed) { try $0.save(changed) }
      let start = ContinuousClock.now
      guard let moment = await iterator.next() else { break }
      times.append((moment - start) / .nanoseconds(1))
    }
    task.cancel()
    try await task.value
    note("from a commit to who waits for it", setting: inStore, times, goal: nil)
  }
}

// MARK: Another process

extension ObserveFigures {
  /// A reader's look at the log, where nothing is new: what observing there costs, fifty times a second.
  mutating func measureLooks() throws {
    try store.flush()
    var options = StoreOptions()
    options.access = .reading
    let reader = try PersistentStore(
      at: path, model: StoreModel(version: 1, records: [Item.self]), options: options)
    let count = 10_000
    var times: [Double] = []
    for _ in 0..<roundCount {
      let start = ContinuousClock.now
      for _ in 0..<count { try reader.refresh() }
      times.append((ContinuousClock.now - start) / .nanoseconds(1) / Double(count))
    }
    try reader.close()
    note("a look at the log by another process", setting: inStore, times, goal: nil)
  }
}

extension [Double] {
  fileprivate var median: Double { isEmpty ? 0 : sorted()[count / 2] }
}
