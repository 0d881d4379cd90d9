import ArgumentParser

/// `cambium-postgres`: takes a store to PostgreSQL. `cambium postgres` runs it.
@main
struct PostgresCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cambium-postgres",
    abstract: "Takes a store to PostgreSQL.",
    discussion: """
      "plan" shows the tables, "move" makes them and copies the records, "follow" applies the commits that come, "verify" \
      compares, and "finish" ends writing to the store; "back-out" takes each back. Until "finish" the store is only read. \
      "migrate" migrates the database afterwards.

      Example: cambium postgres plan orders.cambium --scan
      """,
    subcommands: [
      PlanCommand.self, MoveCommand.self, FollowCommand.self, VerifyCommand.self,
      FinishCommand.self, BackOutCommand.self, MigrateCommand.self,
    ])
}
