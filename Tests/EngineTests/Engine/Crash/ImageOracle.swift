import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// Opens what a crash left, and says what is wrong with it.
struct ImageOracle {
  let history: History
  /// Whether an open returned, so that there must be a store.
  let exists: Bool
  let options: EngineOptions
  let seed: UInt64
  /// Whether all that was written reached the medium or nothing, so that nothing is torn.
  var isClean = false

  /// Nil if all is right.
  func violation(in image: SimulatedFileSystem) -> String? {
    do {
      let names = image.names
      let engine = try SimulatedEngine.open(image, options: options, seed: seed)
      try check(engine.report, before: names, in: image, engine)
      try check(engine, Int(engine.report.sequence))
      try check(filesOf: engine, in: image)
      if try engine.endPass() {
        try check(engine, Int(engine.report.sequence))
        try check(filesOf: engine, in: image)
      }
    } catch {
      return "\(error)"
    }
    let openFiles = image.openFileCount
    return openFiles == 0 ? nil : "\(openFiles) files are still open"
  }
}

// MARK: - What is served

extension ImageOracle {
  /// A prefix of the commit order, with all that was promised.
  private func check(_ engine: SimulatedEngine, _ sequence: Int) throws {
    try agree(
      sequence >= history.durable, "\(sequence) is served, \(history.durable) was promised")
    try agree(sequence <= history.last, "\(sequence) is served, of \(history.last)")
    try engine.checkHolds(history[sequence])
    let faults = engine.working.base.file.check(sizes: options.nodeSizes)
    try agree(faults.isEmpty, "\(faults)")
    try engine.checkLiveBytes()
  }

  private func check(
    _ report: OpenReport, before names: Set<FileName>, in image: SimulatedFileSystem,
    _ engine: SimulatedEngine
  ) throws {
    try agree(report.isNew == !names.contains(.log(0)), "new: \(report.isNew), of \(names)")
    try agree(!report.isNew || !exists, "the store is gone")
    let covered = engine.working.base.coveredSequence
    try agree(
      UInt64(report.replayedCommits) == report.sequence - covered,
      "\(report.replayedCommits) replayed, from \(covered) to \(report.sequence)")
    if !isClean { return }
    try agree(report.healed.isEmpty, "healed: \(report.healed)")
    try agree(report.discardedTail == nil, "discarded: \(report.discardedTail ?? "")")
  }

  /// Nothing is there that nobody needs.
  private func check(filesOf engine: SimulatedEngine, in image: SimulatedFileSystem) throws {
    let segments = engine.working.base.file.segmentNumbers.map { FileName.pages($0) }
    let logs = engine.logFiles.indices.map { FileName.log(UInt32($0)) }
    let expected = Set([.lock] + logs + segments)
    let names = image.names
    try agree(names == expected, "\(names), and not \(expected)")
  }
}

extension Engine {
  /// Goes on with a compaction that was broken off, to the end of its pass.
  ///
  /// - Returns: whether there was one.
  fileprivate func endPass() throws -> Bool {
    if working.base.file.footer.pendingWork.isEmpty { return false }
    for _ in 0..<1000 {
      guard let slice = try compact(CompactionRequest()) else { break }
      if slice.endsPass { return true }
    }
    throw Disagreement(description: "a compaction that was broken off does not end")
  }

  /// Throws unless the live bytes that the newest footer states are those that a walk counts.
  func checkLiveBytes() throws {
    let faults = try working.base.file.liveBytesFaults()
    try agree(faults.isEmpty, "\(faults)")
  }

  /// Throws unless the newest published state holds `content`, all of it and nothing else.
  func checkHolds(_ content: Content) throws {
    try snapshot().checkHolds(content, names)
  }
}

extension Snapshot {
  /// Keys come in their order, so that each run leaves the same pages in the cache, and makes the same calls later.
  func checkHolds(_ content: Content, _ names: TreeNames) throws {
    switch content.kind {
    case .entries: try checkHoldsEntries(content, names)
    case .records: try KeptTypes(names).check(.state(SnapshotTrees(self)), hold: content)
    }
  }

  private func checkHoldsEntries(_ content: Content, _ names: TreeNames) throws {
    var value: Bytes = []
    for (number, expected) in content.trees.enumerated() {
      let name = Content.treeNames[number]
      let tree = try tree(names.slot(of: name))
      let count = tree.count
      guard count == expected.count else {
        throw Disagreement(description: "\(count) entries in \(name), not \(expected.count)")
      }
      for (key, expected) in expected.sorted(by: { $0.key < $1.key }) {
        guard try tree.copyValue(for: Content.key(key).rawSpan, to: &value) else {
          throw Disagreement(description: "no \(key) in \(name), after \(state.sequence)")
        }
        guard value == expected else {
          throw Disagreement(
            description: "\(key) in \(name) is \(value.prefix(8)), not \(expected.prefix(8)),"
              + " after \(state.sequence)")
        }
      }
    }
  }
}
