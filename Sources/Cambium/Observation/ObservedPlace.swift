/// The place of one observer: the last state that it was given.
///
/// It keeps that state. While the observer waits, it moves to newer states by itself, at the latest after every fold.
final class ObservedPlace: @unchecked Sendable {
  private let hub: ObservationHub
  private let observer: Observer
  /// Held while the place moves.
  private let turn = ThreadLock()
  /// Under `turn`.
  private var present: any ObservedState

  init(_ observer: Observer, at state: any ObservedState, hub: ObservationHub) {
    self.observer = observer
    self.hub = hub
    present = state
  }

  deinit { hub.end(observer) }

  var tree: TreeSlot { observer.tree }

  /// The state that the observer was told of last.
  var state: any ObservedState {
    turn.lock()
    defer { turn.unlock() }
    return present
  }

  /// Returns another place at the same state, which moves by itself from there on.
  func copy() -> ObservedPlace {
    turn.lock()
    defer { turn.unlock() }
    return ObservedPlace(hub.copy(of: observer), at: present, hub: hub)
  }

  /// Suspends until something may have changed, and moves on.
  ///
  /// - Returns: nil when the task is cancelled, or no more will come.
  /// - Throws: `.forked`.
  nonisolated(nonsending) func next() async throws(StoreError) -> ObservedStep? {
    while !Task.isCancelled {
      let (step, isLast) = try move()
      if let step { return step }
      if isLast { return nil }
      await hub.wait(observer)
    }
    return nil
  }

  /// Continues to the newest state.
  ///
  /// - Returns: a step if something may have changed, and whether there can be more after it.
  private func move() throws(StoreError) -> (step: ObservedStep?, isLast: Bool) {
    turn.lock()
    defer { turn.unlock() }
    guard let (state, isLast) = try hub.newestState() else { return (nil, true) }
    let before = present
    let changes = hub.takeChanges(for: observer, through: state.publication)
    present = state
    guard let changes else { return (nil, isLast) }
    let step = ObservedStep(tree: observer.tree, before: before, after: state, changes: changes)
    return (step, isLast)
  }
}

/// Two states of a tree, and which of its keys may have changed from one to the other.
struct ObservedStep: Sendable {
  let tree: TreeSlot
  let before: any ObservedState
  let after: any ObservedState
  let changes: ObservedChanges
}

/// An observer of a tree, or of one key in it. Requires the hub's lock.
///
/// One that is told of changes in other trees, too, has an observer of each of those, which wakes it.
final class Observer: @unchecked Sendable {
  let tree: TreeSlot
  /// Nil for all.
  let key: [UInt8]?
  /// The last commit in the state that it was told of.
  var seen: UInt64 = 0
  /// Commits up to this one may have been begun before changes were noted for it.
  var begun: UInt64 = 0
  /// Its place in the tree's journal.
  var number = 0
  /// The known changes of its key, with their authors.
  var touch: Touch?
  private var waiters: [CheckedContinuation<Void, Never>] = []
  let related: [Observer]
  /// The one that this wakes; nil if it is woken itself.
  private weak var owner: Observer?

  struct Touch {
    var first: UInt64
    var last: UInt64
    var authors: Set<String?>
  }

  /// - Parameter related: The other trees.
  init(of tree: TreeSlot, key: [UInt8]?, related: [TreeSlot] = []) {
    self.tree = tree
    self.key = key
    self.related = related.map { Observer(of: $0, key: nil) }
    for other in self.related { other.owner = self }
  }

  /// This one, and those of other trees.
  var all: [Observer] { [self] + related }

  /// Takes over the place of another observer of the same tree or key.
  func begin(where other: Observer) {
    (seen, begun) = (other.seen, other.begun)
    (number, touch) = (other.number, other.touch)
  }

  var isCatchingUp: Bool { seen < begun }

  func add(_ waiter: CheckedContinuation<Void, Never>) { waiters.append(waiter) }

  /// Hands its waiters over, to be resumed.
  func wake(_ woken: inout [CheckedContinuation<Void, Never>]) {
    owner?.wake(&woken)
    if waiters.isEmpty { return }
    woken.append(contentsOf: waiters)
    waiters.removeAll()
  }

  /// Notes that commits which will be visible next change its key.
  func touch(_ first: UInt64, _ last: UInt64, by author: String?) {
    guard var touch else {
      self.touch = Touch(first: first, last: last, authors: [author])
      return
    }
    touch.first = min(touch.first, first)
    touch.last = max(touch.last, last)
    touch.authors.insert(author)
    self.touch = touch
  }
}

/// A committed state of a store, as observers compare it with a later one.
protocol ObservedState: AnyObject, Sendable {
  /// The sequence of the last commit that is in it.
  var sequence: UInt64 { get }
  /// The number of the state among all that are published.
  var publication: UInt64 { get }
  var trees: TreeAccess { get }
}

/// A store, as observers see it.
protocol ObservedStore: AnyObject, Sendable {
  /// The newest committed state; of a store that was closed, the last.
  ///
  /// - Throws: `.forked`.
  func newestState() throws(StoreError) -> any ObservedState

  /// The last state that may be published by what has begun by now.
  var begunPublication: UInt64 { get }

  var path: String { get }
}
