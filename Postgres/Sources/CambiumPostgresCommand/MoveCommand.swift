import ArgumentParser
import Cambium
import CambiumPostgres

struct MoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move", abstract: "Copies the store's records into tables of a database.",
    discussion: """
      It makes the tables of "plan", and copies one state of the store into them, in batches that are committed. A move that \
      was interrupted, by whatever, resumes where it stopped when it is run again, as long as the store has not changed. A \
      lost connection is made again by itself. Indexes and foreign keys are made after the rows. The store is not changed: \
      "back-out" drops the tables that it made.

      Commits made meanwhile are not copied. If the program keeps a history (StoreOptions.history), "follow" applies them \
      afterwards; otherwise stop the program first.

      Example: cambium postgres move orders.cambium --to postgres://orders@db/orders
      """)

  @OptionGroup var arguments: StoreArguments

  @Option(help: "The database, as a URL or a connection string of libpq.")
  var to: String

  @Flag(help: "Drop what an earlier move made if it cannot be resumed, and begin again.")
  var restart = false

  @Option(help: "For how many seconds a lost connection is made again.")
  var patience = 60

  @Flag(help: "Do not report progress.")
  var quiet = false

  func validate() throws {
    guard (0...86_400).contains(patience) else {
      throw ValidationError("A patience is 0 to 86400 seconds.")
    }
  }

  func run() throws {
    let snapshot = try arguments.snapshot()
    var move = Move(
      snapshot, of: try arguments.inspect(),
      options: try arguments.options(for: snapshot.schema), to: to)
    move.restarts = restart
    move.patience = .seconds(patience)
    if !quiet { move.progress = { Report.error("\($0.record): \($0.count) of \($0.total)") } }
    let clock = ContinuousClock()
    let start = clock.now
    let count = try move.run()
    let seconds = (clock.now - start) / .seconds(1)
    print(
      "\(count) records of commit \(snapshot.sequence) moved in \(Int(seconds.rounded(.up))) s.")
    if try snapshot.historyExtent == nil {
      print(
        "The store keeps no history (StoreOptions.history), so later commits cannot be followed.")
    }
  }
}
