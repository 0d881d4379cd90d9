import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// A store that random things happen to, one after the other, and dictionaries that know what it must hold.
struct RandomHistory {
  private static let keys = 0...90

  private let seed: UInt64
  private var random: SplitMix64
  private var run: ScenarioRun
  private var lives = 0
  /// Snapshots that are held, and what they must show for as long.
  private var held: [(snapshot: Snapshot, content: Content, names: TreeNames)] = []
  /// Whether something may go wrong until the store is opened anew.
  private var isFaulty = false
  /// What was done so far, and the last of it, for whoever looks for what went wrong.
  private(set) var operationCount = 0
  private var comparedAt = 0
  /// Told only if something goes wrong: to describe every step takes longer than many of them do.
  private var recent: [any Sendable] = []

  init(seed: UInt64, of kind: Content.Kind = .entries) {
    self.seed = seed
    random = SplitMix64(seed: seed)
    var scenario = Scenario(name: "random", seed: seed, kind: kind)
    if seed % 3 == 1 { scenario.options.logSize = .init(initial: 128 << 10, max: 128 << 10) }
    if seed % 3 == 2 { scenario.options.overlayScaleMax = 4 }
    if seed % 4 == 2 { scenario.options.leastSegmentOfGarbage = 16 << 10 }
    if seed % 2 == 1 { scenario.options.levelRatio = 0 }
    if seed % 4 < 2 { scenario.options.carriedMax = 0 }
    if seed % 5 == 1 { scenario.options.foldThreshold = 16 << 10 }
    if seed % 4 == 1 { scenario.options.readMode = .mapped }
    run = ScenarioRun(scenario)
  }

  /// - Throws: `Disagreement` with the seed and where it came to.
  mutating func run(operations count: Int) throws {
    do {
      try run.perform(.open)
      while operationCount < count {
        try next()
        if operationCount - comparedAt >= 100 { try compare() }
      }
      try compare()
    } catch {
      throw Disagreement(
        description: "seed \(seed), operation \(operationCount): \(error)\n  after "
          + recent.suffix(8).map { "\($0)" }.joined(separator: "; "))
    }
  }

  private mutating func next() throws {
    switch random.next() % 100 {
    case 0..<44: try transaction()
    case 44..<74: try read()
    case 74..<78: hold()
    case 78..<81: letGo()
    case 81..<85: try perform(.step(Int.random(in: 1...3, using: &random)))
    case 85, 86: try compact()
    case 87..<90: try perform(.flush)
    case 90..<92: try perform(.seal)
    case 92: try perform(.settle)
    case 93: try perform(.freeze)
    case 94: try reopen(closing: true)
    case 95: try reopen(closing: false)
    case 96..<98: try crash()
    default: fail()
    }
  }

  /// Does one thing; where something is to go wrong, the store is opened anew when it has.
  private mutating func perform(_ step: Scenario.Step) throws {
    operationCount += 1
    recent.append(step)
    if recent.count > 64 { recent.removeFirst(56) }
    do {
      try run.perform(step)
    } catch let error as StoreError where isFaulty {
      recent.append("threw \(error)")
      try recover()
    } catch is NotOpen where isFaulty {
      try recover()
    }
  }
}

// MARK: - Compacting

extension RandomHistory {
  private mutating func compact() throws {
    let scope: CompactionScope = random.next() % 3 == 0 ? .whole : .segments
    try perform(.compact(scope, slices: Int.random(in: 1...4, using: &random)))
  }
}

// MARK: - Transactions

extension RandomHistory {
  private mutating func transaction() throws {
    let durability: Durability =
      random.next() % 3 == 0 ? .durable : .relaxed
    let changes = changes()
    operationCount += changes.count - 1
    switch random.next() % 16 {
    case 0: try perform(.abort(changes, durability))
    case 1, 2:
      let undone = self.changes()
      operationCount += undone.count + 2
      try perform(.savepoint(changes, undone: undone, then: self.changes(), durability))
    default: try perform(.commit(changes, durability))
    }
  }

  private mutating func changes() -> [Change] {
    // Seldom so many that a footer commits them.
    let isLarge = random.next() % 300 == 0
    let count = isLarge ? 5 : Int.random(in: 1...8, using: &random)
    return (0..<count).map { _ in change(isLarge: isLarge) }
  }

  private mutating func change(isLarge: Bool) -> Change {
    let tree = Int.random(in: 0...2, using: &random)
    let key = Int.random(in: Self.keys, using: &random)
    switch random.next() % 64 {
    case 0: return .clear(tree: tree)
    case 1..<20: return .remove(tree: tree, key: key)
    case 20: return .put(tree: tree, key: key, length: Int.random(in: 200...6_000, using: &random))
    default:
      let length = isLarge ? 12_000 : Int.random(in: 0...50, using: &random)
      return .put(tree: tree, key: key, length: length)
    }
  }
}

// MARK: - Reading

extension RandomHistory {
  /// What is published, which commits that wait for their flush need not be in yet.
  private func published() throws -> (Snapshot, Content, TreeNames)? {
    guard let engine = run.engine else { return nil }
    let snapshot = try engine.snapshot()
    let sequence = Int(snapshot.state.sequence)
    try agree(
      sequence >= run.history.durable && sequence <= run.history.last,
      "\(sequence) is published, of \(run.history.durable) to \(run.history.last)")
    return (snapshot, run.history[sequence], engine.names)
  }

  private mutating func read() throws {
    operationCount += 1
    guard let (snapshot, content, names) = try published() else { return }
    let tree = Int.random(in: 0...2, using: &random)
    let key = Int.random(in: Self.keys, using: &random)
    if content.kind == .records {
      do {
        try KeptTypes(names).check(
          .state(SnapshotTrees(snapshot)), tree, key, is: content.trees[tree][key])
      } catch is StoreError where isFaulty {
        // What fails is read again when it does not.
      }
      return
    }
    let layers = try snapshot.tree(names.slot(of: Content.treeNames[tree]))
    try agree(layers.count == content.trees[tree].count, "\(layers.count) entries in \(tree)")
    var value: Bytes = []
    do {
      let isThere = try layers.copyValue(for: Content.key(key).rawSpan, to: &value)
      let expected = content.trees[tree][key]
      try agree(isThere == (expected != nil), "\(key) in \(tree): \(isThere)")
      try agree(!isThere || value == expected, "\(key) in \(tree) is \(value.prefix(8))")
    } catch is StoreError where isFaulty {
      // What fails is read again when it does not.
    }
  }

  private mutating func hold() {
    operationCount += 1
    guard held.count < 4, let (snapshot, content, names) = try? published() else { return }
    held.append((snapshot, content, names))
  }

  private mutating func letGo() {
    operationCount += 1
    guard let index = held.indices.randomElement(using: &random) else { return }
    held.remove(at: index)
  }

  /// Everything that is published, and every snapshot that is held.
  private mutating func compare() throws {
    comparedAt = operationCount
    if isFaulty { return try recover() }
    try compareHeld()
  }

  private func compareHeld() throws {
    if let (snapshot, content, names) = try published() {
      try snapshot.checkHolds(content, names)
      try snapshot.scan(content, names)
      try run.engine?.checkLiveBytes()
    }
    for (snapshot, content, names) in held { try snapshot.checkHolds(content, names) }
  }
}

// MARK: - Misfortune

extension RandomHistory {
  private mutating func reopen(closing: Bool) throws {
    held = []
    try perform(closing ? .close : .kill)
    if run.engine == nil { try perform(.open) }
  }

  private mutating func crash() throws {
    let pending = run.medium.pendingCount
    let policies = CrashPolicy.some(1, pending: pending, seed: random.next())
    for policy in policies {
      operationCount += 1
      recent.append("crash \(policy)")
      held = []
      run.end()
      try moveOn(to: run.medium.crashed(policy))
    }
  }

  /// The same store on another medium.
  private mutating func moveOn(to medium: SimulatedFileSystem) throws {
    lives += 1
    var scenario = run.scenario
    scenario.stamp = lives * 331
    run = ScenarioRun(scenario, in: medium, history: run.history, exists: run.exists)
    isFaulty = false
    try run.perform(.open)
  }

  /// Something goes wrong at one of the next calls.
  private mutating func fail() {
    operationCount += 1
    if isFaulty { return }
    isFaulty = true
    let faults: [Fault] = [
      .error(.ioError), .error(.noSpace), .errorAfter(bytes: 512, .noSpace),
      .errorAfterAll(.ioError), .flush(.errorCacheShowsNew), .flush(.errorCacheReverts),
      .flush(.errorStillDirty), .flush(.errorOnOneDescriptor),
    ]
    let fault = faults[Int(random.next() % UInt64(faults.count))]
    let call = run.medium.callCount + Int.random(in: 0...12, using: &random)
    recent.append("\(fault) at \(call)")
    run.medium.inject(fault, at: .call(call), random.next() % 4 == 0 ? .forGood : .once)
  }

  /// The cause is gone; the process ends and another begins, on the same system or after a crash.
  private mutating func recover() throws {
    isFaulty = false
    run.medium.heal()
    // What was published stays readable after any failure.
    try compareHeld()
    held = []
    run.end()
    if random.next() % 2 == 0 {
      recent.append("opened again")
      run.medium.restart()
      try run.perform(.open)
    } else {
      recent.append("power cut")
      try moveOn(to: run.medium.crashed(.none))
    }
  }
}

extension Snapshot {
  /// Walks through the trees where nothing but levels lies on top of them, and looks at order and neighbours.
  fileprivate func scan(_ content: Content, _ names: TreeNames) throws {
    guard content.kind == .entries, state.frozen == nil, state.fresh.isEmpty else { return }
    for (number, expected) in content.trees.enumerated() {
      let tree = tree(try names.slot(of: Content.treeNames[number]))
      var cursor = LayeredCursor(tree)
      var isOnEntry = try cursor.first()
      for key in expected.keys.sorted() {
        try agree(isOnEntry, "the scan ends before \(key)")
        let found = cursor.key.array()
        try agree(found == Content.key(key), "the scan finds \(found), not \(key)")
        isOnEntry = try cursor.next()
      }
      try agree(!isOnEntry, "the scan goes on behind the last")
      let low = expected.keys.sorted().dropFirst(expected.count / 2).first ?? 0
      let rank = try tree.rank(of: Content.key(low).rawSpan)
      try agree(rank == expected.keys.count { $0 < low }, "the rank of \(low) is \(rank)")
    }
  }
}
