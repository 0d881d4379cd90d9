/// Follows the work of a store, for traces and for timers of the program's own.
///
/// ```swift
/// struct Timing: StoreTracer {
///   func begin(_ work: StoreWork) -> StoreWorkEnd? {
///     let start = ContinuousClock.now
///     return { error in print(work, ContinuousClock.now - start, error.map { "\($0)" } ?? "") }
///   }
/// }
/// options.tracer = Timing()
/// ```
///
/// Without a tracer, the cost is that of comparing a reference with `nil`.
public protocol StoreTracer: Sendable {
  /// Begins to follow a piece of work. It is called when the work begins: for a transaction in the task or on the thread that
  /// writes, before it waits for its turn; for everything else on the thread that does it, which waits meanwhile.
  ///
  /// Neither this nor the returned closure may write to the store: for a flush, that would wait for itself.
  ///
  /// - Returns: A closure that is called once when the work has ended; `nil` to hear no more of it.
  func begin(_ work: StoreWork) -> StoreWorkEnd?
}

/// Receives the end of a piece of work, perhaps on another thread than its beginning, with the error that ended it; `nil` if
/// it succeeded.
public typealias StoreWorkEnd = @Sendable (_ error: (any Error)?) -> Void

/// A piece of work of a store that a ``StoreTracer`` follows.
@nonexhaustive public enum StoreWork: Hashable, Sendable {
  /// A write transaction of the program, from the call of `write` to its return: waiting for the turn, the body, and for a
  /// durable one the flush.
  case transaction(author: String?)
  /// Forcing the log to the disk, for all commits that wait for it. There are none for a store in memory.
  case flush
  /// Merging committed changes into the trees, in the background.
  case fold
  /// Migrating the store while it is opened, or by ``Migration/run()``.
  case migration(from: Int, to: Int)
}
