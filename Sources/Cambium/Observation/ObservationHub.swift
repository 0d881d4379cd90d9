internal import Synchronization

/// The hub between a store's commits and its observers.
///
///     writer:     notes the keys it changes ─▶ announce ─▶ commits ─▶ publish ─▶ continues
///                                                 │                      │ wakes
///     observer:                                   ▼                      ▼
///                    waits ◀── takes the notes and the newest state, and compares the keys
///                              in the state it was told of last with those in the new one
///
/// The changes of a commit are announced before the commit can be read. So an observer that takes a state first, and then
/// the announced keys, misses nothing that is in the state; later changes stay for the next time. Keys that were noted but
/// did not change in the end do no harm.
///
/// States, and the commits that lead to them, are counted here by `StoreState.publication`: changes of tracked properties
/// alone lead to states, too, and have no sequence of their own.
///
/// On the writer's thread, keys are noted and observers woken; everything else runs on the observers' own.
final class ObservationHub: @unchecked Sendable {
  /// The one thing that writers look at where there are no observers.
  private let hasObservers = Atomic<Bool>(false)
  private let lock = ThreadLock()

  // Under `lock`:
  private weak var store: (any ObservedStore)?
  /// The last state of a store that was closed.
  private var lastState: (any ObservedState)?
  private(set) var isFinished = false
  private var failure: StoreError?
  private var feeds: [TreeSlot: TreeFeed] = [:]
  private var observed = ObservedTrees([])
  private var published: UInt64 = 0
  private var folded: UInt64 = 0
  private var observerCount = 0

  var isObserved: Bool { hasObservers.load(ordering: .acquiring) }

  /// The number of observers that have begun and not ended.
  var currentObservers: Int {
    lock.lock()
    defer { lock.unlock() }
    return observerCount
  }
}

// MARK: Commits

extension ObservationHub {
  /// Returns the notes in which a transaction records its keys; nil if there are no observers.
  func notes() -> KeyNotes? {
    guard isObserved else { return nil }
    lock.lock()
    defer { lock.unlock() }
    return KeyNotes(of: observed)
  }

  /// Says what commits change that will be visible next. Before they are.
  ///
  /// - Parameter notes: Nil if there was no observer when they began.
  func announce(_ notes: KeyNotes?, _ first: UInt64, _ last: UInt64, by author: String?) {
    guard isObserved else { return }
    lock.lock()
    defer { lock.unlock() }
    for feed in feeds.values {
      feed.note(notes?.keys(of: feed.tree) ?? .unknown, first, last, by: author)
    }
  }

  /// Says how far commits are visible, and wakes the tasks that wait for that.
  ///
  /// After a fold all are woken, so that none keeps a state whose segments nothing else needs.
  func publish(_ progress: CommitProgress) {
    wake { woken in
      published = max(published, progress.published)
      let isFolded = progress.folded > folded
      folded = max(folded, progress.folded)
      for feed in feeds.values {
        if isFolded { feed.wakeAll(&woken) } else { feed.wake(through: published, &woken) }
      }
    }
  }

  /// Says that there will be no more commits than those in `state`. Observers that wait are told of them, and end.
  func finish(_ state: any ObservedState) {
    wake { woken in
      isFinished = true
      lastState = state
      for feed in feeds.values { feed.wakeAll(&woken) }
    }
  }

  /// Has all observers throw `error`: it is unknown which commits are true.
  func fail(_ error: StoreError) {
    wake { woken in
      failure = error
      for feed in feeds.values { feed.wakeAll(&woken) }
    }
  }

  /// Collects waiters under the lock, and resumes them after it.
  private func wake(_ collect: (inout [CheckedContinuation<Void, Never>]) -> Void) {
    var woken: [CheckedContinuation<Void, Never>] = []
    lock.lock()
    collect(&woken)
    lock.unlock()
    for waiter in woken { waiter.resume() }
  }
}

// MARK: Observers

extension ObservationHub {
  /// Begins to observe a tree, or one key of it.
  ///
  /// - Parameter related: Other trees whose changes are told, too.
  /// - Throws: `.closed`, `.forked`.
  func observe(
    _ tree: TreeSlot, key: [UInt8]? = nil, related: [TreeSlot] = [], of store: any ObservedStore
  ) throws(StoreError) -> ObservedPlace {
    let observer = Observer(of: tree, key: key, related: related)
    guard add(observer, of: store) else { throw .closed(path: store.path) }
    do throws(StoreError) {
      // In this order: commits that begin after the first are noted, others may not be in the second.
      let begun = store.begunPublication
      let state = try store.newestState()
      begin(observer, seen: state.publication, begun: begun)
      return ObservedPlace(observer, at: state, hub: self)
    } catch {
      end(observer)
      throw error
    }
  }

  private func add(_ observer: Observer, of store: any ObservedStore) -> Bool {
    lock.lock()
    defer { lock.unlock() }
    if isFinished { return false }
    self.store = store
    observerCount += 1
    hasObservers.store(true, ordering: .releasing)
    for observer in observer.all {
      let feed = feeds[observer.tree] ?? TreeFeed(of: observer.tree)
      feed.add(observer)
      if feeds.updateValue(feed, forKey: observer.tree) == nil { noteTrees() }
    }
    return true
  }

  /// Begins to observe the same as another observer, from its place on.
  func copy(of other: Observer) -> Observer {
    lock.lock()
    defer { lock.unlock() }
    let observer = Observer(of: other.tree, key: other.key, related: other.related.map(\.tree))
    observerCount += 1
    for (observer, other) in zip(observer.all, other.all) {
      feeds[other.tree]?.add(observer)
      observer.begin(where: other)
    }
    return observer
  }

  private func begin(_ observer: Observer, seen: UInt64, begun: UInt64) {
    lock.lock()
    defer { lock.unlock() }
    for observer in observer.all {
      observer.seen = seen
      observer.begun = begun
    }
    published = max(published, seen)
  }

  func end(_ observer: Observer) {
    lock.lock()
    defer { lock.unlock() }
    guard feeds[observer.tree] != nil else { return }
    observerCount -= 1
    hasObservers.store(observerCount > 0, ordering: .releasing)
    for observer in observer.all {
      guard let feed = feeds[observer.tree] else { continue }
      feed.remove(observer)
      if feed.isEmpty {
        feeds[observer.tree] = nil
        noteTrees()
      }
    }
  }

  private func noteTrees() { observed = ObservedTrees(feeds.keys.sortedRarely()) }

  /// The newest state, and whether it is the last.
  ///
  /// - Throws: `.forked`.
  func newestState() throws(StoreError) -> (state: any ObservedState, isLast: Bool)? {
    lock.lock()
    let (store, last, isFinished) = (store, lastState, isFinished)
    let failure = failure
    lock.unlock()
    if let failure { throw failure }
    if let last, isFinished { return (last, true) }
    guard let store else { return nil }
    return (try store.newestState(), false)
  }

  /// Returns the changes of commits up to `sequence` for an observer since the last call; nil if there are none.
  func takeChanges(for observer: Observer, through sequence: UInt64) -> ObservedChanges? {
    lock.lock()
    defer { lock.unlock() }
    var changes = feeds[observer.tree]?.takeChanges(for: observer, through: sequence)
    for other in observer.related {
      guard let related = feeds[other.tree]?.takeChanges(for: other, through: sequence) else {
        continue
      }
      changes = changes ?? ObservedChanges()
      changes?.add(authors: related.authors)
    }
    return changes
  }
}

// MARK: Waiting

extension ObservationHub {
  /// Suspends until there may be something new, or the task is cancelled.
  nonisolated(nonsending) func wait(_ observer: Observer) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in add(waiter, of: observer) }
    } onCancel: {
      cancel(observer)
    }
  }

  private func add(_ waiter: CheckedContinuation<Void, Never>, of observer: Observer) {
    lock.lock()
    var isAdded = false
    // A task that is cancelled later finds its waiter here.
    if !isFinished, failure == nil, !Task.isCancelled, feeds[observer.tree] != nil {
      isAdded = !observer.all.contains { observer in
        feeds[observer.tree]?.hasNews(for: observer, through: published) ?? false
      }
      if isAdded {
        observer.add(waiter)
        for observer in observer.all { feeds[observer.tree]?.await(observer) }
      }
    }
    lock.unlock()
    if !isAdded { waiter.resume() }
  }

  private func cancel(_ observer: Observer) { wake { woken in observer.wake(&woken) } }
}
