import ArgumentParser
import Cambium
import CambiumPostgres
import FoundationEssentials

struct VerifyCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "verify", abstract: "Compares the store's records with those in the database.",
    discussion: """
      Ranges of records are hashed, by this program and by the server, and those with different hashes are compared record by \
      record. The status is 10 if there are differences.

      Example: cambium postgres verify orders.cambium --to postgres://orders@db/orders
      """)

  @Argument(help: "The store's directory.", completion: .directory)
  var store: String

  @Option(help: "The database, as a URL or a connection string of libpq.")
  var to: String

  @Option(help: "The number of differences to list.")
  var limit = 20

  @Flag(help: "Write JSON, for programs.")
  var json = false

  @Flag(
    help: "Accept a directory on a network file system, where locks and flushes may be unreliable.")
  var allowNetwork = false

  func run() throws {
    let source = StoreSource(path: store, allowsNetwork: allowNetwork)
    let found = try Verification(
      of: try source.snapshot(), identity: try source.inspect().identity, in: to, listing: limit)
    if json {
      let encoder = JSONEncoder()
      encoder.outputFormatting = [.sortedKeys, .prettyPrinted, .withoutEscapingSlashes]
      print(String(decoding: try encoder.encode(found), as: UTF8.self))
    } else {
      write(found)
    }
    if !found.isSame { throw ExitCode(10) }
  }

  private func write(_ found: Verification) {
    for range in found.ranges {
      let place = range.first.map { "from \($0) to \(range.last ?? $0)" } ?? "without records"
      print("\(range.record) \(place): \(range.differenceCount) differ")
    }
    for difference in found.differences {
      print("  \(difference.record) \(difference.key): \(difference.kind.rawValue)")
    }
    if found.sequence != found.movedSequence {
      print("Moved was commit \(found.movedSequence); the store has commit \(found.sequence).")
    }
    print("\(found.recordCount) records compared, \(found.differenceCount) differ.")
  }
}
