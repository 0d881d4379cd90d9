public import Cambium

/// The health of a store that a ``StoreService`` runs, for the probes of a supervisor.
///
/// A liveness probe restarts a process: it must not do so while a migration runs, since the next process would resume the same
/// migration. A readiness probe sends requests elsewhere meanwhile.
@nonexhaustive public enum StoreHealth: Sendable {
  /// The store is being opened: the service may still wait for the process before it, or the log is read.
  case opening
  /// The store is migrated before it can be used.
  case migrating(MigrationProgress)
  /// The store can be read and written. A deferred migration may be finished meanwhile.
  case ready
  /// The disk is full: the store can be read, and writes fail or soon will. It ends by itself when there is space; starting the
  /// process again does not help.
  case full
  /// The store could not be opened, or an earlier write failed so that nothing more is written: the process has to be started
  /// again.
  case failed(any Error)
  /// The store was closed, since the process ends.
  case closed

  /// The answer to a liveness probe: false if only starting the process again can help.
  public var isAlive: Bool {
    if case .failed = self { false } else { true }
  }

  /// The answer to a readiness probe: true if the store can be read and written.
  public var isReady: Bool {
    if case .ready = self { true } else { false }
  }
}

extension StoreHealth: CustomStringConvertible {
  /// One line for the body of a probe's answer, such as `migrating to version 2, 43 % done`.
  public var description: String {
    switch self {
    case .opening: "opening"
    case .migrating(let progress):
      "migrating to version \(progress.version), \(Int(progress.fraction * 100)) % done"
    case .ready: "ready"
    case .full: "the disk is full"
    case .failed(let error): "failed: \(error)"
    case .closed: "closed"
    }
  }
}

extension StoreHealth {
  /// The health of an open store, by its figures.
  init(_ state: StoreMetrics.State) {
    switch state {
    case .full: self = .full
    case .failed(let cause): self = .failed(cause)
    case .closed: self = .closed
    default: self = .ready
    }
  }
}

/// The error of a request that came while the store could not be used.
public struct StoreUnavailable: Error, CustomStringConvertible {
  /// The health of the store at that time.
  public let health: StoreHealth

  public var description: String { "The store cannot be used: \(health). Try again later." }
}
