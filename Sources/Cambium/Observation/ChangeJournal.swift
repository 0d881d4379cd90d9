/// The recent changes to one tree, for all of its observers, each of which has its own place in it.
///
///     … │ 17 │ 18 │ 19 │ 20 │        batches, numbered from 0
///            ▲         ▲    ▲
///            one       │    the next
///            observer  another
///
/// It is bounded. An observer that falls behind it has to compare two states as wholes.
struct ChangeJournal {
  /// The changes of one commit, or of several that became visible at once.
  struct Batch {
    let first: UInt64
    let last: UInt64
    let keys: NotedKeys
    let author: String?

    /// Its cost against the bound.
    var cost: Int { keys.byteCount + 4 * keys.count + 64 }
  }

  private var batches: [Batch] = []
  /// The number of batches at the beginning of `batches` that are gone.
  private var goneCount = 0
  /// The number of the first batch that is left.
  private(set) var firstNumber = 0
  private var cost = 0
  /// The last commit of those that somebody may have missed, and who made them.
  private var lastDropped: UInt64 = 0
  private var authorsDropped: Set<String?> = []

  /// The most bytes that the batches may take.
  static var costMax: Int { 4 << 20 }

  /// The number of the next batch.
  var endNumber: Int { firstNumber + batches.count - goneCount }

  /// Adds what will be visible next.
  ///
  /// - Parameter needed: The number of the first batch that somebody still needs.
  mutating func append(_ batch: Batch, needed: () -> Int) {
    batches.append(batch)
    cost += batch.cost
    guard cost > Self.costMax else { return }
    trim(before: needed())
    // The half, so that it is not done for every batch.
    while cost > Self.costMax / 2, let dropped = dropFirst() {
      lastDropped = max(lastDropped, dropped.last)
      authorsDropped.insert(dropped.author)
    }
  }

  /// Lets go of what nobody needs any more.
  mutating func trim(before number: Int) {
    while firstNumber < number, dropFirst() != nil {}
  }

  private mutating func dropFirst() -> Batch? {
    guard goneCount < batches.count else { return nil }
    let dropped = batches[goneCount]
    cost -= dropped.cost
    goneCount += 1
    firstNumber += 1
    if goneCount == batches.count {
      batches.removeAll(keepingCapacity: goneCount <= 1 << 10)
      goneCount = 0
    } else if goneCount > 1 << 10 {
      batches.removeFirst(goneCount)
      goneCount = 0
    }
    return dropped
  }
}

// MARK: Reading

extension ChangeJournal {
  /// Returns true if all of it is of commits up to `sequence`.
  func isVisible(through sequence: UInt64) -> Bool {
    goneCount == batches.count || batches[batches.count - 1].last <= sequence
  }

  /// Returns true if there is something from `number` on that commits up to `sequence` changed.
  func hasNews(from number: Int, through sequence: UInt64) -> Bool {
    if number < firstNumber { return true }
    if number >= endNumber { return false }
    return batches[goneCount + number - firstNumber].first <= sequence
  }

  /// Returns the changes of commits up to `sequence`, from batch `number` on, and moves `number` past them.
  ///
  /// A batch whose commits are not all visible yet is read again the next time.
  func changes(from number: inout Int, through sequence: UInt64) -> ObservedChanges? {
    var changes = ObservedChanges()
    var next = number
    if number < firstNumber {
      changes.forgetKeys(by: authorsDropped)
      next = lastDropped <= sequence ? firstNumber : firstNumber - 1
    }
    for place in max(number, firstNumber)..<max(number, endNumber) {
      let batch = batches[goneCount + place - firstNumber]
      if batch.first > sequence { break }
      changes.add(batch.keys, by: batch.author)
      if batch.last <= sequence, next == place { next += 1 }
    }
    number = next
    return changes.authors.isEmpty ? nil : changes
  }
}

/// The keys that may have changed between two states of a tree, and who changed them.
struct ObservedChanges {
  /// Nil if nobody knows which.
  private(set) var keys: [NotedKeys]? = []
  /// Nil stands for commits without an author, or of which it is not known.
  private(set) var authors: Set<String?> = []

  mutating func add(_ keys: NotedKeys, by author: String?) {
    authors.insert(author)
    if keys.isComplete { self.keys?.append(keys) } else { self.keys = nil }
  }

  mutating func forgetKeys(by authors: Set<String?>) {
    keys = nil
    self.authors.formUnion(authors)
  }

  /// Nobody knows what was changed, and by whom.
  static var unknown: ObservedChanges {
    var changes = ObservedChanges()
    changes.forgetKeys(by: [nil])
    return changes
  }

  /// One key, changed by `authors`.
  init(key: [UInt8], authors: Set<String?>) {
    var keys = NotedKeys()
    keys.append(key.rawSpan)
    self.keys = [keys]
    self.authors = authors
  }

  init() {}
}
