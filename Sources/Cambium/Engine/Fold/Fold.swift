/// The making of new trees from a base and what lies on top of it, one tree a step.
///
///     merge tree ─▶ merge tree ─▶ … ─▶ whole trees ─▶ write footer, flush ─▶ what was published
///
/// Nothing of it is true until a reference to the footer is on the medium; who drives it sees to that.
/// After an error it is of no more use, and its segments are nobody's.
struct Fold {
  typealias Published = PublishedFooter

  private let base: Base
  /// What a state that is kept is: the base, with all that was committed on top of it.
  private let present: PageFile
  private let layers: FoldLayers
  private let work: TreeWork
  private let adoption: Adoption
  private let policy: LevelPolicy
  private let sequence: UInt64
  private let names: TreeNames
  private let sizes: NodeSizes
  private let appender: PageAppender
  /// The trees that something falls into and that were not merged yet.
  private var slots: [TreeSlot]
  private var catalog: [String: TreeRoot] = [:]
  /// The folds into single trees, so far.
  private(set) var outcomes: [FoldOutcome] = []

  /// Begins the fold of `layers`, whose newest commit is `sequence`, into the trees of `base`.
  ///
  /// - Parameters:
  ///   - work: What is done with whole trees besides.
  ///   - present: The state to keep, where that is asked for; the base if nil.
  ///   - adoption: What may be taken over as it is.
  ///   - policy: Which trees get levels, where nothing is done with them besides.
  init(
    _ layers: FoldLayers, _ work: TreeWork = TreeWork(), into base: Base,
    keeping present: PageFile? = nil, adoption: Adoption = .all,
    levels policy: LevelPolicy = .none, covering sequence: UInt64,
    names: TreeNames, sizes: NodeSizes, appendingTo appender: PageAppender
  ) {
    self.present = present ?? base.file
    self.layers = layers
    self.work = work
    self.base = base
    self.adoption = adoption
    self.policy = policy
    self.sequence = sequence
    self.names = names
    self.sizes = sizes
    self.appender = appender
    slots = Set(layers.slots).union(work.transforms.keys).sortedRarely(by: >)
    for tree in base.file.footer.trees { catalog[tree.name] = tree.root }
  }

  /// Has all levels merged into their trees, too.
  mutating func mergeLevels() {
    slots = Set(slots).union(base.slotsOfLevels).sortedRarely(by: >)
  }

  /// Does the next part of the work.
  ///
  /// - Returns: what was published, once all is done.
  /// - Throws: `.corrupt` if the base is damaged, `.limitExceeded`, `.full`, `.io`.
  mutating func step() throws(StoreError) -> Published? {
    guard let slot = slots.popLast() else {
      for operation in work.operations { apply(operation) }
      return try publish()
    }
    try fold(slot)
    return nil
  }

  private mutating func fold(_ slot: TreeSlot) throws(StoreError) {
    let name = names.name(of: slot)
    let (byteCount, transform) = (layers.byteCount(slot), work.transforms[slot])
    let target: FoldTarget =
      transform == nil
      ? try policy.target(slot, in: base, folding: byteCount) : .tree
    let before = appender.blockCount
    let folded = try layers.merge(
      slot, name, into: base, transform ?? .none, target, adoption, sizes: sizes,
      appendingTo: appender)
    // A tree without entries is no tree.
    catalog[name] = folded.root
    for layer in LevelLayer.all { catalog[layer.name(over: name)] = folded.level[layer] }
    let written = (appender.blockCount - before) * Layout.blockSize
    // What a transform writes tells nothing of the changes.
    outcomes.append(
      FoldOutcome(
        slot: slot, target: folded.levelWritten == nil ? .tree : target,
        folded: transform == nil ? byteCount : 0, level: base.level(slot)?.liveBytes ?? 0,
        written: folded.levelWritten ?? written))
  }

  private mutating func apply(_ operation: TreeOperation) {
    switch operation {
    case .copy(let source, let target):
      // From now on both share pages, and nothing refers to those of the former target.
      appender.replaced.insertUnknown()
      for (source, target) in zip(treeNames(source), treeNames(target)) {
        catalog[target] = catalog[source]
      }
    case .move(let source, let target):
      for (source, target) in zip(treeNames(source), treeNames(target)) {
        if catalog[target] != nil { appender.replaced.insertUnknown() }
        catalog[target] = catalog.removeValue(forKey: source)
      }
    }
  }

  /// The names of a tree and of the layers over it.
  private func treeNames(_ slot: TreeSlot) -> [String] {
    let name = names.name(of: slot)
    return [name] + LevelLayer.all.map { $0.name(over: name) }
  }
}

// MARK: - The footer

extension Fold {
  private func publish() throws(StoreError) -> Published {
    var footer = base.file.footer
    footer.coveredSequence = sequence
    footer.trees = catalog.map { NamedTree(name: $0.key, root: $0.value) }
      .sortedRarely { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    for change in work.keeping { footer.apply(change, to: present.reference) }
    let publishing = FooterPublishing(base: base.file, present: present, appender: appender)
    let published = try publishing.publish(footer)
    try warm(published)
    return published
  }
}

extension Footer {
  fileprivate mutating func apply(_ change: KeptStateChange, to present: FooterReference) {
    switch change {
    case .keep(let version, let label):
      keptStates.append(KeptState(version: version, label: label, footer: present))
    case .drop(let version): keptStates.removeAll { $0.version == version }
    case .dropFrom(let version): keptStates.removeAll { $0.version >= version }
    case .dropBefore(let version): keptStates.removeAll { $0.version < version }
    }
  }
}

extension Fold {
  /// Brings pages that went past the page cache into it, and verifies them: they are mostly newer
  /// versions of pages in use. Without it the first reads after a fold wait for the disk one by one, which
  /// took ten times as long for commits of random keys; and writers verify what this thread can. Loaded pages are in
  /// nobody's use yet, and are verified by those who read them first.
  ///
  /// - Throws: `.corrupt`, `.io`: what is on the medium is not what was written.
  private func warm(_ published: Published) throws(StoreError) {
    guard published.file.readAhead(published.appended) else { return }
    for extent in published.merged { try published.file.pages.verify(extent) }
  }
}
