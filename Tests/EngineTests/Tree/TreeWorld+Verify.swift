import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// The entries a tree should have, in order.
struct SortedModel {
  let keys: [Bytes]
  let values: [Bytes]

  init(_ model: [Bytes: Bytes]) {
    let sorted = model.sorted { $0.key < $1.key }
    keys = sorted.map(\.key)
    values = sorted.map(\.value)
  }
}

extension TreeWorld {
  /// Compares everything that can be asked of the tree with the model, and checks every page.
  ///
  /// - Parameter stride: Looks up only every so many of the keys, of a tree that is large.
  func verify(every stride: Int = 1) throws {
    let model = SortedModel(model)
    let tree = try tree()
    try verifyPages(of: tree, model)
    try verifyScans(of: tree, model)
    let slots = Array(Swift.stride(from: 0, to: model.keys.count, by: stride))
    for slot in slots { try verifyHit(slot, of: tree, model) }
    var sought: [Bytes] = [[], [255, 255, 255, 255]]
    for slot in slots {
      for neighbor in neighbors(of: model.keys[slot]) where neighbor.count <= 1024 {
        try verifyPlace(of: neighbor, in: tree, model)
        sought.append(neighbor)
      }
      sought.append(model.keys[slot])
    }
    for key in sought.prefix(2) { try verifyPlace(of: key, in: tree, model) }
    try verifyBatches(of: sought, in: tree, model)
    try verifySeeks(of: sought + sought.reversed(), in: tree, model)
    try verifyTurns(of: tree, model, at: slots)
  }

  /// Checks every page, and the sums in the root.
  func verifyPages(of tree: Tree, _ model: SortedModel) throws {
    let report = TreeCheck.run(tree, sizes: sizes)
    try agree(report.faults.isEmpty, "\(report.faults.count) faults: \(report.faults.first!)")
    try agree(report.entryCount == model.keys.count, "\(report.entryCount) entries are checked")
    try agree(tree.count == model.keys.count, "\(tree.count) entries, not \(model.keys.count)")
    try agree(report.pageBytes == tree.liveBytes, "\(report.pageBytes), not \(tree.liveBytes)")
    var live = LivePages()
    try tree.addPages(to: &live)
    let sum = live.bytes.values.reduce(0, +)
    try agree(sum == UInt64(tree.liveBytes), "\(sum) bytes by segment, not \(tree.liveBytes)")
    try agree((tree.root == nil) == model.keys.isEmpty, "a root without entries, or none with")
  }

  private func verifyScans(of tree: Tree, _ model: SortedModel) throws {
    var cursor = Cursor(tree)
    var value: Bytes = []
    var slot = 0
    var isOn = try cursor.first()
    while isOn {
      try agree(slot < model.keys.count, "entries behind the last, from \(cursor.key.array())")
      try agree(cursor.key.array() == model.keys[slot], "entry \(slot) is \(cursor.key.array())")
      value.removeAll(keepingCapacity: true)
      try tree.append(cursor.entry, to: &value)
      try agree(value == model.values[slot], "entry \(slot) has another value")
      slot += 1
      isOn = try cursor.next()
    }
    try agree(slot == model.keys.count, "the last entry is \(slot)")
    let isAgain = try cursor.next()
    try agree(!isAgain && !cursor.isOnEntry, "a cursor comes back from behind the last entry")
    isOn = try cursor.last()
    while isOn {
      slot -= 1
      try agree(slot >= 0, "entries before the first, from \(cursor.key.array())")
      try agree(cursor.key.array() == model.keys[slot], "back, \(slot) is \(cursor.key.array())")
      isOn = try cursor.previous()
    }
    try agree(slot == 0, "back, the first entry is \(slot)")
  }

  private func verifyHit(_ slot: Int, of tree: Tree, _ model: SortedModel) throws {
    let key = model.keys[slot]
    var value: Bytes = []
    let isFound = try tree.copyValue(for: key.rawSpan, to: &value)
    try agree(isFound, "\(key) is not found")
    try agree(value == model.values[slot], "\(key) has another value")
    try verifyPlace(of: key, in: tree, model)
    var cursor = Cursor(tree)
    let isOn = try cursor.seek(toOffset: slot)
    try agree(isOn && cursor.key.array() == key, "offset \(slot) is not \(key)")
  }

  /// Seeks `key`, present or not, and counts what is before it.
  func verifyPlace(of key: Bytes, in tree: Tree, _ model: SortedModel) throws {
    let slot = model.keys.lowerBound(of: key)
    let isPresent = slot < model.keys.count && model.keys[slot] == key
    let entry = try tree.entry(for: key.rawSpan)
    try agree((entry != nil) == isPresent, "\(key) is found: \(entry != nil)")
    let rank = try tree.rank(of: key.rawSpan)
    try agree(rank == slot, "\(key) has rank \(rank), not \(slot)")
    var cursor = Cursor(tree)
    let isOn = try cursor.seek(to: key.rawSpan)
    try agree(isOn == (slot < model.keys.count), "\(key) is sought: \(isOn)")
    if isOn {
      try agree(cursor.key.array() == model.keys[slot], "\(key) leads to \(cursor.key.array())")
    }
    let after = try tree.count(from: key, upTo: nil)
    let before = try tree.count(from: nil, upTo: key)
    try agree(before == slot, "\(before) before \(key), not \(slot)")
    try agree(after == model.keys.count - slot, "\(after) from \(key) on")
  }

  /// Looks keys up together, in batches of many sizes, and compares with one lookup each.
  private func verifyBatches(
    of keys: [Bytes], in tree: Tree, _ model: SortedModel
  ) throws {
    var start = 0
    var entries: [LeafEntry?] = []
    for size in [0, 1, 17, 2] + Array(repeating: 17, count: keys.count / 17 + 1) {
      var part = Array(keys[min(start, keys.count)..<min(start + size, keys.count)])
      if let first = part.first, part.count > 1 { part.append(first) }
      start += size
      var batch = KeyBatch()
      for key in part { batch.append(key.rawSpan) }
      try tree.find(batch, to: &entries)
      try agree(entries.count == part.count, "\(entries.count) answers to \(part.count)")
      for (key, entry) in zip(part, entries) {
        let slot = model.keys.lowerBound(of: key)
        let isPresent = slot < model.keys.count && model.keys[slot] == key
        try agree((entry != nil) == isPresent, "in a batch, \(key) is found: \(entry != nil)")
        guard let entry else { continue }
        var value: Bytes = []
        try tree.append(entry, to: &value)
        try agree(value == model.values[slot], "in a batch, \(key) has another value")
      }
    }
  }

  /// Sends one cursor from key to key, most of them near the last.
  private func verifySeeks(of keys: [Bytes], in tree: Tree, _ model: SortedModel) throws {
    var cursor = Cursor(tree)
    for key in keys {
      let slot = model.keys.lowerBound(of: key)
      let isOn = try cursor.seek(to: key.rawSpan)
      try agree(isOn == (slot < model.keys.count), "from another, \(key) is sought: \(isOn)")
      if isOn {
        let found = cursor.key.array()
        try agree(found == model.keys[slot], "from another, \(key) leads to \(found)")
      }
    }
  }

  /// Turns a cursor round on entries, after a seek and after steps.
  private func verifyTurns(of tree: Tree, _ model: SortedModel, at slots: [Int]) throws {
    var cursor = Cursor(tree)
    for slot in slots {
      let key = model.keys[slot]
      guard try cursor.seek(to: key.rawSpan) else { continue }
      var place = slot
      for step in [1, -1, -1, 1, 1, 1, -1, -1, -1, 1] {
        guard model.keys.indices.contains(place + step) else { continue }
        place += step
        let isOn = step > 0 ? try cursor.next() : try cursor.previous()
        try agree(isOn && cursor.key.array() == model.keys[place], "turning at \(slot)")
      }
    }
  }
}
