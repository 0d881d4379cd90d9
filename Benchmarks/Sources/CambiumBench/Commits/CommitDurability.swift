import ArgumentParser

/// The durability of a commit.
enum CommitDurability: String, CaseIterable, ExpressibleByArgument, Codable {
  /// When it returns, it survives a power cut.
  case durable
  /// A crash may lose the last commits, and loses nothing else. How many, and to which kind of crash, is
  /// each engine's own; the report says it.
  case relaxed
}
