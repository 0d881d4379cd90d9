import ArgumentParser
import Cambium
import CambiumPostgres

struct FinishCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "finish",
    abstract: "Fences the store, and makes the database the place of its records.",
    discussion: """
      It applies the commits that the database does not have yet, fences the store, so that every later write and opening for \
      writing is refused with an error that says where the records are, applies the rest, and compares all records. Then it \
      adds the foreign keys, and says that programs may use the database.

      A store that a program has open for writing cannot be fenced from here: it follows until that program ends, for as long as \
      --wait says; or the program fences it, by store.fence(movedTo:). End "follow" first.

      The status is 10 if records differ: then nothing uses the database, and "back-out" removes the fence.

      Example: cambium postgres finish orders.cambium --to postgres://orders@db/orders
      """)

  @OptionGroup var arguments: MovedStoreArguments

  @Option(help: "For how many seconds to wait for the program that has the store open.")
  var wait = 60

  @Flag(help: "Write JSON, for programs.")
  var json = false

  func validate() throws {
    guard (0...86_400).contains(wait) else {
      throw ValidationError("A wait is 0 to 86400 seconds.")
    }
  }

  func run() throws {
    let source = arguments.source
    var finish = Finish(source.path, options: source.options, to: arguments.to)
    finish.wait = .seconds(wait)
    let clock = ContinuousClock()
    var fenced = clock.now
    finish.progress = { progress in
      switch progress {
      case .waiting(let process):
        Report.error(
          "Waiting for process \(process.map { "\($0)" } ?? "?"), which has the store open.")
      case .fenced:
        fenced = clock.now
        Report.error("The store is fenced.")
      case .applied(let last): Report.error("The database has the last commit, \(last.sequence).")
      case .ended: Report.error("Nothing was written for \(clock.now - fenced).")
      }
    }
    guard let found = try Report.differences(json: json, finish.run) else {
      if json { return Report.line(["wasFinishedBefore": true]) }
      return print("It was finished before: programs use the database.")
    }
    if json { return Report.line(found) }
    print(
      "Finished at commit \(found.sequence): \(found.recordCount) records compared, none differ."
        + " Programs may use the database now.")
  }
}
