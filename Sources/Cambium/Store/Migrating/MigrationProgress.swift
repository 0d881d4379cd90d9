/// The progress of a migration.
public struct MigrationProgress: Hashable, Sendable {
  /// The version that the step under way leads to.
  public internal(set) var version = 0
  /// The work under way, in words.
  public internal(set) var work = ""
  /// The number of parts of the work that are done, and the number of all.
  public internal(set) var task = 0
  public internal(set) var tasks = 0
  /// The number of records read, each once for every part of the work that reads it.
  public internal(set) var recordsDone = 0
  /// The approximate number of records to be read.
  public internal(set) var records = 0
  public internal(set) var elapsed = Duration.zero
  /// True if an interrupted run was discarded because its steps, defaults, conversions or revisions differ; the migration
  /// has begun again from the old version.
  public internal(set) var startedOver = false

  /// From 0 to 1.
  public var fraction: Double {
    records > 0 ? Double(recordsDone) / Double(records) : task == tasks ? 1 : 0
  }

  /// The records per second; nil at the beginning.
  public var rate: Double? {
    let seconds = elapsed / .seconds(1)
    return seconds > 0 && recordsDone > 0 ? Double(recordsDone) / seconds : nil
  }

  /// The approximate time that is left; nil if it is not known yet.
  public var remaining: Duration? {
    rate.map { .seconds(Double(records - recordsDone) / $0) }
  }
}
