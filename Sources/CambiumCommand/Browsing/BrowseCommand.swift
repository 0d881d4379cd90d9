import ArgumentParser
import Cambium

struct BrowseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "browse", abstract: "Shows a store as pages in a browser.",
    discussion: """
      It prints an address on this computer, with a secret in it, and serves pages there until Ctrl-C: records by type, with \
      conditions, sections and the records that are related to them; blobs as pictures or texts; versions side by side; the \
      map of the files; the history; and with --schema the plan of a migration. The store is only read. A program may write \
      it meanwhile, and each page shows the newest commit.

      The pages are a program of their own, cambium-browse, which is looked for beside this command and then in PATH. \
      Scripts/program Browser cambium-browse builds it, and prints where it is.

      Example: cambium browse orders.cambium --schema Schema.lock
      """)

  @Argument(help: "The store's directory.", completion: .directory)
  var store: String

  @Option(help: "The port; 0 for any that is free.")
  var port = 0

  @Option(help: "A schema file, to show the plan of a migration.", completion: .file())
  var schema: String?

  @Option(help: "A file of steps in JSON, for the plan.", completion: .file())
  var steps: String?

  @Flag(
    help: "Accept a directory on a network file system, where locks and flushes may be unreliable.")
  var allowNetwork = false

  private static let program = "cambium-browse"

  func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("A port is 0 to 65535.") }
    if steps != nil, schema == nil { throw ValidationError("--steps goes with --schema.") }
  }

  func run() throws {
    var arguments = ["--port", "\(port)"]
    if let schema { arguments += ["--schema", schema] }
    if let steps { arguments += ["--steps", steps] }
    if allowNetwork { arguments.append("--allow-network") }
    let error = Companion.execute(Self.program, arguments + ["--", store])
    guard error == .noSuchFile else {
      throw CommandFailure(.inputOutput, "Cannot run \(Self.program): \(error).")
    }
    throw CommandFailure(
      .notFound,
      "The program \(Self.program) is neither beside this command nor in PATH. Build it with"
        + " \"Scripts/program Browser \(Self.program)\", and copy it there.")
  }
}
