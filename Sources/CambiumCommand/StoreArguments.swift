import ArgumentParser
import Cambium

/// The arguments of most commands: the store, and the form of the answer.
struct StoreArguments: ParsableArguments {
  @Argument(help: "The store's directory.", completion: .directory)
  var store: String

  @Flag(help: "Write JSON, for programs.")
  var json = false

  @Flag(
    help: "Accept a directory on a network file system, where locks and flushes may be unreliable.")
  var allowNetwork = false

  /// The options for stores that may be damaged: every page is verified each time it is read.
  var reading: StoreOptions {
    var options = StoreOptions()
    options.access = .reading
    options.readMode = .buffered(cacheSize: 64 << 20)
    options.allowsNetworkFileSystems = allowNetwork
    return options
  }

  var writing: StoreOptions {
    var options = reading
    options.access = .writingExisting
    return options
  }

  /// Opens the store with the schema that it has.
  ///
  /// - Throws: `CommandFailure` if it has none; errors of opening it.
  func open(_ options: StoreOptions) throws -> PersistentStore {
    do {
      return try PersistentStore(untypedAt: store, options: options)
    } catch StoreError.unknownRecord {
      throw CommandFailure(
        .notFound, "\(store) has no records: no program has put a model into it yet.")
    }
  }

  func snapshot() throws -> StoreSnapshot { try open(reading).snapshot() }

  /// Opens the store for writing. If it keeps a history, commits are added to it as the last one was, and none is removed.
  ///
  /// - Throws: as `open`.
  func openKeepingHistory() throws -> PersistentStore {
    var options = writing
    if let extent = try snapshot().historyExtent {
      options.history = HistoryOptions(keepsOldValues: extent.oldValuesStart != nil)
    }
    return try open(options)
  }
}

extension Schema {
  /// - Throws: `CommandFailure` if there is no such type, with the names of all types.
  func type(named name: String) throws -> RecordSchema {
    if let record = record(named: name) { return record }
    throw CommandFailure.unknown(
      "type", name, in: "Version \(version)", known: records.map(\.name).sorted())
  }
}

/// The arguments for the version to which a store is migrated.
struct SchemaArguments: ParsableArguments {
  @Option(help: "The schema file, which SchemaLock.write makes.", completion: .file())
  var schema: String

  @Option(help: "The version to migrate to. (default: the newest in the schema file)")
  var to: Int?

  @Option(
    help: "A file of steps in JSON, for values that do not follow from the schema file.",
    completion: .file())
  var steps: String?

  @Flag(
    help:
      "Migrate the store again, even though it was rolled back from this version or a later one.")
  var afterRollback = false

  func migration(for store: StoreArguments) throws -> Migration {
    let file = try SchemaLock(contentsOf: schema)
    guard let version = to ?? file.versions.last?.number, file.contains(version: version) else {
      let known = file.versions.map { "\($0.number)" }.joined(separator: ", ")
      let wanted = to.map { " \($0)" } ?? ""
      throw CommandFailure(
        .notFound,
        "\(schema) has no version\(wanted)\(known.isEmpty ? "" : "; it has \(known)").")
    }
    let known = try PersistentStore.inspect(at: store.store, lastCommits: 0, options: store.reading)
    // Also the versions before that only the store has.
    var versions = file.completed(by: SchemaLock(known.schemas))
    // A file of steps has all of those that the lock does not name.
    if steps != nil { versions = versions.withoutOtherSteps() }
    // Steps to versions above the one wanted are read as well, and not taken.
    let steps = try steps.map { try StoreModel(versions).steps(contentsOf: $0) } ?? []
    var options = store.writing
    options.allowsMigrationAfterRollback = afterRollback
    return try PersistentStore.migration(
      at: store.store, to: try StoreModel(versions.filter { $0.number <= version }),
      steps: steps.filter { $0.to <= version }, options: options)
  }
}
