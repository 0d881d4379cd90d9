public import Cambium

/// The options of a ``StoreService``, besides those of its store.
public struct StoreServiceOptions: Sendable {
  /// The name of the store in metrics and traces; `nil` for the last part of its path.
  public var name: String?
  /// The longest wait for a process that has the store open, such as the service before this one. It takes the place of
  /// `StoreOptions.lock`.
  public var lockTimeout = Duration.seconds(60)
  /// The part of a deferred migration that is done at once. A crash or a shutdown loses at most one.
  public var migrationBudget = WorkBudget.records(2000)
  /// The pause between two such parts, in which requests have the store for themselves.
  public var migrationPause = Duration.milliseconds(20)
  /// The time between two collections of deleted blobs; `nil` to leave them to `StoreOptions.automaticCompaction`.
  public var blobCollectionInterval: Duration? = .seconds(3600)
  /// The share of a file of blobs that must be garbage so that a collection rewrites it.
  public var blobGarbageShare = 0.3
  /// The time between two looks at the figures of the store.
  public var metricsInterval = Duration.seconds(5)
  /// True to make a span of each transaction, fold and migration, by the tracer of `InstrumentationSystem`.
  public var tracesWork = false
  /// True if the service ends with an error when the store has failed and nothing more can be written, so that the process is
  /// started again. If false, the store can still be read, and ``StoreService/health`` says that it failed.
  public var endsWhenFailed = true

  public init() {}
}
