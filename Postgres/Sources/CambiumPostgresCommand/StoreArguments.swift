import ArgumentParser
import Cambium
import CambiumPostgres

/// The store, and the choices that a plan depends on.
struct StoreArguments: ParsableArguments {
  @Argument(help: "The store's directory.", completion: .directory)
  var store: String

  @Option(help: "The schema of the database for the tables.")
  var schema = "public"

  @Option(help: "Names of tables and columns: snake (sort_name for sortName), or exact.")
  var names = NameStyle.snake

  @Option(
    help:
      "Dates as timestamp with time zone (timestamp), rounded to microseconds, or as the stored number (double)."
  )
  var dates = DateForm.timestamp

  @Option(help: "Lists of checked references as tables (join), or as arrays (array).")
  var lists = ListForm.join

  @Option(
    help: ArgumentHelp(
      "A record that is divided over the servers, by the hash of its key, or of a field of it: Line.order. For each record.",
      valueName: "record"))
  var divide: [String] = []

  @Option(
    help: "The address of a server that has a part of each divided record. For each server.")
  var server: [String] = []

  @Flag(
    help: "Accept a directory on a network file system, where locks and flushes may be unreliable.")
  var allowNetwork = false

  func options(for version: Schema) throws -> PlanOptions {
    var options = PlanOptions()
    if !divide.isEmpty || !server.isEmpty {
      options.division = try Division(over: server, of: divide, in: version)
    }
    options.schema = schema
    options.names = names
    options.dates = dates
    options.lists = lists
    return options
  }

  private var source: StoreSource { StoreSource(path: store, allowsNetwork: allowNetwork) }

  func snapshot() throws -> StoreSnapshot { try source.snapshot() }

  func inspect() throws -> StoreInspection { try source.inspect() }
}

/// A store that was moved, and the database that it was moved into.
struct MovedStoreArguments: ParsableArguments {
  @Argument(help: "The store's directory.", completion: .directory)
  var store: String

  @Option(help: "The database, as a URL or a connection string of libpq.")
  var to: String

  @Flag(
    help: "Accept a directory on a network file system, where locks and flushes may be unreliable.")
  var allowNetwork = false

  var source: StoreSource { StoreSource(path: store, allowsNetwork: allowNetwork) }
}

/// A store that is read, also while a program writes it.
struct StoreSource {
  let path: String
  let allowsNetwork: Bool

  var options: StoreOptions {
    var options = StoreOptions()
    options.access = .reading
    options.allowsNetworkFileSystems = allowsNetwork
    return options
  }

  func snapshot() throws -> StoreSnapshot { try open().snapshot() }

  func open() throws -> PersistentStore {
    do {
      return try PersistentStore(untypedAt: path, options: options)
    } catch StoreError.unknownRecord {
      throw ValidationError("\(path) has no records: no program has put a model into it yet.")
    }
  }

  func inspect() throws -> StoreInspection {
    try PersistentStore.inspect(at: path, lastCommits: 0, options: options)
  }
}

extension NameStyle: ExpressibleByArgument {}
extension DateForm: ExpressibleByArgument {}
extension ListForm: ExpressibleByArgument {}
