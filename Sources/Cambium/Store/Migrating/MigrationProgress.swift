/// How far a migration is.
public struct MigrationProgress: Hashable, Sendable {
  /// The version that the step under way leads to.
  public internal(set) var version = 0
  /// What is being done, in words.
  public internal(set) var work = ""
  /// How many parts of the work are done, and how many there are.
  public internal(set) var task = 0
  public internal(set) var tasks = 0
  /// Records that were looked at, each once for every part of the work that looks at it.
  public internal(set) var recordsDone = 0
  /// About how many there are to look at.
  public internal(set) var records = 0
  public internal(set) var elapsed = Duration.zero
  /// Whether an interrupted run was discarded, because its steps, defaults, conversions or revisions of closures
  /// differ; the migration has begun again from the old version.
  public internal(set) var startedOver = false

  /// From 0 to 1.
  public var fraction: Double {
    records > 0 ? Double(recordsDone) / Double(records) : task == tasks ? 1 : 0
  }

  /// Records a second; nil at the beginning.
  public var rate: Double? {
    let seconds = elapsed / .seconds(1)
    return seconds > 0 && recordsDone > 0 ? Double(recordsDone) / seconds : nil
  }

  /// About how long it still takes; nil where nothing can be said yet.
  public var remaining: Duration? {
    rate.map { .seconds(Double(records - recordsDone) / $0) }
  }
}
