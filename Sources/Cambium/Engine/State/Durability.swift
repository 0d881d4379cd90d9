/// When a commit is acknowledged, and what a crash may take.
public enum Durability: Hashable, Sendable {
  /// After its flush. It survives a killed process and a power cut.
  case durable
  /// Once it is in the log's buffer; it is flushed within `maxDelay`, with the next durable commit, or
  /// with the next fold, whichever comes first. A crash may take the last moments, in the order of
  /// commits, never consistency.
  ///
  /// With `.relaxed(maxDelay: .infinite)` nothing but those two flushes.
  case relaxed(maxDelay: Delay)

  /// How long a relaxed commit may wait for its flush.
  public enum Delay: Hashable, Sendable {
    case limited(Duration)
    case infinite
  }

  var isDurable: Bool { self == .durable }
}
