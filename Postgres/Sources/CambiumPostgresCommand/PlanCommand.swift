import ArgumentParser
import Cambium
import CambiumPostgres

struct PlanCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "plan", abstract: "Shows the tables that a store becomes. Writes nothing.",
    discussion: """
      It prints the statements of SQL that make the tables, and as comments all that the database will not keep as the store \
      does. With --scan it reads every record and counts the values that do not go over exactly. The status is 7 if some of \
      them cannot go over at all.

      Example: cambium postgres plan orders.cambium --scan
      """)

  @OptionGroup var arguments: StoreArguments

  @Flag(help: "Read every record, and count the values that do not go over exactly.")
  var scan = false

  @Flag(help: "Write JSON, for programs.")
  var json = false

  func run() throws {
    let snapshot = try arguments.snapshot()
    let plan = PostgresPlan(snapshot.schema, options: try arguments.options(for: snapshot.schema))
    let scan = scan ? try ValueScan(of: snapshot, for: plan) : nil
    print(json ? try plan.json(scan) : plan.text(scan), terminator: "")
    if let scan, !scan.isMovable { throw ExitCode(7) }
  }
}
