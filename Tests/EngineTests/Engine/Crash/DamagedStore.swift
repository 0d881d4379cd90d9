import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// Opens a damaged store and reads all of it: every answer is right, or an error that says where the damage
/// is.
struct DamagedStore {
  let fixture: StoreFixture
  /// What was damaged. Empty where a file was cut or removed: then `file` says which.
  var places: Set<StoreFixture.Place> = []
  var file: FileName?
  /// Whether a frame lost the mark of its use: then it looks like one left from another, as lie behind every
  /// end, and that is no torn tail to speak of.
  var hasLostSalt = false

  /// Nil if all is right.
  func violation(in image: SimulatedFileSystem) -> String? {
    do throws(StoreError) {
      let engine = try SimulatedEngine.open(image, options: fixture.options, seed: 77)
      return try violation(in: engine)
    } catch {
      return isLocated(error) ? nil : "\(error)"
    }
  }

  private func violation(in engine: SimulatedEngine) throws(StoreError) -> String? {
    let sequence = Int(engine.report.sequence)
    guard let content = content(of: sequence) else {
      return "\(sequence) is served, not \(fixture.sequence)"
    }
    let isSilent = engine.report.discardedTail == nil
    if sequence < fixture.sequence, isSilent, file == nil, !hasLostSalt {
      return "a commit is gone without a word"
    }
    for fault in engine.report.healed where !isLocated(fault) { return "healed: \(fault)" }
    let snapshot = try engine.snapshot()
    if content.kind == .records {
      return try violation(of: .state(SnapshotTrees(snapshot)), engine.names, content)
    }
    for (number, expected) in content.trees.enumerated() {
      let tree = try snapshot.tree(engine.names.slot(of: Content.treeNames[number]))
      if tree.count != expected.count { return "\(tree.count) entries in \(number)" }
      for (key, value) in expected {
        if let fault = fault(of: key, in: tree, not: value) { return fault }
      }
    }
    return nil
  }

  /// What may be served: the last commit is a torn tail to whoever finds its frame damaged, as no frame is
  /// behind it; and so is the one before to whoever finds both damaged.
  private func content(of sequence: Int) -> Content? {
    let lost = fixture.sequence - sequence
    guard lost == 0 || (lost > 0 && lost <= lostFrames) else { return nil }
    return fixture.contents[fixture.contents.count - 1 - lost]
  }

  /// How many of the last frames are damaged, all of them.
  private var lostFrames: Int {
    if let file { return fixture.frames.first?.contains { $0.file == file } == true ? 1 : 0 }
    return fixture.frames.prefix { !places.isDisjoint(with: $0) }.count
  }

  private func fault(
    of key: Int, in tree: LayeredTree, not expected: Bytes
  ) -> String? {
    var value: Bytes = []
    do throws(StoreError) {
      guard try tree.copyValue(for: Content.key(key).rawSpan, to: &value) else {
        return "no \(key)"
      }
      return value == expected ? nil : "\(key) is \(value.prefix(8))"
    } catch {
      return isLocated(error) ? nil : "\(error)"
    }
  }

  /// The same of records: each by its key, and every index entry by its own, and all of them in order.
  private func violation(
    of access: TreeAccess, _ names: TreeNames, _ content: Content
  ) throws(StoreError) -> String? {
    let types = try KeptTypes(names)
    for tree in KeptRecords.types.indices {
      for number in content.trees[tree].keys.sorted() + [-1] {
        let fault = fault {
          try types.check(access, tree, number, is: content.trees[tree][number])
        }
        if let fault { return fault }
      }
      let indexes = try types.trees(tree).indexes
      for (index, entries) in zip(indexes, fixture.entries(of: tree, content)) {
        let fault = fault { try access.check(index.slot, holds: entries) }
        if let fault { return fault }
      }
    }
    return fault { () throws in
      for error in try types.faults(access) where !isLocated(error) {
        throw Disagreement(description: "the check finds \(error)")
      }
    }
  }

  /// What is wrong, unless it is an error that names the damage.
  private func fault(_ body: () throws -> Void) -> String? {
    do {
      try body()
      return nil
    } catch let error as StoreError {
      return isLocated(error) ? nil : "\(error)"
    } catch {
      return "\(error)"
    }
  }

  /// Whether an error names the damage: the block, or one where something begins that reaches there.
  private func isLocated(_ error: StoreError) -> Bool {
    switch error {
    case .corrupt(.page(let position), _, _):
      let block = Int(position.block)
      return isDamaged(.pages(position.segment), block...block + Layout.pageBlocksMax)
    case .corrupt(.segment(let number), _, _):
      return isDamaged(.pages(number), 0...Layout.segmentBlocksMax)
    case .corrupt(.log(let number, let block), _, _):
      // Which of two copies of a header is right, nobody can tell. The longest frame is three blocks.
      let isHeader = block < LogLayout.firstFrameBlock
      return isDamaged(
        .log(number),
        isHeader ? 0...LogLayout.firstFrameBlock - 1 : Int(block)...Int(block) + 2)
    case .missing: return file != nil
    default: return false
    }
  }

  private func isDamaged(_ name: FileName, _ blocks: ClosedRange<Int>) -> Bool {
    file == name || places.contains { $0.file == name && blocks.contains($0.block) }
  }
}

extension TreeAccess {
  /// Throws unless a tree has exactly these entries, asked for one by one and in order.
  fileprivate func check(
    _ tree: TreeSlot, holds entries: [(key: Bytes, value: Bytes)]
  ) throws {
    let count = try count(in: tree)
    try agree(count == entries.count, "\(count) entries, not \(entries.count)")
    var damage: StoreError?
    var value: Bytes = []
    for entry in entries {
      do throws(StoreError) {
        let isThere = try copyValue(of: entry.key.rawSpan, in: tree, to: &value)
        if isThere, value == entry.value { continue }
      } catch {
        damage = error
        continue
      }
      throw Disagreement(description: "the entry \(entry.key.prefix(16)) is \(value.prefix(16))")
    }
    let cursor = try cursor(in: tree)
    var isOn = try cursor.first()
    for entry in entries {
      try agree(isOn, "the entries end before \(entry.key.prefix(16))")
      let found = (cursor.key.array(), try cursor.value().array())
      try agree(found == (entry.key, entry.value), "there is the entry \(found)")
      isOn = try cursor.next()
    }
    if let damage { throw damage }
  }
}
