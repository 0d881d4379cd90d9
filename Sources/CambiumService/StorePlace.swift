internal import Cambium
internal import Synchronization

/// The place of a service's store before, while and after it is open, and the tasks that wait for it.
final class StorePlace: Sendable {
  private enum Phase {
    case opening(MigrationProgress?)
    case open(PersistentStore)
    /// It could not be opened, or was closed after a failure.
    case failed(any Error)
    case closed
  }

  private struct State {
    var phase = Phase.opening(nil)
    var waiters: [Int: CheckedContinuation<PersistentStore, any Error>] = [:]
    var nextWaiter = 0
  }

  private let state = Mutex(State())

  var health: StoreHealth {
    switch state.withLock({ $0.phase }) {
    case .opening(nil): .opening
    case .opening(let progress?): .migrating(progress)
    case .open(let store): (try? store.metrics()).map { StoreHealth($0.state) } ?? .closed
    case .failed(let error): .failed(error)
    case .closed: .closed
    }
  }

  /// The store, if it is open.
  var store: PersistentStore? {
    state.withLock { state in
      if case .open(let store) = state.phase { store } else { nil }
    }
  }

  func note(_ progress: MigrationProgress) {
    state.withLock { state in
      if case .opening = state.phase { state.phase = .opening(progress) }
    }
  }

  func begin() { state.withLock { $0.phase = .opening(nil) } }

  func opened(_ store: PersistentStore) {
    for waiter in leave(for: .open(store)) { waiter.resume(returning: store) }
  }

  /// - Parameter error: Nil if the store was closed because the process ends.
  func ended(_ error: (any Error)?) {
    let phase = error.map { Phase.failed($0) } ?? .closed
    for waiter in leave(for: phase) { waiter.resume(throwing: unavailable) }
  }

  /// Goes to another phase, and takes the tasks that waited for it.
  private func leave(for phase: Phase) -> [CheckedContinuation<PersistentStore, any Error>] {
    state.withLock { state in
      defer { state.waiters = [:] }
      state.phase = phase
      return Array(state.waiters.values)
    }
  }

  var unavailable: StoreUnavailable { StoreUnavailable(health: health) }
}

// MARK: Waiting

extension StorePlace {
  /// Suspends until the store is open.
  ///
  /// - Throws: ``StoreUnavailable`` if it is not opened; `CancellationError`.
  func opening() async throws -> PersistentStore {
    let number = state.withLock { state in
      state.nextWaiter += 1
      return state.nextWaiter
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in add(waiter, number) }
    } onCancel: {
      state.withLock { $0.waiters.removeValue(forKey: number) }?
        .resume(throwing: CancellationError())
    }
  }

  private func add(_ waiter: CheckedContinuation<PersistentStore, any Error>, _ number: Int) {
    let store = state.withLock { state -> PersistentStore?? in
      switch state.phase {
      case .opening:
        // A task that is cancelled later finds its waiter here.
        if Task.isCancelled { return .some(nil) }
        state.waiters[number] = waiter
        return nil
      case .open(let store): return .some(store)
      default: return .some(nil)
      }
    }
    guard let store else { return }
    if let store { return waiter.resume(returning: store) }
    waiter.resume(throwing: Task.isCancelled ? CancellationError() : unavailable)
  }
}
