/// The migrations that a program allows, and how they are run.
public struct MigrationOptions: Hashable, Sendable {
  /// The lowest version that is migrated; stores of lower versions are refused.
  public var oldestVersion = 1
  /// Allows stores that are more than one step behind.
  public var allowsSeveralSteps = true
  /// Runs every step by itself, instead of taking rows through consecutive steps in one pass.
  public var stepwise = false
  /// The number of records in a slice, at least one. A crash or a cancellation loses at most one slice of the work.
  public var sliceCount = 200_000

  public init() {}
}
