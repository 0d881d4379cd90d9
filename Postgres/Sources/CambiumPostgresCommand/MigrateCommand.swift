import ArgumentParser
import Cambium
import CambiumPostgres

struct MigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate",
    abstract: "Migrates a database to a version of a schema file.",
    discussion: """
      If the server can take all steps by statements, they are one transaction. Otherwise the records are read into a store in a \
      directory of this machine, which is migrated, and copied into new tables; if that is interrupted, the next run with the \
      same directory resumes it. Until the end, the database has the old version. Writers wait meanwhile.

      A change that does not follow from the schema file is not guessed: without a file of steps for it, nothing is done, and the \
      status is 7.

      Example: cambium postgres migrate postgres://orders@db/orders --schema Schema.lock --plan
      """)

  @Argument(help: "The database, as a URL or a connection string of libpq.")
  var database: String

  @Option(help: "The schema file, which SchemaLock.write makes.", completion: .file())
  var schema: String

  @Option(help: "The version to migrate to. (default: the newest in the schema file)")
  var toVersion: Int?

  @Option(
    help: "A file of steps in JSON, for values that do not follow from the schema file.",
    completion: .file())
  var steps: String?

  @Option(
    help: "The directory for records that the server cannot migrate. (default: of temporary files)",
    completion: .directory)
  var directory: String?

  @Flag(help: "Show what would be done, and do nothing.")
  var plan = false

  @Flag(help: "Rehearse the migration on the real records, and discard the result.")
  var dryRun = false

  @Flag(help: "Write JSON, for programs.")
  var json = false

  func run() async throws {
    let migration = try await migration()
    let plan = migration.plan
    if self.plan {
      show(migration)
      if !plan.canRun { throw ExitCode(7) }
      return
    }
    guard plan.canRun else {
      for fault in plan.faults { Report.error("cambium: \(fault)") }
      throw ExitCode(7)
    }
    show(try await (dryRun ? migration.rehearse() : migration.run()))
  }

  private func migration() async throws -> PostgresMigration {
    let file = try SchemaLock(contentsOf: schema)
    guard let version = toVersion ?? file.versions.last?.number, file.contains(version: version)
    else {
      throw ValidationError(
        "\(schema) has no version\(toVersion.map { " \($0)" } ?? "").")
    }
    // Also the versions before that only the database has.
    var versions = file
    for lock in try await PostgresStore.locks(at: database) {
      versions = versions.completed(by: lock)
    }
    // A file of steps has all of those that the lock does not name.
    if steps != nil { versions = versions.withoutOtherSteps() }
    let steps = try steps.map { try StoreModel(versions).steps(contentsOf: $0) } ?? []
    var options = PostgresOptions()
    options.migrationDirectory = directory
    return try await PostgresStore.migration(
      at: database, to: try StoreModel(versions.filter { $0.number <= version }),
      steps: steps.filter { $0.to <= version }, options: options)
  }

  private func show(_ migration: PostgresMigration) {
    if json { return Report.line(Planned(plan: migration.plan, statements: migration.statements)) }
    print(migration.plan)
    for statement in migration.statements { print("\n\(statement);") }
  }

  private struct Planned: Encodable {
    let plan: MigrationPlan
    let statements: [String]
  }

  private func show(_ report: MigrationReport) {
    guard json else {
      return print(
        (dryRun ? "Rehearsed: " : "") + "\(report)" + (dryRun ? ". Nothing was changed." : ""))
    }
    Report.line(
      Outcome(
        from: report.from, to: report.to, records: report.records, oneCommit: report.isOneCommit,
        seconds: report.elapsed / .seconds(1), startedOver: report.startedOver, dryRun: dryRun))
  }

  private struct Outcome: Encodable {
    let from, to, records: Int
    let oneCommit: Bool
    let seconds: Double
    let startedOver, dryRun: Bool
  }
}
