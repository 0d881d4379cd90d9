/// The moment at which a commit is acknowledged, and with it the commits that a crash may lose.
public enum Durability: Hashable, Sendable {
  /// After its flush. It survives a killed process and a power cut.
  case durable
  /// When it is in the log's buffer, and every read that begins then sees it. It is flushed within that time, or with an
  /// earlier flush: by a durable commit, a fold, or closing the store. Commits become visible in their order, and a durable
  /// one after its flush: a relaxed commit that comes while a durable one is being flushed waits for that flush. A crash may lose the last of these commits, with all that came after them: the state that is left
  /// is one that was committed.
  case relaxed(flushWithin: Duration?)

  /// When it is in the log's buffer; it is flushed with another flush, however long that takes.
  public static var relaxed: Durability { .relaxed(flushWithin: nil) }

  var isDurable: Bool { self == .durable }
}
