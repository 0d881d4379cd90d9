import ArgumentParser
import Cambium

struct MigrateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Migrates a store to a version of a schema file.",
    discussion: """
      Until the migration ends, the store has the old version and is whole. If it is interrupted, it stops \
      after the current part, and the next run resumes there. The state from before is kept for a rollback. \
      A change that does not follow from the schema file is not guessed: without a file of steps for it, \
      nothing is done, and the status is 7. The same holds if the store was rolled back from the version or \
      a later one, unless you use --after-rollback.

      Example: cambium migrate orders.cambium --schema Schema.lock --steps Steps.json
      """)

  @OptionGroup var arguments: StoreArguments
  @OptionGroup var schema: SchemaArguments

  @Flag(help: "Rehearse the migration on the real records, and discard the result.")
  var dryRun = false

  func run() throws {
    let migration = try schema.migration(for: arguments)
    let plan = migration.plan
    if plan.from == plan.to {
      return try say(
        MigrationOutcome(
          from: plan.from, to: plan.to, records: 0, isOneCommit: false, seconds: 0))
    }
    guard plan.canRun else {
      if !arguments.json {
        for fault in plan.faults { StandardError.line("cambium: \(fault)") }
      }
      throw plan.refusal
    }
    Interruption.begin { migration.cancel() }
    let watch = MigrationWatch(migration)
    let report: MigrationReport
    do {
      defer { watch.end() }
      report = dryRun ? try migration.rehearse() : try migration.run()
    }
    try say(
      MigrationOutcome(
        from: report.from, to: report.to, records: report.records,
        isOneCommit: report.isOneCommit, seconds: report.elapsed / .seconds(1)))
  }

  private func say(_ outcome: MigrationOutcome) throws {
    StandardOutput.line(
      arguments.json ? "\(outcome.json(isRehearsal: dryRun))" : outcome.text(isRehearsal: dryRun))
  }
}

/// The outcome.
private struct MigrationOutcome {
  let from: Int
  let to: Int
  let records: Int
  let isOneCommit: Bool
  let seconds: Double

  func text(isRehearsal: Bool) -> String {
    if from == to { return "The store already has version \(to)." }
    let time = Figures.time(.seconds(seconds))
    let work =
      isOneCommit
      ? "one commit in \(time), which leaves records as they are until they are written."
      : "\(Figures.count(records, "record")) read in \(time)."
    return isRehearsal
      ? "Rehearsed the migration from version \(from) to \(to): \(work) Nothing was changed."
      : "Migrated from version \(from) to \(to): \(work)"
  }

  func json(isRehearsal: Bool) -> JSONValue {
    [
      "from": JSONValue(from), "to": JSONValue(to), "records": JSONValue(records),
      "oneCommit": .boolean(isOneCommit), "seconds": JSONValue(seconds),
      "dryRun": .boolean(isRehearsal),
    ]
  }
}

/// Shows how far a migration is.
private struct MigrationWatch {
  private let task: Task<Void, Never>?

  init(_ migration: Migration) {
    guard Terminal.showsProgress else {
      task = nil
      return
    }
    let progress = migration.progress
    task = Task {
      let bar = ProgressBar()
      for await state in progress {
        bar.show(
          state.fraction,
          "version \(state.version), \(state.work), \(Figures.count(state.recordsDone)) records")
      }
      bar.end()
    }
  }

  /// Its stream ends with the run; its later output would be part of the answer.
  func end() { if task != nil { StandardError.write("\r\u{1b}[K") } }
}
