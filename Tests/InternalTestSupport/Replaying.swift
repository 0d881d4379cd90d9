import Testing

/// A fault that a test found, in a line.
struct Disagreement: Error, CustomStringConvertible {
  let description: String
}

/// Throws unless `condition` holds. For loops in which a million `#expect` would take minutes.
func agree(_ condition: Bool, _ text: @autoclosure () -> String) throws {
  if !condition { throw Disagreement(description: text()) }
}

/// Runs `body` for each seed; one that fails names itself, so that it alone can be run again.
func replaying<Seeds: Sequence<UInt64>>(
  _ seeds: Seeds, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: (UInt64) throws -> Void
) {
  for seed in seeds {
    do {
      try body(seed)
    } catch {
      Issue.record("seed \(seed): \(error)", sourceLocation: sourceLocation)
    }
  }
}

/// How much of a long test is run: all of it where the optimizer helps.
func scaled(_ count: Int, debug: Int) -> Int {
  #if DEBUG
    debug
  #else
    count
  #endif
}
