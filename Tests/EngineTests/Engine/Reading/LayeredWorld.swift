import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// A tree with up to some overlays over it, and the dictionary they must agree with.
struct LayeredWorld {
  static let slot = TreeSlot(3)

  private(set) var tree: LayeredTree
  private(set) var model: [Bytes: Bytes]
  /// Oldest first.
  private var overlays: [Overlay] = []
  private let base: Tree
  private var number: UInt32 = 100

  /// - Parameter entries: What the tree below has.
  init(_ entries: [Bytes: Bytes], sizes: NodeSizes = tinyNodes, mode: ReadMode = .mapped) throws {
    var world = TreeWorld(on: InMemoryFileSystem(), sizes: sizes, reading: mode)
    try world.merge(entries.mapValues { .some($0) })
    base = try world.tree()
    tree = LayeredTree(overlays: [], over: base)
    model = entries
  }

  enum Change {
    case put(Bytes, Bytes)
    case remove(Bytes)
    case clear
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
    tree = LayeredTree(overlays: overlays.reversed().map { $0[Self.slot] }, over: base)
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
