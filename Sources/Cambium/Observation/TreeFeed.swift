/// All who observe one tree. All under the hub's lock.
final class TreeFeed {
  let tree: TreeSlot
  private var journal = ChangeJournal()
  /// The observers of the whole tree, and those of them that may be waiting.
  private var observers: [ObjectIdentifier: Observer] = [:]
  private var waiting: [ObjectIdentifier: Observer] = [:]
  /// The observers of one key, by the key's hash.
  private var keyObservers: [Int: [Observer]] = [:]
  private var keyObserverCount = 0
  /// The observers of a key that was changed, which are to be woken.
  private var touched: [Observer] = []
  /// The waiting observers that began while commits were under way for which no keys were noted.
  private var catchingUp: [Observer] = []
  /// The batches before were seen to be visible.
  private var wokenNumber = 0

  init(of tree: TreeSlot) {
    self.tree = tree
  }

  var isEmpty: Bool { observers.isEmpty && keyObserverCount == 0 }
}

// MARK: Observers

extension TreeFeed {
  func add(_ observer: Observer) {
    if let key = observer.key {
      keyObservers[key.keyHash, default: []].append(observer)
      keyObserverCount += 1
    } else {
      observer.number = journal.endNumber
      observers[ObjectIdentifier(observer)] = observer
    }
  }

  func remove(_ observer: Observer) {
    observers[ObjectIdentifier(observer)] = nil
    waiting[ObjectIdentifier(observer)] = nil
    catchingUp.removeAll { $0 === observer }
    touched.removeAll { $0 === observer }
    guard let hash = observer.key?.keyHash, var same = keyObservers[hash] else { return }
    same.removeAll { $0 === observer }
    keyObservers[hash] = same.isEmpty ? nil : same
    keyObserverCount -= 1
  }

  /// Notes that an observer waits, for whom there is nothing to be told by now.
  func await(_ observer: Observer) {
    if observer.key == nil { waiting[ObjectIdentifier(observer)] = observer }
    if observer.touch != nil { touched.append(observer) }
    if observer.isCatchingUp { catchingUp.append(observer) }
  }

  func hasNews(for observer: Observer, through sequence: UInt64) -> Bool {
    if observer.isCatchingUp, observer.seen < sequence { return true }
    if observer.key == nil {
      return journal.hasNews(from: observer.number, through: sequence)
    }
    return observer.touch.map { $0.first <= sequence } ?? false
  }
}

// MARK: Commits

extension TreeFeed {
  /// Notes the changes of commits that will be visible next.
  ///
  /// - Complexity: O(1) for observers of all; a lookup for each key if some observe one.
  func note(_ keys: NotedKeys, _ first: UInt64, _ last: UInt64, by author: String?) {
    if keys.isEmpty { return }
    if !observers.isEmpty {
      let batch = ChangeJournal.Batch(first: first, last: last, keys: keys, author: author)
      journal.append(batch) { observers.values.map(\.number).min() ?? .max }
    }
    if keyObserverCount == 0 { return }
    if keys.isComplete {
      for place in 0..<keys.count { touchObservers(of: keys.key(place), first, last, author) }
    } else {
      for observer in keyObservers.values.joined() { touch(observer, first, last, author) }
    }
  }

  private func touchObservers(
    of key: RawSpan, _ first: UInt64, _ last: UInt64, _ author: String?
  ) {
    guard let candidates = keyObservers[key.keyHash] else { return }
    for observer in candidates where observer.isOf(key) {
      touch(observer, first, last, author)
    }
  }

  private func touch(
    _ observer: Observer, _ first: UInt64, _ last: UInt64, _ author: String?
  ) {
    if observer.touch == nil { touched.append(observer) }
    observer.touch(first, last, by: author)
  }

  /// Returns the changes of commits up to `sequence` for an observer since the last call; nil if there are none.
  func takeChanges(for observer: Observer, through sequence: UInt64) -> ObservedChanges? {
    let isCatchingUp = observer.isCatchingUp && observer.seen < sequence
    observer.seen = sequence
    var changes: ObservedChanges?
    if let key = observer.key {
      if let touch = observer.touch, touch.first <= sequence {
        changes = ObservedChanges(key: key, authors: touch.authors)
        observer.touch?.first = sequence + 1
        if touch.last <= sequence { observer.touch = nil }
      }
      return isCatchingUp ? ObservedChanges(key: key, authors: [nil]) : changes
    }
    changes = journal.changes(from: &observer.number, through: sequence)
    if observers.count == 1 { journal.trim(before: observer.number) }
    return isCatchingUp ? .unknown : changes
  }
}

// MARK: Waking

extension TreeFeed {
  /// Wakes those for whom there is something to be told, now that commits up to `sequence` are visible.
  func wake(through sequence: UInt64, _ woken: inout [CheckedContinuation<Void, Never>]) {
    if !waiting.isEmpty, wokenNumber < journal.endNumber {
      waiting = waiting.filter { !wake($0.value, through: sequence, &woken) }
      if journal.isVisible(through: sequence) { wokenNumber = journal.endNumber }
    }
    if !touched.isEmpty { touched.removeAll { wake($0, through: sequence, &woken) } }
    if !catchingUp.isEmpty { catchingUp.removeAll { wake($0, through: sequence, &woken) } }
  }

  /// Wakes all, whether or not there is anything to be told.
  func wakeAll(_ woken: inout [CheckedContinuation<Void, Never>]) {
    for observer in observers.values { observer.wake(&woken) }
    for observer in keyObservers.values.joined() { observer.wake(&woken) }
    waiting.removeAll()
    catchingUp.removeAll()
  }

  /// False if there is nothing to be told to it yet.
  private func wake(
    _ observer: Observer, through sequence: UInt64,
    _ woken: inout [CheckedContinuation<Void, Never>]
  ) -> Bool {
    guard hasNews(for: observer, through: sequence) else { return false }
    observer.wake(&woken)
    return true
  }
}

extension Observer {
  fileprivate func isOf(_ key: RawSpan) -> Bool { self.key.map { $0.rawSpan.equals(key) } ?? false }
}

extension [UInt8] {
  fileprivate var keyHash: Int { rawSpan.keyHash }
}

extension RawSpan {
  /// The hash of a key's bytes, in this process.
  fileprivate var keyHash: Int {
    var hasher = Hasher()
    unsafe withUnsafeBytes { unsafe hasher.combine(bytes: $0) }
    return hasher.finalize()
  }
}

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
  /// The last commit of those that an observer may have missed, and their authors.
  private var lastDropped: UInt64 = 0
  private var authorsDropped: Set<String?> = []

  /// The most bytes that the batches may take.
  static var costMax: Int { 4 << 20 }

  /// The number of the next batch.
  var endNumber: Int { firstNumber + batches.count - goneCount }

  /// Adds changes that will be visible next.
  ///
  /// - Parameter needed: The number of the first batch that an observer still needs.
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

  /// Releases batches that are no longer needed.
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

/// The keys that may have changed between two states of a tree, and the authors of the changes.
struct ObservedChanges {
  /// Nil if it is unknown which.
  private(set) var keys: [NotedKeys]? = []
  /// Nil stands for commits without an author, or of which it is not known.
  private(set) var authors: Set<String?> = []

  mutating func add(_ keys: NotedKeys, by author: String?) {
    authors.insert(author)
    if keys.isComplete { self.keys?.append(keys) } else { self.keys = nil }
  }

  /// Adds the authors of changes to other trees.
  mutating func add(authors: Set<String?>) { self.authors.formUnion(authors) }

  mutating func forgetKeys(by authors: Set<String?>) {
    keys = nil
    self.authors.formUnion(authors)
  }

  /// The changes are unknown, and so are their authors.
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
