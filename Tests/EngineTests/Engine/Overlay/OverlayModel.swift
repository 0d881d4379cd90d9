@testable import Cambium
@testable import InternalTestSupport

/// What one tree of an overlay should hold, over what lies below it.
struct OverlayTreeModel: Equatable {
  struct Value: Equatable {
    var bytes: Bytes
    var version: UInt32
  }

  /// The keys below; empty once they are hidden.
  private(set) var below: Set<Bytes> = []
  private(set) var hidesBase = false
  /// Nil is a removal.
  private(set) var changes: [Bytes: Value?] = [:]

  init(below: Set<Bytes> = []) {
    self.below = below
  }

  func contains(_ key: Bytes) -> Bool {
    if let change = changes[key] { return change != nil }
    return below.contains(key)
  }

  mutating func put(_ key: Bytes, _ value: Value) { changes[key] = .some(value) }

  mutating func remove(_ key: Bytes) {
    if below.contains(key) { changes[key] = .some(nil) } else { changes[key] = nil }
  }

  mutating func clear() { (below, hidesBase, changes) = ([], true, [:]) }

  func change(of key: Bytes) -> Int {
    guard let change = changes[key] else { return 0 }
    return (change == nil ? 0 : 1) - (below.contains(key) ? 1 : 0)
  }

  var isEmpty: Bool { changes.isEmpty && !hidesBase }
}

/// What an overlay should hold.
struct OverlayModel: Equatable {
  var trees: [TreeSlot: OverlayTreeModel] = [:]

  /// Compares all that can be asked of `overlay`, also about keys it does not have.
  func verify(_ overlay: Overlay, asking keys: [Bytes]) throws {
    let faults = overlay.faults()
    try agree(faults.isEmpty, "\(faults.count) faults: \(faults.first ?? "")")
    let expected = trees.filter { !$0.value.isEmpty }.keys.sorted()
    try agree(overlay.trees == expected, "trees \(overlay.trees), not \(expected)")
    try agree(overlay.isEmpty == expected.isEmpty, "empty: \(overlay.isEmpty)")
    for (tree, model) in trees { try model.verify(overlay, tree, asking: keys) }
    let absent = !overlay[TreeSlot(.max)].isEmpty || overlay[TreeSlot(.max)].countChange != 0
    try agree(!absent, "something is said of no tree")
  }
}

extension OverlayTreeModel {
  fileprivate func verify(_ overlay: Overlay, _ tree: TreeSlot, asking keys: [Bytes]) throws {
    try agree(overlay[tree].hidesBase == hidesBase, "hides: \(overlay[tree].hidesBase)")
    let sorted = changes.keys.sorted(by: <)
    try agree(overlay[tree].entryCount == sorted.count, "\(overlay[tree].entryCount)")
    let change = sorted.reduce(0) { $0 + self.change(of: $1) }
    try agree(overlay[tree].countChange == change, "\(overlay[tree].countChange) more")
    for key in keys {
      try verifyLookup(of: key, overlay, tree)
      let rank = sorted[..<sorted.lowerBound(of: key)].reduce(0) { $0 + self.change(of: $1) }
      let found = overlay[tree].countChange(below: key.rawSpan)
      try agree(found == rank, "\(found) more below \(key), not \(rank)")
      try verifySeek(to: key, overlay, tree, sorted)
    }
    try verifyWalks(overlay, tree, sorted)
    try verifyBatch(of: keys, overlay, tree)
  }

  /// Keys that are looked up together, some of them twice, are found as one by one; what was known stays.
  private func verifyBatch(of keys: [Bytes], _ overlay: Overlay, _ tree: TreeSlot) throws {
    let asked = keys + keys.suffix(3)
    var batch = KeyBatch()
    var known: [EntryReference?] = []
    for (index, key) in asked.enumerated() {
      batch.append(key.rawSpan)
      known.append(index % 5 == 4 ? reference(of: asked[0], overlay, tree) : nil)
    }
    var found = known
    overlay[tree].find(batch, filling: &found)
    for (index, key) in asked.enumerated() {
      let expected = known[index] ?? reference(of: key, overlay, tree)
      try agree(found[index] == expected, "\(key) is another among many")
    }
  }

  private func reference(
    of key: Bytes, _ overlay: Overlay, _ tree: TreeSlot
  ) -> EntryReference? {
    overlay[tree].reference(for: key.rawSpan)
  }

  private func verifyLookup(of key: Bytes, _ overlay: Overlay, _ tree: TreeSlot) throws {
    guard let entry = overlay[tree].reference(for: key.rawSpan) else {
      return try agree(changes[key] == nil, "\(key) is not found")
    }
    guard let expected = changes[key] else { throw Disagreement(description: "\(key) is found") }
    try agree(entry.isRemoval == (expected == nil), "\(key) is removed: \(entry.isRemoval)")
    let change = entry.effect.change
    try agree(change == self.change(of: key), "\(key) changes the count by \(change)")
    guard let expected else { return }
    let found = Value(bytes: entry.value.array(), version: entry.schemaVersion)
    try agree(found == expected, "\(key) has \(found)")
  }

  private func verifySeek(
    to key: Bytes, _ overlay: Overlay, _ tree: TreeSlot, _ sorted: [Bytes]
  ) throws {
    var cursor = OverlayCursor(overlay[tree])
    let slot = sorted.lowerBound(of: key)
    let isOn = cursor.seek(to: key.rawSpan)
    try agree(isOn == (slot < sorted.count) && cursor.isOnEntry == isOn, "\(key) sought: \(isOn)")
    if !isOn { return }
    try agree(cursor.key.array() == sorted[slot], "\(key) leads to \(cursor.key.array())")
    var place = slot
    for step in [-1, 1, 1, -1, -1] where sorted.indices.contains(place + step) {
      place += step
      let isOn = step > 0 ? cursor.next() : cursor.previous()
      try agree(isOn && cursor.key.array() == sorted[place], "turning at \(key)")
    }
  }

  private func verifyWalks(_ overlay: Overlay, _ tree: TreeSlot, _ sorted: [Bytes]) throws {
    var cursor = OverlayCursor(overlay[tree])
    var input = OverlayInput(overlay[tree])
    var isOn = cursor.first()
    for key in sorted {
      try agree(isOn && cursor.key.array() == key, "the cursor misses \(key)")
      let isNext = try input.advance()
      try agree(isNext && input.key.array() == key, "the input misses \(key)")
      let expected = changes[key] ?? nil
      try agree(input.isRemoval == (expected == nil), "\(key) as input: \(input.isRemoval)")
      if let expected {
        let one = Value(bytes: cursor.value.array(), version: cursor.schemaVersion)
        let other = Value(bytes: input.value.array(), version: input.schemaVersion)
        try agree(one == expected && other == expected, "\(key) has \(one), \(other)")
      }
      try agree(cursor.change == change(of: key), "\(key) changes \(cursor.change)")
      isOn = cursor.next()
    }
    let isMore = try input.advance()
    try agree(!isOn && !cursor.isOnEntry && !isMore, "entries behind the last")
    isOn = cursor.last()
    for key in sorted.reversed() {
      try agree(isOn && cursor.key.array() == key, "going back, the cursor misses \(key)")
      isOn = cursor.previous()
    }
    try agree(!isOn && !cursor.isOnEntry, "entries before the first")
  }
}
