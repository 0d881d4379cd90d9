import ArgumentParser
import Cambium
import CambiumPostgres

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Compares the store's records with those in the database.",
    discussion: """
      Ranges of records are hashed, by this program and by the server, and those with different hashes are compared record by \
      record. Records that the history says were changed since the commit that the database has are left out, so that a store can \
      be compared while it is written and followed. The status is 10 if there are differences.

      Example: cambium postgres verify orders.cambium --to postgres://orders@db/orders
      """)

  @OptionGroup var arguments: MovedStoreArguments

  @Option(help: "The number of differences to list.")
  var limit = 20

  @Flag(help: "Write JSON, for programs.")
  var json = false

  func run() throws {
    let source = arguments.source
    let found = try Verification(
      of: try source.snapshot(), identity: try source.inspect().identity, in: arguments.to,
      listing: limit)
    Report.show(found, json: json)
    if !found.isSame { throw ExitCode(10) }
  }
}
