import ArgumentParser
import Cambium

struct WatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch", abstract: "Shows the records of a type as programs change them.",
    discussion: """
      Each record that is inserted, updated or deleted from now on is shown, with the fields that changed; commits that come \
      close to one another are shown together. With a condition, a record is inserted when it begins to meet it, and deleted \
      when it no longer does. With --json each change is an object in a line, with the old and the new record. The store \
      need not keep a history. It ends at Ctrl-C, with status 0.

      Example: cambium watch orders.cambium Order 'paid == false'
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "The type of the records, by its stored name.")
  var type: String

  @Argument(help: "The condition, as in query. (default: all records)")
  var condition: String?

  func run() throws {
    let parsed = try condition.map { try FieldCondition(parsing: $0) }
    Interruption.begin()
    let store = try arguments.open(arguments.reading)
    var state = try store.snapshot()
    let shape = RecordShape(try state.schema.type(named: type))
    let count = try state.count(record: shape.name, where: parsed)
    if !arguments.json {
      StandardOutput.line(
        Style.faint("Watching \(Figures.count(count, "record")). End with Ctrl-C."))
    }
    try store.follow { next in
      try next.forEachChange(record: shape.name, where: parsed, since: state) { old, new in
        RecordDifference(shape, old, new).write(
          asJSON: arguments.json, commit: next.historyCursor.sequence)
      }
      state = next
    }
  }
}
