/// Values of entries that are in no file: those of properties whose changes are tracked.
///
/// Part of a state, which stays as it is whatever is committed after it. The values of a tree are divided by the hashes of
/// their keys, so that a change copies few of them, and shares the others with the states before.
struct UnstoredValues: Sendable {
  private var trees: [TreeSlot: Parts] = [:]
  /// The number of published states that differ from the one before in these values alone.
  var publications: UInt64 = 0

  private struct Parts: Sendable {
    var parts = [[[UInt8]: UnstoredEntry]](repeating: [:], count: 256)
    var count = 0

    func place(of key: [UInt8]) -> Int { key.hashValue & (parts.count - 1) }
  }

  /// True if no entry of any tree has unstored values.
  var isEmpty: Bool { trees.isEmpty }

  /// The values of an entry; empty if it has none.
  func entry(of key: RawSpan, in tree: TreeSlot) -> UnstoredEntry {
    guard let parts = trees[tree] else { return UnstoredEntry() }
    let key = key.array()
    return parts.parts[parts.place(of: key)][key] ?? UnstoredEntry()
  }

  /// Returns true if an entry has other values than in `old`.
  func differs(from old: UnstoredValues, at key: RawSpan, in tree: TreeSlot) -> Bool {
    if isEmpty, old.isEmpty { return false }
    return entry(of: key, in: tree).differs(from: old.entry(of: key, in: tree))
  }

  /// Replaces the values of an entry.
  ///
  /// - Complexity: O(1), but O(values of the tree / 256) for the first ones after a state was taken.
  mutating func set(_ entry: UnstoredEntry, for key: RawSpan, in tree: TreeSlot) {
    if entry.isEmpty { return remove(key, in: tree) }
    let key = key.array()
    let place = trees[tree, default: Parts()].place(of: key)
    if trees[tree, default: Parts()].parts[place].updateValue(entry, forKey: key) == nil {
      trees[tree]?.count += 1
    }
  }

  /// Removes the values of an entry, if it has any.
  mutating func remove(_ key: RawSpan, in tree: TreeSlot) {
    guard let place = trees[tree]?.place(of: key.array()),
      trees[tree]?.parts[place].removeValue(forKey: key.array()) != nil
    else { return }
    trees[tree]?.count -= 1
    if trees[tree]?.count == 0 { trees[tree] = nil }
  }

  mutating func removeAll(in tree: TreeSlot) { trees[tree] = nil }

  mutating func removeAll() { trees = [:] }

  /// Returns the keys of the entries whose values differ from those in `old`, ascending.
  ///
  /// - Complexity: Linear in the values of the tree.
  func keys(changedFrom old: UnstoredValues, in tree: TreeSlot) -> [[UInt8]] {
    if isEmpty, old.isEmpty { return [] }
    let none = Parts()
    var changed: [[UInt8]] = []
    for (new, old) in zip((trees[tree] ?? none).parts, (old.trees[tree] ?? none).parts) {
      for (key, entry) in new where entry.differs(from: old[key] ?? UnstoredEntry()) {
        changed.append(key)
      }
      for key in old.keys where new[key] == nil { changed.append(key) }
    }
    return changed.sortedRarely { $0.rawSpan.compare($1.rawSpan) < 0 }
  }
}

/// The values that belong to one entry, by names. A name without a value stands for the default.
struct UnstoredEntry: Sendable {
  private var values: [String: any UnstoredValue] = [:]

  var isEmpty: Bool { values.isEmpty }

  subscript(name: String) -> (any UnstoredValue)? {
    get { values[name] }
    set { values[name] = newValue }
  }

  /// The names whose values differ.
  func names(changedFrom old: UnstoredEntry) -> Set<String> {
    if isEmpty, old.isEmpty { return [] }
    return Set(values.keys).union(old.values.keys).filter { name in
      guard let new = values[name], let old = old.values[name] else { return true }
      return !new.equals(old)
    }
  }

  func differs(from old: UnstoredEntry) -> Bool { !names(changedFrom: old).isEmpty }
}

/// A value of a type that only the property knows.
protocol UnstoredValue: Sendable {
  func equals(_ other: any UnstoredValue) -> Bool
}
