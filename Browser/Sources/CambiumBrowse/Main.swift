import ArgumentParser
import CambiumBrowser

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// `cambium-browse`: the pages of a store on this computer. `cambium browse` runs it.
@main
struct BrowseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cambium-browse",
    abstract: "Shows a store as pages in a browser.",
    discussion: """
      It prints an address on this computer, with a secret in it, and serves pages there until Ctrl-C. The store is only \
      read, and a program may write it meanwhile.
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

  func validate() throws {
    guard (0...65_535).contains(port) else { throw ValidationError("A port is 0 to 65535.") }
    if steps != nil, schema == nil { throw ValidationError("--steps goes with --schema.") }
  }

  func run() async throws {
    let token = BrowserToken.random()
    let browser = Browser(
      store: store, token: token, schema: schema.map { SchemaFiles(schema: $0, steps: steps) },
      allowsNetworkFileSystems: allowNetwork)
    try await BrowserServer(browser: browser, port: port) { port in
      // Programs read the address from the first line.
      print("http://127.0.0.1:\(port)/\(token)/")
      print("Read-only. End with Ctrl-C.")
      fflush(nil)
    }.run()
  }
}
