/// What a program allows of migrations, and how they are run.
public struct MigrationOptions: Hashable, Sendable {
  /// Stores of lower versions are refused.
  public var oldestVersion = 1
  /// Whether a store may be more than one step behind.
  public var allowsSeveralSteps = true
  /// Runs every step by itself, instead of taking rows through consecutive steps in one pass.
  public var stepwise = false
  /// How many records a slice has, at least one: what a crash or a cancellation loses at most of the work.
  public var sliceCount = 200_000

  public init() {}
}
