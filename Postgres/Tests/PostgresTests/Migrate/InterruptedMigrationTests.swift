import Cambium
import CambiumPostgres
import CambiumTesting
import FoundationEssentials
import Glibc
import Testing

/// Migrations that are cut off, killed, cancelled, or begun twice at once.
@Suite(.enabled(if: PostgresServer.shared != nil, "\(PostgresServer.missing)"))
struct InterruptedMigrationTests {
  private static let id = Field(primaryKey: true, name: "id", type: .integer)

  private static func item(_ version: Int) -> RecordDescription {
    describe {
      id
      Field(
        name: version > 1 ? "title" : "name", type: .string, indexed: true,
        migrationInfo: version > 1 ? .init(renamingID: "name") : nil)
      if version > 1 { Field(name: "stock", type: .integer, migrationInfo: .init(default: 3)) }
    }
  }

  /// A migration by statements.
  private func simple(_ name: String) -> MigrationTrial {
    MigrationTrial(
      name: "i_" + name,
      versions: (1...2).map { ModelVersion($0, describing: ["Item": Self.item($0)]) })
  }

  /// A migration by the program: each name is changed.
  private func rebuilt(_ name: String, count: Int = 400) -> MigrationTrial {
    var trial = simple(name)
    trial.count = count
    trial.steps = [
      MigrationStep(to: 2) {
        UpdateRecord("Item") {
          UpdateField("title", from: { old in "<" + (try old["name", as: String.self]) + ">" })
        }
      }
    ]
    return trial
  }

  private func expectMigrated(_ trial: MigrationTrial, _ address: String) throws {
    try DatabaseContent(address).compare(with: try DatabaseContent(try trial.expected()))
    let left = try Connection(address).run(
      """
      SELECT to_regclass('cambium.migration'), to_regclass('cambium.migration_progress'),
        to_regnamespace('cambium_next'), to_regproc('cambium.migration_void')
      """)
    #expect(left == [[nil, nil, nil, nil]])
  }

  @Test("A migration that is cut at any point resumes, with nothing twice and nothing lost")
  func cut() async throws {
    let server = try #require(PostgresServer.shared)
    for trial in [simple("cut"), rebuilt("cut_rebuilt")] {
      let address = try trial.database()
      let budgets = (0..<24).map { 300 + $0 * 900 + Int.random(in: 0..<900) }
      let proxy = try CuttingProxy(
        before: server, named: trial.name, cuttingAfter: budgets, commits: 2)
      let through = server.address(trial.name, host: proxy.directory)
      var options = PostgresOptions()
      options.migrationDirectory = Workshop.directory(trial.name)
      // Beside other tests, the attempts that are cut take longer than a minute.
      options.patience = .seconds(600)
      var migration: PostgresMigration?
      while migration == nil {
        migration = try? await PostgresStore.migration(
          at: through, to: trial.model, steps: trial.steps, options: options)
      }
      let report = try await migration?.run()
      #expect(report?.to == 2, "\(budgets)")
      try expectMigrated(trial, address)
    }
  }

  @Test("A program that is killed again and again resumes when it is run again")
  func killed() async throws {
    let trial = MigrationTrial(
      name: "i_killed",
      versions: [1, 2].map { version in
        ModelVersion(
          version,
          describing: [
            "Item": describe {
              Self.id
              Field(name: "name", type: .string, indexed: true)
              Field(name: "size", type: version == 1 ? .integer : .string)
            }
          ])
      },
      steps: [
        MigrationStep(to: 2) {
          UpdateRecord("Item") { UpdateField("size", converting: .refuse) }
        }
      ], count: 3_000)
    let address = try trial.database()
    let directory = Workshop.directory("i_killed")
    _ = unsafe mkdir(directory, 0o755)
    try SchemaLock.write(trial.model, steps: trial.steps, at: directory + "/Schema.lock")
    let steps = #"[{"to": 2, "records": {"Item": {"size": {"convert": "refuse"}}}}]"#
    try Data(steps.utf8).write(to: URL(filePath: directory + "/Steps.json"))
    let command =
      "\(program) migrate '\(address)' --schema \(directory)/Schema.lock --steps \(directory)/Steps.json"
      + " --directory \(directory)"
    #expect(status(of: "\(command) --plan --json > \(directory)/plan") == 0)
    #expect(status(of: "\(command) --dry-run > \(directory)/rehearsal") == 0)
    var stages: Set<String> = []
    for number in 0..<14 {
      _ = unsafe system(
        "timeout -s KILL \(0.05 + Double(number) * 0.05) \(command) > /dev/null 2>&1")
      let stage = try? Connection(address).run("SELECT stage FROM cambium.migration")
      stages.formUnion((stage ?? []).compactMap { $0[0] })
    }
    #expect(!stages.isEmpty)
    #expect(status(of: "\(command) --json > \(directory)/report") == 0)
    try expectMigrated(trial, address)
  }

  @Test("What a program writes between two runs is not lost: the migration begins again")
  func written() async throws {
    let trial = rebuilt("written", count: 2_000)
    let address = try trial.database()
    var options = PostgresOptions()
    options.migrationDirectory = Workshop.directory("i_written")
    let migration = try await PostgresStore.migration(
      at: address, to: trial.model, steps: trial.steps, options: options)
    // It is cancelled once the records are in the store.
    let connection = try Connection(address)
    let run = Task { try await migration.run() }
    while true {
      let found = try? connection.run("SELECT 1 FROM cambium.migration WHERE stage <> 'exporting'")
      if found == [["1"]] { break }
      usleep(1_000)
    }
    migration.cancel()
    await #expect(throws: StoreError.migrationCancelled(from: 1, to: 2)) { try await run.value }
    let stage = try connection.run("SELECT stage FROM cambium.migration")
    #expect(stage.count == 1)
    try connection.run("UPDATE item SET name = 'written' WHERE id = (SELECT min(id) FROM item)")
    let report = try await migration.run()
    #expect(report.startedOver)
    let names = try connection.run("SELECT title FROM item WHERE id = (SELECT min(id) FROM item)")
    #expect(names == [["<written>"]])
    #expect(try connection.run("SELECT count(*) FROM item") == [["2000"]])
  }

  @Test("Of two programs that migrate at once, one waits, and finds the new version")
  func twoAtOnce() async throws {
    for trial in [simple("two"), rebuilt("two_rebuilt")] {
      let address = try trial.database()
      let reports = try await withThrowingTaskGroup(of: MigrationReport.self) { group in
        for _ in 0..<3 {
          group.addTask {
            try await PostgresStore.migration(
              at: address, to: trial.model, steps: trial.steps
            ).run()
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(reports.filter { $0.from == 1 }.count == 1)
      #expect(reports.allSatisfy { $0.to == 2 })
      try expectMigrated(trial, address)
    }
  }

  @Test(
    "A transaction that does not end keeps a migration from beginning, with an error that says so")
  func blocked() async throws {
    let trial = simple("blocked")
    let address = try trial.database()
    let other = try Connection(address)
    var options = PostgresOptions()
    options.patience = .milliseconds(10)
    let migration = try await PostgresStore.migration(
      at: address, to: trial.model, steps: trial.steps, options: options)
    try other.run("BEGIN; LOCK TABLE item IN ACCESS SHARE MODE")
    do {
      _ = try await migration.run()
      Issue.record("it ran")
    } catch PostgresStoreError.migrationBlocked {}
    try other.run("COMMIT")
    #expect(try await migration.run().to == 2)
  }
}
