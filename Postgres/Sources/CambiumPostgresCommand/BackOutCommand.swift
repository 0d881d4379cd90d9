import ArgumentParser
import Cambium
import CambiumPostgres

struct BackOutCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "back-out", abstract: "Takes a move back, by one step.",
    discussion: """
      After "finish" it removes the fence of the store, unless the database has changes that the store does not have: these are \
      listed, and the status is 10. With --force they are left behind in the tables. Stop the programs that use the database \
      first.

      Before "finish", or when it is run again, it drops the tables that the move made, and nothing else.

      Example: cambium postgres back-out orders.cambium --to postgres://orders@db/orders
      """)

  @OptionGroup var arguments: MovedStoreArguments

  @Flag(
    help:
      "Return to the store although the database has other changes; drop objects that depend on the tables."
  )
  var force = false

  @Flag(help: "Write JSON, for programs, if there are differences.")
  var json = false

  func run() throws {
    let source = arguments.source
    var backOut = BackOut(source.path, options: source.options, to: arguments.to)
    backOut.isForced = force
    switch try Report.differences(json: json, backOut.run) {
    case .unfenced: print("Programs can write the store again. The database still has the tables.")
    case .dropped(let tables): print("Dropped: \(tables.joined(separator: ", ")).")
    }
  }
}
