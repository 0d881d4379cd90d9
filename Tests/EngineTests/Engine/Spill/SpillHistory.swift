import TestSupport

@testable import Cambium
@testable import InternalTestSupport

extension EngineOptions {
  /// Options with which a transaction spills after a few puts, and merges runs soon.
  static func spilling(budget: Int = 400) -> EngineOptions {
    var options = EngineOptions.small()
    options.transactionBudget = budget
    options.runsMax = 3
    return options
  }
}

/// Transactions at random, larger than their budget, beside a dictionary.
struct SpillHistory {
  private struct Abort: Error {}

  let medium = SimulatedFileSystem()
  let engine: SimulatedEngine
  private(set) var content = Content()
  private var random: SplitMix64
  private let lengths: [Int]
  /// How often everything is read: once in so many steps.
  private let reading: Int
  private var stamp = 0
  private(set) var spilled = 0
  /// The transactions that loaded trees.
  private(set) var loading = 0
  private let isAscending: Bool
  /// The transactions that spilled and after which a tree had a level.
  private(set) var levels = 0
  /// Keys are below it.
  private let keyCount: Int

  /// - Parameters:
  ///   - isAscending: Whether many keys are put in order, after all others.
  ///   - hasLevels: Whether all trees get levels, which are merged soon.
  init(seed: UInt64, isAscending: Bool = false, hasLevels: Bool = false) throws {
    random = SplitMix64(seed: seed)
    self.isAscending = isAscending
    keyCount = isAscending ? 400 : 60
    let budgets = isAscending ? [1_500, 4_000, 10_000] : [150, 400, 1_000]
    let budget = budgets[Int(random.next() % 3)]
    var options = EngineOptions.spilling(budget: budget)
    if hasLevels {
      options.levelRatio = 0
      options.foldThreshold = [2 << 10, 16 << 10, 64 << 10][Int(random.next() % 3)]
    }
    engine = try SimulatedEngine.open(medium, options: options)
    lengths = [[0, 5, 40], [0, 60, 300], [10, 700, 5_000]][Int(random.next() % 3)]
    let readings = isAscending ? [10, 50, 400] : [1, 4, 25, 400]
    reading = readings[Int(random.next() % UInt64(readings.count))]
  }

  mutating func run(transactions: Int, steps: Int) throws {
    for _ in 0..<transactions {
      try transaction(steps: steps)
      try engine.checkHolds(content)
      if random.next() % 2 == 0 { _ = try engine.step(budget: Int(random.next() % 3)) }
    }
    let faults = engine.working.base.file.check(sizes: engine.options.nodeSizes)
    try agree(faults.isEmpty, "\(faults)")
    try engine.close()
    let again = try SimulatedEngine.open(medium.crashed(.none), options: .spilling())
    try again.checkHolds(content)
  }

  private mutating func transaction(steps: Int) throws {
    let (before, spilledBefore) = (content, spilled)
    let isAborted = random.next() % 5 == 0
    if random.next() % 2 == 0 { engine.freezeIfPossible() }
    var run = self
    do {
      try engine.write(.durable) { transaction in
        try run.perform(steps: Int(run.random.next() % UInt64(steps)), transaction)
        if isAborted { throw Abort() }
      }
      self = run
      if spilled > spilledBefore, engine.working.base.levelCount > 0 { levels += 1 }
    } catch is Abort {
      self = run
      content = before
    }
    try checkNoSegmentIsLeft()
  }

  /// Fails if there is a segment of pages that neither the state names nor the appender writes to.
  private func checkNoSegmentIsLeft() throws {
    if engine.fold != nil { return }
    let named = engine.working.base.file.segmentNumbers
    for name in medium.names {
      guard case .pages(let number) = name.kind else { continue }
      try agree(
        named.contains(number) || engine.appender.end?.segment == number, "\(name) is left")
    }
  }

  private mutating func perform(
    steps: Int, _ transaction: Transaction
  ) throws {
    var savepoints: [(Transaction.Savepoint, Content)] = []
    let segments = medium.callCount(at: .segmentCreate)
    if isAscending, random.next() % 2 == 0 { transaction.expectMany() }
    // Nothing is spilled yet: all of it is read through levels.
    if engine.options.levelRatio != nil { try verify(transaction) }
    for _ in 0..<steps {
      stamp += 1
      if isAscending, random.next() % 8 == 0 {
        try putInOrder(transaction)
        continue
      }
      switch random.next() % 100 {
      case 0..<5: savepoints.append((try transaction.savepoint(), content))
      case 5..<8:
        guard !savepoints.isEmpty else { continue }
        let index = Int(random.next() % UInt64(savepoints.count))
        savepoints.removeLast(savepoints.count - index - 1)
        transaction.rollBack(to: savepoints[index].0)
        content = savepoints[index].1
      case 8..<11: if let last = savepoints.popLast() { transaction.release(last.0) }
      case 11: try change(.clear(tree: tree()), transaction)
      case 12..<18: try batch(transaction)
      case 18..<36: try change(.remove(tree: tree(), key: key()), transaction)
      default: try change(put(), transaction)
      }
      if random.next() % UInt64(reading) == 0 { try verify(transaction) }
    }
    if transaction.spill != nil { spilled += 1 }
    if medium.callCount(at: .segmentCreate) > segments { loading += 1 }
    try verify(transaction)
    if random.next() % 4 == 0 { try fold() }
  }

  /// Ends a fold during the transaction, mostly in a segment after those that were loaded.
  private mutating func fold() throws {
    if random.next() % 2 == 0, engine.fold == nil { engine.abandonAppended() }
    while try engine.stepFold() {}
  }

  /// Puts many keys after the last of a tree.
  private mutating func putInOrder(_ transaction: Transaction) throws {
    let tree = tree()
    var next = (content.trees[tree].keys.max() ?? -1) + 1 + Int(random.next() % 3)
    let length = length()
    for _ in 0..<20 + random.next() % 80 where next < keyCount {
      try change(.put(tree: tree, key: next, length: length), transaction)
      next += 1 + Int(random.next() % 2)
    }
  }

  private mutating func tree() -> Int { [0, 1, 1, 1, 2][Int(random.next() % 5)] }
  private mutating func key() -> Int { Int(random.next() % UInt64(keyCount)) }

  private mutating func put() -> Change {
    .put(tree: tree(), key: key(), length: Int(random.next() % UInt64(length() + 1)))
  }

  /// Does some puts into one tree at once, of which some may have the same key.
  private mutating func batch(_ transaction: Transaction) throws {
    let tree = tree()
    let length = Int(random.next() % UInt64(length() + 1))
    var batch = PutBatch()
    for _ in 0..<random.next() % 9 {
      let key = key()
      batch.append(
        Content.key(key).rawSpan, Content.value(stamp: stamp, key: key, length: length).rawSpan)
      _ = content.apply(.put(tree: tree, key: key, length: length), stamp: stamp)
    }
    try transaction.put(
      batch, schemaVersion: Content.schemaVersion(stamp: stamp),
      in: engine.names.slot(of: Content.treeNames[tree]))
  }

  private mutating func length() -> Int { lengths[Int(random.next() % 3)] }

  private mutating func change(
    _ change: Change, _ transaction: Transaction
  ) throws {
    let isOne = content.apply(change, stamp: stamp)
    if case .remove(let tree, let key) = change {
      let isDone = try transaction.remove(
        Content.key(key).rawSpan, in: engine.names.slot(of: Content.treeNames[tree]))
      try agree(isDone == isOne, "\(key) of \(tree) was there: \(isDone)")
    } else {
      try transaction.perform([change], engine.names, stamp: stamp)
    }
  }
}

// MARK: - Reading

extension SpillHistory {
  private mutating func verify(_ transaction: Transaction) throws {
    for (number, expected) in content.trees.enumerated() {
      let tree = try transaction.tree(engine.names.slot(of: Content.treeNames[number]))
      let count = try tree.count()
      try agree(count == expected.count, "\(count), not \(expected.count)")
      var value: Bytes = []
      for key in 0..<keyCount {
        let isFound = try tree.copyValue(for: Content.key(key).rawSpan, to: &value)
        try agree(isFound == (expected[key] != nil), "\(key) in \(number) is there: \(isFound)")
        if isFound { try agree(value == expected[key], "\(key) in \(number) is \(value)") }
        let isThere = try tree.contains(Content.key(key).rawSpan)
        try agree(isThere == isFound, "\(key) in \(number) is contained: \(isThere)")
      }
      try verify(tree.cursor(), expected)
      let sought = key()
      let rank = try tree.rank(of: Content.key(sought).rawSpan)
      try agree(rank == expected.keys.count { $0 < sought }, "\(rank) keys are before \(sought)")
      let cursor = tree.cursor()
      let isThere = try tree.seek(cursor, toOffset: rank)
      let found = expected.keys.filter { $0 >= sought }.min()
      try agree(isThere == (found != nil), "an entry has \(rank) before it: \(isThere)")
      guard let found else { continue }
      try agree(cursor.key.array() == Content.key(found), "\(found) is not at \(rank)")
    }
  }

  /// Goes over everything in both directions, and to and fro.
  private mutating func verify(
    _ cursor: TransactionCursor, _ expected: [Int: Bytes]
  ) throws {
    let keys = expected.keys.sorted()
    var isOn = try cursor.first()
    for key in keys {
      try verify(cursor, isOn, key, expected)
      isOn = try cursor.next()
    }
    try agree(!isOn, "an entry behind the last")
    isOn = try cursor.last()
    for key in keys.reversed() {
      try verify(cursor, isOn, key, expected)
      isOn = try cursor.previous()
    }
    try agree(!isOn, "an entry before the first")
    let sought = key()
    isOn = try cursor.seek(to: Content.key(sought).rawSpan)
    var place = keys.firstIndex { $0 >= sought } ?? keys.count
    for _ in 0..<12 {
      try agree(isOn == keys.indices.contains(place), "from \(sought): \(isOn)")
      if !isOn { return }
      try verify(cursor, isOn, keys[place], expected)
      let isForward = random.next() % 2 == 0
      isOn = isForward ? try cursor.next() : try cursor.previous()
      place += isForward ? 1 : -1
    }
  }

  private func verify(
    _ cursor: TransactionCursor, _ isOn: Bool, _ key: Int,
    _ expected: [Int: Bytes]
  ) throws {
    try agree(isOn, "no entry \(key)")
    try agree(cursor.key.array() == Content.key(key), "\(cursor.key.array()), not \(key)")
    var value: Bytes = []
    try cursor.appendValue(to: &value)
    try agree(value == expected[key], "\(key) has another value")
  }
}
