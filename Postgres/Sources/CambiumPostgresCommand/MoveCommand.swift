import ArgumentParser
import Cambium
import CambiumPostgres

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

struct MoveCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "move", abstract: "Copies the store's records into tables of a database.",
    discussion: """
      It makes the tables of "plan", and copies one state of the store into them, in batches that are committed. A move that \
      was interrupted, by whatever, resumes where it stopped when it is run again, as long as the store has not changed. A \
      lost connection is made again by itself. Indexes and foreign keys are made after the rows. The store is not changed: to \
      go back, drop the tables and the schema "cambium".

      Commits made meanwhile are not copied: stop the program that writes the store first.

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
      snapshot, of: try arguments.inspect(), options: arguments.options, to: to)
    move.restarts = restart
    move.patience = .seconds(patience)
    if !quiet { move.progress = { ProgressLine.write($0) } }
    let clock = ContinuousClock()
    let start = clock.now
    let count = try move.run()
    let seconds = (clock.now - start) / .seconds(1)
    print(
      "\(count) records of commit \(snapshot.sequence) moved in \(Int(seconds.rounded(.up))) s.")
  }
}

/// Progress on the error output.
private enum ProgressLine {
  static func write(_ progress: MoveProgress) {
    let text = "\(progress.record): \(progress.count) of \(progress.total)\n"
    var bytes = Array(text.utf8)
    while !bytes.isEmpty {
      let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(2, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      bytes.removeFirst(count)
    }
  }
}
