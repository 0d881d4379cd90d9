/// Merges operations into a tree: where none falls into a subtree of the base, the subtree is linked by
/// reference and not read.
///
/// With an overlay it is the fold; without a base, the bulk load and the index build; not adopting the
/// pages of a segment, compaction; with a transform, migration. The base is not changed.
///
/// - Complexity: O(operations + entries of the leaves they fall into + branches above those) with
///   everything else adopted. Memory for a few nodes a level.
struct TreeMerge<Input: SortedInput & ~Copyable>: ~Copyable {
  let base: PageReader?
  var input: Input
  var inputHasOperation = false
  var transform: TreeTransform
  /// How many entries are still sought out to be transformed.
  private(set) var soughtCount: Int
  let adoption: Adoption
  /// Where `adoption` holds; nil for everywhere.
  let range: MergeRange?
  var builder: TreeBuilder
  /// What the leaf at hand gets, as long as it gets nothing but values of the old lengths.
  var replacements = LeafReplacements()
  /// What the transform makes of the value at hand.
  private var newValue: [UInt8] = []
  /// The leaves that a crew transforms ahead; nil without one.
  private let ahead: TasksAhead<TransformedLeaves>?

  /// Merges `input` into `root`, a tree that `base` reads, and appends what is new to `appender`.
  ///
  /// - Parameters:
  ///   - base: Where `root` is read; nil only if there is no root.
  ///   - transform: Changes entries of an older schema version than its own.
  ///   - adoption: What may be taken over as it is.
  ///   - range: Where that holds; elsewhere everything may be. It is told how far the merge came.
  ///   - tag: What the nodes say of their tree.
  ///   - following: Trees that come after `root`, ascending; `base` reads them too.
  /// - Returns: the new root, nil if no entry is left. Its pages may still wait in the appender.
  /// - Throws: `.corrupt` if the base is damaged, `.limitExceeded`, `.full`, `.io`. Nothing is
  ///   published, so nothing is lost.
  static func run(
    _ input: consuming Input, into root: TreeRoot?, of base: PageReader?,
    transform: TreeTransform = .none, adoption: Adoption = .all,
    within range: MergeRange? = nil, sizes: NodeSizes = .standard, tag: TreeTag = .none,
    followedBy following: [FollowingTree] = [], appendingTo appender: PageAppender
  ) throws(StoreError) -> TreeRoot? {
    precondition(
      (root == nil && following.isEmpty) || base != nil, "a tree is read by its reader")
    var merge = TreeMerge(
      base: base, input: input, transform: transform, adoption: adoption,
      range: range, builder: TreeBuilder(appendingTo: appender, base: base, sizes: sizes, tag: tag))
    merge.inputHasOperation = try merge.input.advance()
    if !following.isEmpty {
      try merge.visit(root, followedBy: following)
    } else if let root {
      try merge.visit(root.reference, level: Int(root.level), low: [], high: nil)
    } else {
      try merge.putOperations(below: nil)
    }
    return try merge.builder.finish()
  }

  private init(
    base: PageReader?, input: consuming Input, transform: TreeTransform,
    adoption: Adoption, range: MergeRange?, builder: consuming TreeBuilder
  ) {
    self.base = base
    self.input = input
    self.transform = transform
    soughtCount = transform.scope.count
    self.adoption = adoption
    self.range = range
    self.builder = builder
    if let crew = transform.crew, let body = transform.body, let base {
      ahead = TasksAhead(crew) { TransformedLeaves(base, body.copy()) }
    } else {
      ahead = nil
    }
  }
}

// MARK: The base

extension TreeMerge where Input: ~Copyable {
  /// Merges several trees, one after the other.
  private mutating func visit(
    _ root: TreeRoot?, followedBy following: [FollowingTree]
  ) throws(StoreError) {
    if let root {
      try visitBelow(root, low: [], high: following.first?.separator)
    } else {
      try putOperations(below: following.first?.separator)
    }
    for (index, tree) in following.enumerated() {
      let isLast = index == following.count - 1
      builder.beginTree()
      try visitBelow(
        tree.root, low: tree.separator, high: isLast ? nil : following[index + 1].separator)
    }
  }

  /// Merges a tree that does not stay one of its own: its root may have so little in it that it is no node of a
  /// larger tree, and is not taken over.
  private mutating func visitBelow(
    _ root: TreeRoot, low: [UInt8], high: [UInt8]?
  ) throws(StoreError) {
    if root.level == 0 {
      try mergeLeaf(root.reference, low: low, high: high)
    } else {
      try visitChildren(of: root.reference, level: Int(root.level), low: low, high: high)
    }
  }

  /// Merges the subtree at `reference`, whose keys are from `low` on and below `high`.
  ///
  /// The level falls with each call, which bounds the depth whatever the bytes say.
  private mutating func visit(
    _ reference: PageReference, level: Int, low: [UInt8], high: [UInt8]?
  ) throws(StoreError) {
    if try adopts(reference, level: level, low: low, high: high) {
      try builder.adopt(reference, level: level, separator: low, next: high)
    } else if level == 0 {
      try mergeLeaf(reference, low: low, high: high)
    } else {
      try visitChildren(of: reference, level: level, low: low, high: high)
    }
  }

  mutating func adopts(
    _ reference: PageReference, level: Int, low: [UInt8], high: [UInt8]?
  ) throws(StoreError) -> Bool {
    if hasOperation(below: high) { return false }
    if soughtCount > 0, reference.lowestVersion < transform.schemaVersion { return false }
    guard try mayStay(reference, level: level, low: low, high: high) else { return false }
    return try builder.prepareToAdopt(reference, level: level)
  }

  /// Whether a subtree into which no operation falls may be taken over.
  func mayStay(
    _ reference: PageReference, level: Int, low: [UInt8], high: [UInt8]?
  ) throws(StoreError) -> Bool {
    switch adoption {
    case .all: return true
    case .outside(let segments):
      let hasPagesBelow = reference.liveBytes != reference.size
      if segments.isClear(of: reference, hasPagesBelow: hasPagesBelow) { return true }
      if let range, !range.covers(low, high) { return true }
      guard let base else { return true }
      return try !base.mayReach(segments, from: reference, level: level)
    case .passing(let segments):
      return level > 0 || !segments.contains(reference.position.segment)
    }
  }

  /// How many leaves are asked for at once.
  private static var readAhead: Int { 16 }

  private mutating func visitChildren(
    of reference: PageReference, level: Int, low: [UInt8], high: [UInt8]?
  ) throws(StoreError) {
    guard let base else { return }
    let page = try base.page(reference, level: UInt8(level), as: BranchPage.self)
    let node = Node(page.bytes)
    try checkBounds(of: node, reference, low: low, high: high)
    builder.appender.replaced.insert(reference)
    if level == 1, let ahead, soughtCount > 0, !hasOperation(below: high) {
      return try visitLeaves(of: node, ahead, base, low: low, high: high)
    }
    var childLow = low
    var childHigh: [UInt8] = []
    for index in 0..<node.childCount {
      let isLast = index == node.count
      if !isLast { node.copyKey(index, to: &childHigh) }
      if level == 1, index % Self.readAhead == 0 {
        let end = min(index + 1 + Self.readAhead, node.childCount)
        if mayOpen(upTo: end, of: node, high: high) { base.willNeed(index + 1..<end, of: node) }
      }
      try visit(
        node.child(index), level: level - 1, low: childLow, high: isLast ? high : childHigh)
      swap(&childLow, &childHigh)
    }
  }

  /// Whether one of the children before `end` that are left may have to be read: otherwise all are taken over.
  private func mayOpen(
    upTo end: Int, of node: borrowing Node, high: [UInt8]?
  ) -> Bool {
    if soughtCount > 0 { return true }
    if case .outside = adoption { return true }
    return hasOperation(below: end == node.childCount ? high : node.key(end - 1))
  }

  /// Throws unless a node's keys are from `low` on and below `high`.
  ///
  /// So keys ascend over all of the base, and no page can be come to twice: what is written is in order
  /// whatever was read, and a file in which pages share children does not take for ever.
  func checkBounds(
    of node: borrowing Node, _ reference: PageReference, low: [UInt8], high: [UInt8]?
  ) throws(StoreError) {
    guard node.isWithin(low, high) else {
      throw reference.fault(.separators, "its keys are not between the separators beside it")
    }
  }
}

// MARK: The input

extension TreeMerge where Input: ~Copyable {
  func hasOperation(below high: [UInt8]?) -> Bool {
    guard inputHasOperation else { return false }
    guard let high else { return true }
    return input.key.compare(high.rawSpan) < 0
  }

  /// Carries out the operations on keys below `high`.
  mutating func putOperations(below high: [UInt8]?) throws(StoreError) {
    while hasOperation(below: high) { try putOperation() }
  }

  mutating func putOperation() throws(StoreError) {
    if !input.isRemoval {
      if input.schemaVersion < transform.schemaVersion {
        try transformOperation()
      } else {
        try Self.append(input, to: &builder)
      }
    }
    inputHasOperation = try input.advance()
  }

  private static func append(
    _ input: borrowing Input, to builder: inout TreeBuilder
  ) throws(StoreError) {
    try builder.append(input.key, input.value, schemaVersion: input.schemaVersion)
  }

  private mutating func transformOperation() throws(StoreError) {
    let key = input.key.array()
    let value = input.value.array()
    try put(key.rawSpan, value.rawSpan, schemaVersion: input.schemaVersion)
  }

  /// Adds an entry, transformed if it is old.
  mutating func put(
    _ key: RawSpan, _ value: RawSpan, schemaVersion: UInt32
  ) throws(StoreError) {
    if schemaVersion >= transform.schemaVersion {
      try builder.append(key, value, schemaVersion: schemaVersion)
      return
    }
    newValue.removeAll(keepingCapacity: true)
    let result = try transform.transform(
      key: key, value: value, schemaVersion: schemaVersion, to: &newValue)
    let made = newValue
    try put(key, value, schemaVersion: schemaVersion, result, made.rawSpan)
  }

  /// Adds an old entry as its transform has it.
  ///
  /// - Parameter made: Its value, where that is replaced.
  @inline(__always)
  mutating func put(
    _ key: RawSpan, _ value: RawSpan, schemaVersion: UInt32, _ result: TransformResult,
    _ made: RawSpan
  ) throws(StoreError) {
    soughtCount -= 1
    let version = transform.schemaVersion
    switch result {
    case .keep: try builder.append(key, value, schemaVersion: version)
    case .replace: try builder.append(key, made, schemaVersion: version)
    case .drop: break
    case .leave: try builder.append(key, value, schemaVersion: schemaVersion)
    }
  }
}

extension TransformScope {
  fileprivate var count: Int {
    switch self {
    case .everything: .max
    case .first(let count): count
    case .touchedLeaves: 0
    }
  }
}
