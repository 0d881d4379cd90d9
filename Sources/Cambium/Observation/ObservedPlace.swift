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

  /// Goes on to the newest state.
  ///
  /// - Returns: a step if something may have changed, and whether there can be more after it.
  private func move() throws(StoreError) -> (step: ObservedStep?, isLast: Bool) {
    turn.lock()
    defer { turn.unlock() }
    guard let (state, isLast) = try hub.newestState() else { return (nil, true) }
    let before = present
    let changes = hub.takeChanges(for: observer, through: state.sequence)
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
