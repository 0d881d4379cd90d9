/// When a commit is acknowledged, and what a crash may take.
public enum Durability: Hashable, Sendable {
  /// After its flush. It survives a killed process and a power cut.
  case durable
  /// Once it is in the log's buffer; it is flushed within `maxDelay`, or with whatever else flushes before:
  /// a durable commit, a fold, closing the store. A crash may take the last of these commits, with all that
  /// came after them: what is left is a state that there was.
  ///
  /// With `.relaxed(maxDelay: .infinite)` it waits for something else to flush.
  case relaxed(maxDelay: Delay)

  /// How long a relaxed commit may wait for its flush.
  public enum Delay: Hashable, Sendable {
    case limited(Duration)
    case infinite
  }

  var isDurable: Bool { self == .durable }
}
