import ArgumentParser

/// `cambium-postgres`: takes a store to PostgreSQL. `cambium postgres` runs it.
@main
struct PostgresCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cambium-postgres",
    abstract: "Takes a store to PostgreSQL.",
    discussion: """
      The store is only read.

      Example: cambium postgres plan orders.cambium --scan
      """,
    subcommands: [PlanCommand.self, MoveCommand.self, VerifyCommand.self])
}
