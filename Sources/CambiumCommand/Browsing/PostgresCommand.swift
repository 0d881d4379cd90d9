import ArgumentParser
import Cambium

struct PostgresCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "postgres", abstract: "Takes a store to PostgreSQL.",
    discussion: """
      This is a program of its own, cambium-postgres, which is looked for beside this command and then in PATH: it needs libpq. \
      Scripts/program Postgres cambium-postgres builds it, and prints where it is.

      Example: cambium postgres plan orders.cambium --scan
      """)

  @Argument(
    parsing: .captureForPassthrough,
    help: "The arguments of cambium-postgres; --help explains them.")
  var arguments: [String] = []

  private static let program = "cambium-postgres"

  func run() throws {
    let error = Companion.execute(Self.program, arguments)
    guard error == .noSuchFile else {
      throw CommandFailure(.inputOutput, "Cannot run \(Self.program): \(error).")
    }
    throw CommandFailure(
      .notFound,
      "The program \(Self.program) is neither beside this command nor in PATH. Build it with"
        + " \"Scripts/program Postgres \(Self.program)\", and copy it there.")
  }
}
