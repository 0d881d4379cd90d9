import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// Does what a scenario says, and keeps account of what is promised.
final class ScenarioRun {
  let scenario: Scenario
  let medium: SimulatedFileSystem
  private(set) var history: History
  private(set) var engine: SimulatedEngine?
  /// Whether the store was open once, and so exists.
  private(set) var exists: Bool
  /// Whether it was closed since it was opened.
  private var isClosed = false
  private var life: UInt64 = 0

  init(
    _ scenario: Scenario, in medium: SimulatedFileSystem = SimulatedFileSystem(),
    history: History? = nil, exists: Bool = false
  ) {
    self.scenario = scenario
    self.medium = medium
    self.history = history ?? History(of: scenario.kind)
    self.exists = exists
  }

  /// - Throws: what the first step that fails does.
  func run() throws {
    for step in scenario.steps { try perform(step) }
  }

  /// Lets go of the store without closing it.
  func end() {
    engine = nil
  }

  func perform(_ step: Scenario.Step) throws {
    switch step {
    case .open: try open()
    case .kill: engine = nil
    case .failPages:
      medium.inject(.error(.ioError), at: .site(.pageWrite, medium.callCount(at: .pageWrite)))
    case .commit(let changes, let durability): try commit(changes, [], [], durability)
    case .savepoint(let changes, let undone, let then, let durability):
      try commit(changes, undone, then, durability)
    case .trees(let changes, let trees, let keeping, let durability):
      try commit(changes, [], [], durability, trees, keeping: keeping)
    case .abort(let changes, let durability): try abort(changes, durability)
    default: try work(step)
    }
  }

  /// What changes nothing in the store's contents.
  private func work(_ step: Scenario.Step) throws {
    guard let engine else { throw NotOpen() }
    switch step {
    case .flush:
      try engine.flush()
      history.acknowledge()
    case .seal:
      try engine.seal()
      history.acknowledge()
    case .step(let count): _ = try engine.step(budget: count)
    case .settle: while try engine.step() {}
    case .freeze: engine.freezeIfPossible()
    case .compact(let scope, let slices): try engine.compact(scope, slices: slices)
    default:
      self.engine = nil
      try engine.close()
      history.acknowledge()
      // Where there was no space for the trees, the log holds all.
      isClosed = engine.working.sequence == engine.working.base.coveredSequence
    }
  }
}

// MARK: - Opening

extension ScenarioRun {
  private func open() throws {
    life += 1
    let wasClosed = isClosed
    isClosed = false
    let engine = try SimulatedEngine.open(
      medium, options: scenario.options,
      seed: scenario.seed &* 1000 &+ life &+ UInt64(scenario.stamp) << 32)
    let sequence = Int(engine.report.sequence)
    guard sequence >= history.durable, sequence <= history.last else {
      throw Disagreement(
        description: "\(sequence) is served, of \(history.durable) to \(history.last)")
    }
    let report = engine.report
    try agree(
      !wasClosed || (report.replayedCommits == 0 && report.discardedTail == nil),
      "it was closed, and opened with \(report)")
    history.shown(sequence)
    exists = true
    try engine.checkHolds(history.newest)
    self.engine = engine
  }
}

// MARK: - Transactions

extension ScenarioRun {
  private struct Abort: Error {}

  private func commit(
    _ changes: [Change], _ undone: [Change], _ then: [Change], _ durability: Durability,
    _ trees: [TreeChange] = [], keeping: Bool? = nil
  ) throws {
    guard let engine else { throw NotOpen() }
    let stamp = scenario.stamp + history.last + 1
    var next = history.newest
    var isCommit = false
    for change in changes + then where next.apply(change, stamp: stamp) { isCommit = true }
    for change in trees { next.apply(change) }
    isCommit = isCommit || keeping != nil
    // From its first call on it may be there after a crash.
    if isCommit { history.add(next) }
    do {
      try engine.write(durability) { transaction in
        try perform(changes, undone, then, transaction, engine.names, stamp: stamp)
        guard let keeping else { return }
        transaction.treeWork.operations = try trees.map { try $0.operation(engine.names) }
        transaction.treeWork.keeping = [
          keeping ? .keep(version: UInt32(stamp), label: "kept") : .dropBefore(version: .max)
        ]
      }
    } catch {
      if isCommit, !Self.mayBeThere(error) { history.removeLast() }
      throw error
    }
    if durability.isDurable { history.acknowledge() }
  }

  private func perform(
    _ changes: [Change], _ undone: [Change], _ then: [Change],
    _ transaction: Transaction, _ names: TreeNames, stamp: Int
  ) throws {
    switch scenario.kind {
    case .records:
      try KeptTypes(names).perform(
        changes, undone: undone, then: then, in: transaction, stamp: stamp)
    case .entries:
      try transaction.perform(changes, names, stamp: stamp)
      if !undone.isEmpty {
        let savepoint = try transaction.savepoint()
        try transaction.perform(undone, names, stamp: stamp + 99)
        transaction.rollBack(to: savepoint)
      }
      try transaction.perform(then, names, stamp: stamp)
    }
  }

  /// Of a commit that threw.
  private static func mayBeThere(_ error: any Error) -> Bool {
    if case StoreError.outcomeUnknown = error { true } else { false }
  }

  private func abort(_ changes: [Change], _ durability: Durability) throws {
    guard let engine else { throw NotOpen() }
    do {
      try engine.write(durability) { transaction in
        try perform(changes, [], [], transaction, engine.names, stamp: scenario.stamp + 77)
        throw Abort()
      }
    } catch is Abort {
      // It says so when all that it read is on the medium.
      if durability.isDurable { history.acknowledge() }
    }
  }
}

extension TreeChange {
  fileprivate func operation(_ names: TreeNames) throws(StoreError) -> TreeOperation {
    switch self {
    case .copy(let tree, let target):
      .copy(
        try names.slot(of: Content.treeNames[tree]),
        to: try names.slot(of: Content.treeNames[target]))
    case .move(let tree, let target):
      .move(
        try names.slot(of: Content.treeNames[tree]),
        to: try names.slot(of: Content.treeNames[target]))
    }
  }
}

extension Transaction {
  func perform(_ changes: [Change], _ names: TreeNames, stamp: Int) throws {
    for change in changes {
      switch change {
      case .put(let tree, let key, let length):
        let value = Content.value(stamp: stamp, key: key, length: length)
        try put(
          Content.key(key).rawSpan, value.rawSpan,
          schemaVersion: Content.schemaVersion(stamp: stamp),
          in: names.slot(of: Content.treeNames[tree]))
      case .remove(let tree, let key):
        _ = try remove(
          Content.key(key).rawSpan, in: names.slot(of: Content.treeNames[tree]))
      case .clear(let tree): removeAll(in: try names.slot(of: Content.treeNames[tree]))
      }
    }
  }
}

extension Engine {
  /// Freezes the fresh overlay though there is nothing in it.
  func freezeNothing() {
    lock.lock()
    defer { lock.unlock() }
    precondition(working.frozen == nil && working.fresh.isEmpty, "there is something")
    freeze()
  }
}

extension Engine {
  /// Does at most so many slices of a compaction, each of a few pages.
  func compact(_ scope: CompactionScope, slices: Int) throws(StoreError) {
    var request = CompactionRequest(scope: scope)
    request.below = try spaceUsage().nextNumber
    request.bytes = 2 * Layout.blockSize
    for _ in 0..<slices {
      if try compact(request) == nil { return }
    }
  }
}
