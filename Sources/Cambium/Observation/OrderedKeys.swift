/// The sort keys of a query's results, in order: bytes that sort as the records do, of which no two are the same.
struct OrderedKeys: Sendable {
  private(set) var keys: [[UInt8]]

  /// The change of one record: its old and its new place among the results.
  struct Change: Sendable {
    /// Nil if it was not among them.
    let old: [UInt8]?
    /// Nil if it is not.
    let new: [UInt8]?
    /// False if the record counts as moved wherever it is, since it has changed its section.
    var mayStay = true
  }

  /// - Parameter keys: Ascending.
  init(_ keys: [[UInt8]] = []) {
    self.keys = keys
  }

  /// The number of keys below `key`.
  func rank(of key: [UInt8]) -> Int {
    var (low, high) = (0, keys.count)
    while low < high {
      let middle = (low + high) / 2
      let present = keys[middle]
      if present.rawSpan.compare(key.rawSpan) < 0 { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

/// The steps from one order of results to the next: offsets, each with the place of its change in the list.
///
/// Removals and moves come first, at offsets in the old results; then insertions and moves, by ascending offsets in the
/// new results. Updates stay where they are.
struct OrderedSteps: Sendable, Equatable {
  struct Step: Sendable, Equatable {
    let offset: Int
    let change: Int
  }

  struct Move: Sendable, Equatable {
    let old: Int
    let new: Int
    let change: Int
  }

  /// In the results as they were; all are ascending.
  var removals: [Step] = []
  /// In the results as they are.
  var insertions: [Step] = []
  /// By `new`.
  var moves: [Move] = []
  /// In the results as they are.
  var updates: [Step] = []

  var isEmpty: Bool {
    removals.isEmpty && insertions.isEmpty && moves.isEmpty && updates.isEmpty
  }
}

// MARK: Changing

extension OrderedKeys {
  /// Takes changes in, of which each is of another record.
  ///
  /// - Complexity: O(changes × log results), and the moving of keys in memory.
  mutating func apply(_ changes: [Change]) -> OrderedSteps {
    let isInPlace = changes.map { $0.old != nil && $0.old == $0.new }
    let placed = place(changes, changes.indices.filter { !isInPlace[$0] })
    var steps = OrderedSteps()
    let staying = Self.staying(placed.filter { changes[$0.change].mayStay })
    for place in placed {
      switch (place.old, place.new) {
      case (let old?, nil): steps.removals.append(.init(offset: old, change: place.change))
      case (nil, let new?): steps.insertions.append(.init(offset: new, change: place.change))
      case (let old?, let new?):
        if staying.contains(place.change) {
          steps.updates.append(.init(offset: new, change: place.change))
        } else {
          steps.moves.append(.init(old: old, new: new, change: place.change))
        }
      case (nil, nil): break
      }
    }
    replaceKeys(changes, placed)
    for index in changes.indices where isInPlace[index] {
      guard let key = changes[index].new else { continue }
      steps.updates.append(.init(offset: rank(of: key), change: index))
    }
    steps.removals.sort { $0.offset < $1.offset }
    steps.updates.sort { $0.offset < $1.offset }
    return steps
  }

  /// A change with the offsets that it is about.
  private struct Placed {
    let change: Int
    var old: Int?
    var new: Int?
    /// The number of unchanged results before it.
    var restBefore: (old: Int, new: Int) = (0, 0)
  }

  /// Some of the changes, by their new offsets; after them those that have none.
  private func place(_ changes: [Change], _ indices: [Int]) -> [Placed] {
    var placed = indices.map { index in
      Placed(change: index, old: changes[index].old.map(rank), new: nil)
    }
    let removed = placed.compactMap(\.old).sorted()
    placed.sort { one, other in
      guard let key = changes[one.change].new else { return false }
      guard let otherKey = changes[other.change].new else { return true }
      return key.rawSpan.compare(otherKey.rawSpan) < 0
    }
    for index in placed.indices {
      if let old = placed[index].old {
        placed[index].restBefore.old = old - removed.count(below: old)
      }
      guard let key = changes[placed[index].change].new else { continue }
      let rank = rank(of: key)
      placed[index].restBefore.new = rank - removed.count(below: rank)
      placed[index].new = placed[index].restBefore.new + index
    }
    return placed
  }

  /// The changes whose records do not move: as many before and after them as before, and among themselves in
  /// the order that they had, as many of them as there can be.
  private static func staying(_ placed: [Placed]) -> Set<Int> {
    let candidates = placed.filter { place in
      place.old != nil && place.new != nil && place.restBefore.old == place.restBefore.new
    }.sorted { $0.old ?? 0 < $1.old ?? 0 }
    let longest = candidates.map { $0.new ?? 0 }.longestAscent
    return Set(longest.map { candidates[$0].change })
  }

  private mutating func replaceKeys(_ changes: [Change], _ placed: [Placed]) {
    let removed = placed.compactMap(\.old).sorted()
    let inserted = placed.compactMap { place in
      place.new.flatMap { new in changes[place.change].new.map { (new, $0) } }
    }
    keys.replace(removing: removed, inserting: inserted)
  }
}

extension [Int] {
  /// Returns the number of elements, which ascend, that are below a number.
  fileprivate func count(below number: Int) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if self[middle] < number { low = middle + 1 } else { high = middle }
    }
    return low
  }

  /// The places of the longest part of the elements that ascends.
  fileprivate var longestAscent: [Int] {
    // The places where the lowest ends of parts of each length are, and the lengths before each place.
    var ends: [Int] = []
    var before = [Int](repeating: -1, count: count)
    for place in indices {
      var (low, high) = (0, ends.count)
      while low < high {
        let middle = (low + high) / 2
        if self[ends[middle]] < self[place] { low = middle + 1 } else { high = middle }
      }
      if low > 0 { before[place] = ends[low - 1] }
      if low < ends.count { ends[low] = place } else { ends.append(place) }
    }
    var places: [Int] = []
    var place = ends.last ?? -1
    while place >= 0 {
      places.append(place)
      place = before[place]
    }
    return places.reversed()
  }
}

extension Array {
  /// Removes the elements at some offsets, and then inserts others.
  ///
  /// - Parameters:
  ///   - removed: Ascending.
  ///   - inserted: By their offsets in the end, ascending.
  mutating func replace(
    removing removed: [Int], inserting inserted: [(offset: Int, element: Element)]
  ) {
    if removed.count + inserted.count < 32 {
      for offset in removed.reversed() { remove(at: offset) }
      for (offset, element) in inserted { insert(element, at: offset) }
      return
    }
    var result: [Element] = []
    result.reserveCapacity(count - removed.count + inserted.count)
    var (nextRemoved, nextInserted) = (0, 0)
    func insertDue(_ result: inout [Element]) {
      while nextInserted < inserted.count, inserted[nextInserted].offset == result.count {
        result.append(inserted[nextInserted].element)
        nextInserted += 1
      }
    }
    for (offset, element) in enumerated() {
      if nextRemoved < removed.count, removed[nextRemoved] == offset {
        nextRemoved += 1
        continue
      }
      insertDue(&result)
      result.append(element)
    }
    insertDue(&result)
    self = result
  }
}
