/// What a check of a tree found.
struct TreeReport: Equatable, Sendable {
  /// Every fault, located, in the order of the keys where they were found.
  var faults: [StoreError] = []
  var leafCount = 0
  var branchCount = 0
  var entryCount = 0
  /// The bytes of the tree's pages, those of large values included.
  var pageBytes = 0
  /// The bytes that leaves use, and what leaves of the standard size could.
  var leafBytesUsed = 0
  var leafCapacity = 0
}

/// Verifies every page of a tree and every invariant of `FORMAT.md` that trees obey.
///
/// It goes on after a fault, with what is beside the damaged page, so that a report names all of them.
/// Pages are read from the medium anew, whatever was verified before. Memory is a bit for each block of
/// the segments looked at.
struct TreeCheck: ~Copyable {
  private let pages: PageReader
  private let sizes: NodeSizes
  private var report = TreeReport()
  private var visited: [UInt32: BlockSet] = [:]
  private var lastLeaf: CheckedLeaf?
  /// Branches that are too empty, by level, and how many there are on each.
  private var thinBranches: [UInt8: [StoreError]] = [:]
  private var branchCounts: [UInt8: Int] = [:]
  /// Told of the bytes of every page that is looked at.
  private let watch: ((Int) -> Void)?

  /// What deciding about a leaf's fill needs to know when the next comes.
  private struct CheckedLeaf {
    var version: UInt32
    var thinness: StoreError?
    var hasKinBefore: Bool
  }

  /// - Parameter watch: Told of the bytes of every page that is looked at.
  static func run(
    _ tree: Tree, sizes: NodeSizes = .standard, watch: ((Int) -> Void)? = nil
  ) -> TreeReport {
    var check = TreeCheck(pages: tree.pages, sizes: sizes, watch: watch)
    guard let root = tree.root else { return check.report }
    check.visit(root.reference, level: root.level, low: [], high: nil)
    check.finishLeaf(before: nil)
    check.finishBranches()
    return check.report
  }

  private init(pages: PageReader, sizes: NodeSizes, watch: ((Int) -> Void)?) {
    self.pages = pages
    self.sizes = sizes
    self.watch = watch
  }
}

// MARK: Pages

extension TreeCheck {
  /// Checks the subtree at `reference`, whose keys are to be from `low` on and below `high`.
  private mutating func visit(
    _ reference: PageReference, level: UInt8, low: [UInt8], high: [UInt8]?
  ) {
    guard enter(reference) else { return }
    do throws(StoreError) {
      if level == 0 {
        try visitLeaf(reference, low: low, high: high)
      } else {
        try visitBranch(reference, level: level, low: low, high: high)
      }
    } catch {
      report.faults.append(error)
    }
  }

  /// Notes that a page was reached; false, and a fault, if it was before or cannot be there.
  private mutating func enter(_ reference: PageReference) -> Bool {
    report.pageBytes += reference.size
    watch?(reference.size)
    let segment = reference.position.segment
    // Bits are kept for segments that are there, not for each that a damaged branch names.
    guard let entry = pages.segments.entry(segment) else {
      report.faults.append(reference.fault(.pageExists, "its segment is not published"))
      return false
    }
    let blocks = visited[segment] ?? BlockSet(blocks: Int(entry.endBlock))
    visited[segment] = blocks
    if blocks.contains(reference.position.block) {
      report.faults.append(reference.fault(.oneParent, "two parents refer to it"))
      return false
    }
    blocks.insert(reference.position.block)
    return true
  }

  private mutating func visitBranch(
    _ reference: PageReference, level: UInt8, low: [UInt8], high: [UInt8]?
  ) throws(StoreError) {
    let page = try pages.load(reference, level: level, as: BranchPage.self)
    let node = Node(page.bytes)
    report.branchCount += 1
    checkBounds(of: node, reference, low: low, high: high)
    checkFill(of: node, reference, level: level, separator: low)
    var childLow = low
    for index in 0..<node.childCount {
      var childHigh = high
      if index < node.count {
        var key: [UInt8] = []
        node.copyKey(index, to: &key)
        childHigh = key
      }
      visit(node.child(index), level: level - 1, low: childLow, high: childHigh)
      childLow = childHigh ?? []
    }
  }

  private mutating func visitLeaf(
    _ reference: PageReference, low: [UInt8], high: [UInt8]?
  ) throws(StoreError) {
    let page = try pages.load(reference, level: 0, as: LeafPage.self)
    let node = Node(page.bytes)
    report.leafCount += 1
    report.entryCount += node.count
    report.leafBytesUsed += node.used
    report.leafCapacity += sizes.leaf
    checkBounds(of: node, reference, low: low, high: high)
    checkFill(of: node, reference)
    for slot in 0..<node.count where node.isExternal(slot) {
      visitValue(PageReference(decoding: node.value(slot), at: 0))
    }
  }

  private mutating func visitValue(_ reference: PageReference) {
    guard enter(reference) else { return }
    do throws(StoreError) {
      if reference.liveBytes == reference.size {
        _ = try pages.load(reference, level: 0, as: ValuePage.self)
      } else {
        try visitValueList(reference)
      }
    } catch {
      report.faults.append(error)
    }
  }

  private mutating func visitValueList(_ reference: PageReference) throws(StoreError) {
    let list = try pages.load(reference, level: 0, as: ValueListPage.self)
    let faultCount = report.faults.count
    var length = 0
    for index in 0..<ValueListPage.count(list.bytes) {
      length += visitValuePart(ValueListPage.reference(index, list.bytes))
    }
    // A part that cannot be read has said so itself.
    guard report.faults.count == faultCount else { return }
    guard length == ValueListPage.length(list.bytes) else {
      throw reference.fault(.valueLength, "its parts hold \(length) bytes")
    }
  }

  /// Returns the length of the part, 0 for one that cannot be read.
  private mutating func visitValuePart(_ reference: PageReference) -> Int {
    guard enter(reference) else { return 0 }
    do throws(StoreError) {
      let page = try pages.load(reference, level: 0, as: ValuePage.self)
      return ValuePage.part(page.bytes).byteCount
    } catch {
      report.faults.append(error)
      return 0
    }
  }
}

// MARK: Keys

extension TreeCheck {
  /// Checks that a node's keys lie between the separators beside it. Within the node they ascend, so
  /// the first and the last tell.
  private mutating func checkBounds(
    of node: borrowing Node, _ reference: PageReference, low: [UInt8], high: [UInt8]?
  ) {
    guard node.count > 0 else { return }
    var key: [UInt8] = []
    node.copyKey(0, to: &key)
    if key.rawSpan.compare(low.rawSpan) < 0 {
      report.faults.append(reference.fault(.separators, "its first key is below its separator"))
    }
    node.copyKey(node.count - 1, to: &key)
    if let high, key.rawSpan.compare(high.rawSpan) >= 0 {
      report.faults.append(
        reference.fault(.separators, "its last key is not below the next separator"))
    }
  }
}

// MARK: Fill

extension TreeCheck {
  private mutating func checkFill(of node: borrowing Node, _ reference: PageReference) {
    finishLeaf(before: node.schemaVersion)
    lastLeaf = CheckedLeaf(
      version: node.schemaVersion,
      thinness: thinness(reference, weight: node.entriesWeight, capacity: sizes.leaf),
      hasKinBefore: lastLeaf?.version == node.schemaVersion)
  }

  /// Decides about the last leaf, now that it is known what comes behind it.
  private mutating func finishLeaf(before nextVersion: UInt32?) {
    guard let leaf = lastLeaf, let thinness = leaf.thinness else { return }
    if leaf.hasKinBefore || leaf.version == nextVersion { report.faults.append(thinness) }
  }

  private mutating func checkFill(
    of node: borrowing Node, _ reference: PageReference, level: UInt8, separator: [UInt8]
  ) {
    var weight = OpenEntries.weight(
      keyLength: separator.count, valueLength: PageReference.size)
    for slot in 0..<node.count {
      weight += OpenEntries.weight(
        keyLength: node.keyLength(slot), valueLength: PageReference.size)
    }
    branchCounts[level, default: 0] += 1
    if let thinness = thinness(reference, weight: weight, capacity: sizes.branch) {
      thinBranches[level, default: []].append(thinness)
    }
  }

  private mutating func finishBranches() {
    for (level, faults) in thinBranches.sortedRarely(by: { $0.key < $1.key }) {
      if branchCounts[level, default: 0] > 1 { report.faults += faults }
    }
  }

  private func thinness(
    _ reference: PageReference, weight: Int, capacity: Int
  ) -> StoreError? {
    guard OpenEntries.isUnderThird(weight: weight, capacity: capacity) else { return nil }
    return reference.fault(.fill, "its entries weigh \(weight) of \(capacity) bytes")
  }
}
