internal import Logging

/// Writes down what a migration does, for those who read logs: a line for each part of the work, with how many
/// records it looked at and how long it took.
struct MigrationTrace: Sendable {
  private let logger: Logger?

  init(_ logger: Logger?) {
    self.logger = logger
  }

  func begin(_ tasks: MigrationTasks, skipping done: Int) {
    let route = tasks.route
    logger?.info(
      "\(done == 0 ? "Migrating" : "Going on with migrating") from version \(route.from.version) to \(route.wanted)",
      metadata: ["parts": "\(tasks.tasks.count - done)"])
    for hop in route.hops {
      logger?.debug(
        "Step \(hop.change.from.version) to \(hop.change.to.version)",
        metadata: ["label": "\(hop.step?.label ?? hop.change.to.label ?? "")"])
    }
  }

  func startOver() {
    logger?.warning(
      "An interrupted migration had other steps, defaults, conversions or revisions of closures; it begins again"
    )
  }

  func end(_ task: MigrationTask, records: Int, _ elapsed: Duration) {
    logger?.debug(
      "Done: \(task.text)", metadata: ["records": "\(records)", "elapsed": "\(elapsed)"])
  }

  func end(_ progress: MigrationProgress, isRehearsal: Bool) {
    logger?.info(
      isRehearsal ? "Rehearsed; nothing was changed" : "Migrated to version \(progress.version)",
      metadata: ["records": "\(progress.recordsDone)", "elapsed": "\(progress.elapsed)"])
  }

  func fail(_ error: StoreError) {
    logger?.error("The migration ended: \(error)")
  }
}
