import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// A tree, perhaps with a level over it, with up to some overlays over both, and the dictionary they must agree with.
struct LayeredWorld {
  static let slot = TreeSlot(0)

  private(set) var tree: LayeredTree
  private(set) var model: [Bytes: Bytes]
  /// Oldest first.
  private var overlays: [Overlay] = []
  private(set) var world: TreeWorld
  private let names = TreeNames()
  private(set) var base: Base
  private var number: UInt32 = 100

  /// - Parameter entries: What the tree below has.
  init(_ entries: [Bytes: Bytes], sizes: NodeSizes = tinyNodes, mode: ReadMode = .mapped) throws {
    var world = TreeWorld(on: InMemoryFileSystem(), sizes: sizes, reading: mode)
    try world.merge(entries.mapValues { .some($0) })
    guard let file = world.file else { throw Disagreement(description: "nothing was published") }
    base = try Base(file, names: names)
    try agree(names.slot(of: "t") == Self.slot, "there is one tree")
    tree = LayeredTree(overlays: [], over: base.tree(Self.slot))
    model = entries
    self.world = world
  }

  enum Change {
    case put(Bytes, Bytes)
    case remove(Bytes)
    case clear

    var isClearing: Bool { if case .clear = self { true } else { false } }
  }

  /// Puts an overlay with these changes over everything.
  mutating func add(_ changes: [Change], nodeCapacity: Int = 4) throws {
    let editor = OverlayEditor(
      over: Overlay(OverlayArena(capacity: 1 << 16, nodeCapacity: nodeCapacity)))
    for change in changes {
      number += 1
      switch change {
      case .put(let key, let value):
        let isDone = editor.put(
          key.rawSpan, value.rawSpan, schemaVersion: number, isNew: model[key] == nil,
          in: Self.slot)
        try agree(isDone, "no put of \(key)")
        model[key] = value
      case .remove(let key):
        guard model.removeValue(forKey: key) != nil else { continue }
        let isDone = editor.remove(key.rawSpan, in: Self.slot)
        try agree(isDone, "no removal of \(key)")
      case .clear:
        editor.clear(Self.slot)
        model = [:]
      }
    }
    overlays.append(editor.finish())
    layer()
  }

  /// Puts an overlay over everything that says of each key whether it is new, right or wrong.
  mutating func addUnchecked(_ changes: [Change], isNew: Bool) throws {
    let editor = OverlayEditor(over: Overlay(OverlayArena(capacity: 1 << 10, nodeCapacity: 4)))
    for case .put(let key, let value) in changes {
      _ = editor.put(
        key.rawSpan, value.rawSpan, schemaVersion: 1, isNew: isNew, in: Self.slot)
    }
    overlays.append(editor.finish())
    layer()
  }

  /// A tree with a level whose parts have any keys.
  ///
  /// - Parameter filter: The words of its filter; nil if it has none.
  init(_ entries: [Bytes: Bytes], parts: [LevelPart: [Bytes]], filter: Bytes? = nil) throws {
    try self.init(entries, sizes: .standard)
    let (appender, root) = (try world.nextAppender(), world.root)
    var trees = [NamedTree(name: "t", root: root)]
    if let filter {
      let made = try TreeMerge.run(
        ListInput([[]: .some(filter)], version: 0), into: nil, of: nil, appendingTo: appender)
      trees.append(NamedTree(name: LevelLayer.filter.name(over: "t"), root: made))
    }
    for part in LevelPart.allCases {
      guard let keys = parts[part], !keys.isEmpty else { continue }
      var changes: [Bytes: Bytes?] = [:]
      for key in keys { changes[key] = .some(part == .removed ? [] : [1]) }
      let made = try TreeMerge.run(
        ListInput(changes, version: part == .removed ? 0 : 1), into: nil, of: nil,
        appendingTo: appender)
      trees.append(NamedTree(name: part.name(over: "t"), root: made))
    }
    try world.publish(trees, from: appender)
    guard let file = world.file else { return }
    base = try Base(file, names: names)
    layer()
  }

  /// Reads the tree in every way, whatever the answers are.
  func readAll(asking keys: [Bytes]) throws {
    var value: Bytes = []
    for key in keys {
      _ = try tree.copyValue(for: key.rawSpan, to: &value)
      _ = try tree.rank(of: key.rawSpan)
      _ = try tree.count(from: key, upTo: keys.last)
      _ = try tree.estimatedCount(from: key.rawSpan, upTo: [9].rawSpan)
    }
    var cursor = LayeredCursor(tree)
    var (isOn, left) = (try cursor.first(), 100)
    while isOn, left > 0 { (isOn, left) = (try cursor.next(), left - 1) }
    isOn = try cursor.last()
    while isOn, left > 0 { (isOn, left) = (try cursor.previous(), left - 1) }
    for offset in -1...max(0, tree.count) { _ = try cursor.seek(toOffset: offset) }
    try agree(left > 0 && tree.count >= 0, "it ends, and no count is negative")
  }

  private mutating func layer() {
    tree = LayeredTree(
      overlays: overlays.reversed().map { $0[Self.slot] }, over: base.tree(Self.slot),
      under: base.level(Self.slot))
  }

  /// Folds the oldest overlay, or what there is in the level if there is no overlay.
  ///
  /// - Parameter changes: Those of a spilled transaction over the only overlay.
  mutating func fold(
    into target: FoldTarget, spilling changes: [Change]? = nil, capacity: Int = 200
  ) throws {
    let oldest =
      overlays.isEmpty ? Overlay(OverlayArena(capacity: 1 << 10)) : overlays.removeFirst()
    let spill = try changes.map { try spilled($0, over: oldest, capacity) }
    let (before, appender) = (base.file, try world.nextAppender())
    let folded = try FoldLayers(oldest, below: spill).merge(
      Self.slot, "t", into: base, .none, target, .all, sizes: world.sizes, appendingTo: appender)
    let replaced = appender.replaced
    let appended = appender.extents
    try world.publish(
      [NamedTree(name: "t", root: folded.root)]
        + LevelLayer.all.compactMap { layer in
          folded.level[layer].map { NamedTree(name: layer.name(over: "t"), root: $0) }
        }, from: appender)
    guard let file = world.file else { return }
    base = try Base(file, names: names)
    layer()
    try agree(file.check(sizes: world.sizes).isEmpty, "\(file.check(sizes: world.sizes))")
    var live = try before.pages.liveBytes(of: before.footer.trees)
    for extent in appended {
      live[extent.number, default: 0] += UInt64(extent.blocks.count * Layout.blockSize)
    }
    for (number, bytes) in replaced.bytes { live[number, default: 0] -= bytes }
    for root in replaced.trees {
      let gone = try before.pages.liveBytes(of: [NamedTree(name: "", root: root)])
      for (number, bytes) in gone { live[number, default: 0] -= bytes }
    }
    let found = try file.pages.liveBytes(of: file.footer.trees)
    try agree(live.filter { $0.value > 0 } == found, "\(live) live, and not \(found)")
  }
}

// MARK: Spilling

extension LayeredWorld {
  /// The changes of a transaction over all others, which spills all of them.
  private mutating func spilled(
    _ changes: [Change], over overlay: Overlay, _ capacity: Int
  ) throws -> Spill {
    try agree(overlays.isEmpty, "a transaction comes after all overlays")
    let place = RunPlace(
      of: TreeWorld.identity, SpillSupport(segmentNumbers: SegmentNumbers(from: 1 << 20)),
      in: world.medium)
    let spill = Spill(
      in: place, over: StoreState(sequence: 1, base: base, frozen: nil, fresh: overlay),
      names: names, capacity: capacity, runsMax: 3)
    for change in changes {
      number += 1
      switch change {
      case .put(let key, let value):
        try spill.put(key.rawSpan, value.rawSpan, schemaVersion: number, in: Self.slot)
        model[key] = value
      case .remove(let key):
        let isThere = try spill.tree(Self.slot).contains(key.rawSpan)
        try agree(isThere == (model[key] != nil), "\(key) is there: \(isThere)")
        if isThere { try spill.remove(key.rawSpan, in: Self.slot) }
        model[key] = nil
      case .clear:
        spill.removeAll(in: Self.slot)
        model = [:]
      }
    }
    return spill
  }
}

// MARK: Comparing

extension LayeredWorld {
  /// Compares everything that can be asked of the tree with the model.
  ///
  /// - Parameter keys: Asked for beside those that are there.
  func verify(asking keys: [Bytes] = [], turns: Int = 60, seed: UInt64 = 1) throws {
    let sorted = SortedModel(model)
    try agree(tree.count == sorted.keys.count, "\(tree.count), not \(sorted.keys.count)")
    for key in keys { try verifyPlace(of: key, sorted) }
    for key in sorted.keys { try verifyPlace(of: key, sorted) }
    try verifyScans(sorted)
    try verifyOffsets(sorted)
    var random = SplitMix64(seed: seed)
    try verifyWalk(sorted, asking: keys, turns, &random)
  }

  private func verifyPlace(of key: Bytes, _ sorted: SortedModel) throws {
    var value: Bytes = []
    let isFound = try tree.copyValue(for: key.rawSpan, to: &value)
    try agree(isFound == (model[key] != nil), "\(key) is found: \(isFound)")
    if isFound { try agree(value == model[key], "\(key) has another value") }
    let isThere = try tree.contains(key.rawSpan)
    try agree(isThere == isFound, "\(key) is contained: \(isThere)")
    let rank = try tree.rank(of: key.rawSpan)
    let slot = sorted.keys.lowerBound(of: key)
    try agree(rank == slot, "\(key) has rank \(rank), not \(slot)")
    let after = try tree.count(from: key, upTo: nil)
    try agree(after == sorted.keys.count - slot, "\(after) from \(key) on")
    let middle = sorted.keys.isEmpty ? [] : sorted.keys[sorted.keys.count / 2]
    let between = try tree.count(from: middle, upTo: key)
    let expected = max(0, slot - sorted.keys.lowerBound(of: middle))
    try agree(between == expected, "\(between) from \(middle) up to \(key), not \(expected)")
  }

  private func verifyScans(_ sorted: SortedModel) throws {
    var cursor = LayeredCursor(tree)
    var isOn = try cursor.first()
    for slot in sorted.keys.indices {
      try agree(isOn, "no entry \(slot)")
      try verify(cursor, is: slot, sorted)
      isOn = try cursor.next()
    }
    try agree(!isOn && !cursor.isOnEntry, "an entry behind the last")
    isOn = try cursor.last()
    for slot in sorted.keys.indices.reversed() {
      try agree(isOn, "going back, no entry \(slot)")
      try verify(cursor, is: slot, sorted)
      isOn = try cursor.previous()
    }
    try agree(!isOn && !cursor.isOnEntry, "an entry before the first")
  }

  private func verifyOffsets(_ sorted: SortedModel) throws {
    var cursor = LayeredCursor(tree)
    for offset in -1...sorted.keys.count {
      let isOn = try cursor.seek(toOffset: offset)
      try agree(isOn == sorted.keys.indices.contains(offset), "offset \(offset): \(isOn)")
      if isOn { try verify(cursor, is: offset, sorted) }
    }
  }

  /// Sends one cursor to and fro, with steps both ways at each place.
  private func verifyWalk(
    _ sorted: SortedModel, asking keys: [Bytes], _ turns: Int, _ random: inout SplitMix64
  ) throws {
    var cursor = LayeredCursor(tree)
    var place: Int?
    let sought = keys + sorted.keys
    for _ in 0..<turns {
      let isOn: Bool
      switch random.next() % 9 {
      case 0: (isOn, place) = (try cursor.first(), 0)
      case 1: (isOn, place) = (try cursor.last(), sorted.keys.count - 1)
      case 2:
        guard let key = sought.randomElement(using: &random) else { continue }
        (isOn, place) = (try cursor.seek(to: key.rawSpan), sorted.keys.lowerBound(of: key))
      case 3...5: (isOn, place) = (try cursor.next(), place.map { $0 + 1 })
      default: (isOn, place) = (try cursor.previous(), place.map { $0 - 1 })
      }
      if let there = place, !sorted.keys.indices.contains(there) { place = nil }
      try agree(isOn == (place != nil) && isOn == cursor.isOnEntry, "on an entry: \(isOn)")
      if let place { try verify(cursor, is: place, sorted) }
    }
  }

  private func verify(
    _ cursor: borrowing LayeredCursor, is slot: Int, _ sorted: SortedModel
  ) throws {
    let key = sorted.keys[slot]
    try agree(cursor.key.array() == key, "entry \(slot) is \(cursor.key.array()), not \(key)")
    var value: Bytes = []
    try cursor.appendValue(to: &value)
    try agree(value == sorted.values[slot], "entry \(slot) has another value")
    if !cursor.isExternal {
      try agree(cursor.storedValue.array() == value, "entry \(slot) is stored otherwise")
    }
    let entry = try tree.entry(for: key.rawSpan)
    let version = entry?.schemaVersion
    try agree(version == cursor.schemaVersion, "entry \(slot) is of \(cursor.schemaVersion)")
  }
}
