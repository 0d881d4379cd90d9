/// The moment at which a commit is acknowledged, and with it the commits that a crash may lose.
public enum Durability: Hashable, Sendable {
  /// After its flush. It survives a killed process and a power cut.
  case durable
  /// When it is in the log's buffer. It is flushed within `maxDelay`, or with an earlier flush: by a durable commit, a fold,
  /// or closing the store. A crash may lose the last of these commits, with all that came after them: the state that is left
  /// is one that was committed.
  ///
  /// With `.relaxed(maxDelay: .infinite)` it waits for another flush.
  case relaxed(maxDelay: Delay)

  /// The longest time that a relaxed commit waits for its flush.
  public enum Delay: Hashable, Sendable {
    case limited(Duration)
    case infinite
  }

  var isDurable: Bool { self == .durable }
}
