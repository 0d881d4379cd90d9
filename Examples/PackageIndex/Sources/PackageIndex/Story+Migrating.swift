import Cambium

// From version 1 to version 4, back, and forward again.

extension Story {
  /// Says what is to be done, from the store's schemas and counts; nothing is written.
  mutating func plan() throws {
    heading("Version 4: what will it take?")
    let migration = try migration()
    print(migration.plan)
    note(
      "Planned the way to version 4 without writing: \(migration.plan.steps.count) steps, of which the program "
        + "says two and the third follows from the descriptions.")
  }

  /// Does all of it on the real records, but for the commit that would make it so.
  mutating func rehearse() async throws {
    heading("Version 4: rehearse")
    let report = try await watching(try migration()) { try await $0.rehearse() }
    note("Rehearsed it on the real records, in \(report.elapsed.text); the store is as it was.")
  }

  mutating func migrate() async throws {
    heading("Version 4: migrate")
    let report = try await watching(try migration()) { try await $0.run() }
    note(
      "Migrated from version \(report.from) to \(report.to), in \(report.elapsed.text), "
        + "\(report.records.perSecond(in: report.elapsed)) records a second: sizes became numbers, "
        + "maintainers records of their own, descriptions compressed blobs.")
  }

  /// To the state that the migration has kept.
  mutating func goBack() throws {
    heading("Back to version 1")
    let elapsed = try clock.measure { try PersistentStore.rollback(at: path, to: 1) }
    let store = try PersistentStore(at: path, model: FirstProgram.model)
    defer { try? store.close() }
    let bash = try store.fetch(FirstProgram.Package.self, key: "bash")
    print("To the program of version 1, the size of bash is the text \"\(bash?.size ?? "")\".")
    note(
      "Went back to version 1, in \(elapsed.text): one commit, which copies nothing. "
        + "The program of the first week reads its records again.")
  }

  /// Who has gone back must say so: else a program that is still deployed would undo it.
  mutating func goForwardAgain() async throws {
    heading("Forward again")
    do {
      try await PersistentStore(at: path, model: Model.today, steps: Model.steps).close()
    } catch {
      print("Without being told to, it does not:\n  \(error)")
    }
    var options = StoreOptions()
    options.allowsMigrationAfterRollback = true
    let report = try await watching(try migration(options)) { try await $0.run() }
    note("Migrated forward again, in \(report.elapsed.text), after saying that this is meant.")
  }
}

extension Story {
  private func migration(_ options: StoreOptions = StoreOptions()) throws -> Migration {
    try PersistentStore.migration(at: path, to: Model.today, steps: Model.steps, options: options)
  }

  /// Runs a migration, and shows meanwhile how far it is.
  private func watching(
    _ migration: Migration, _ run: (Migration) async throws -> MigrationReport
  ) async throws -> MigrationReport {
    async let shown: Void = ProgressLine.show(migration.progress)
    let report = try await run(migration)
    await shown
    print(
      "  \(report.records.grouped) records looked at, \(report.elapsed.text), "
        + "\(report.records.perSecond(in: report.elapsed)) a second")
    return report
  }
}
