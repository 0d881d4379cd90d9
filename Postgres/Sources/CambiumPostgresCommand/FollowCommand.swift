import ArgumentParser
import Cambium
import CambiumPostgres
import FoundationEssentials

struct FollowCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "follow", abstract: "Applies the store's commits to the database as they come.",
    discussion: """
      It reads the history that the program keeps (StoreOptions.history) while the program writes. Records that commits have \
      changed are replaced by those of the newest state, in one transaction of the server with the number of the commit: the \
      database always shows the state of one commit, and whatever interrupts this, it resumes there when it is run again. \
      Until "finish" the tables have no foreign keys. Write nothing into them meanwhile.

      Without --once it follows until it is ended. A lost connection, and a server without space, is tried again for \
      --patience seconds.

      Example: cambium postgres follow orders.cambium --to postgres://orders@db/orders
      """)

  @OptionGroup var arguments: MovedStoreArguments

  @Flag(help: "End when the database has every commit that was made before.")
  var once = false

  @Option(
    help: "For how many seconds a lost connection is made again. (default: a day; with --once, 60)")
  var patience: Int?

  @Option(help: "The milliseconds between two looks at the store.")
  var pause = 50

  @Flag(help: "Write a line of JSON after each transaction, for programs.")
  var json = false

  @Flag(help: "Do not report progress.")
  var quiet = false

  func validate() throws {
    guard (1...60_000).contains(pause) else {
      throw ValidationError("A pause is 1 to 60000 milliseconds.")
    }
    guard (0...31_536_000).contains(patience ?? 0) else {
      throw ValidationError("A patience is 0 to 31536000 seconds.")
    }
  }

  func run() throws {
    let source = arguments.source
    var follow = Follow(
      try source.open(), identity: try source.inspect().identity, to: arguments.to)
    follow.patience = .seconds(patience ?? (once ? 60 : 86_400))
    follow.pause = .milliseconds(pause)
    if !quiet { follow.trouble = { Report.error("Trying again: \($0)") } }
    var shown = ContinuousClock.Instant?.none
    follow.progress = { progress in
      if json { return Report.line(progress) }
      // A line for each transaction would be several a second.
      let now = ContinuousClock.now
      if quiet || shown.map({ now - $0 < .seconds(1) }) ?? false { return }
      shown = now
      Report.error(progress.text)
    }
    let last = once ? try follow.catchUpWithWriter() : try follow.run { _ in false }
    if !json { print(last.text) }
  }
}

extension FollowProgress {
  var text: String {
    let state =
      isCaughtUp ? "all commits" : "\(storeSequence - sequence) commits behind"
    return
      "Commit \(sequence), \(state); \(changeCount) changes of \(commitCount) commits in \(transactionCount)"
      + " transactions, \(Self.seconds(lag)) s behind at the last."
  }

  private static func seconds(_ value: Double) -> String {
    let milliseconds = Int(value * 1_000)
    let rest = "\(milliseconds % 1_000)"
    return "\(milliseconds / 1_000)." + String(repeating: "0", count: 3 - rest.utf8.count) + rest
  }
}
