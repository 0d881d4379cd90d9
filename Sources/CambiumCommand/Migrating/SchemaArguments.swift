import ArgumentParser
import Cambium

/// What a store is to become.
struct SchemaArguments: ParsableArguments {
  @Option(help: "The schema file, as SchemaLock.write makes it.", completion: .file())
  var schema: String

  @Option(help: "The version to migrate to; the newest of the file without it.")
  var to: Int?

  /// The file's versions up to the one wanted, and those before it that only the store has.
  func model(for store: StoreArguments) throws -> StoreModel {
    let file = try SchemaLock(contentsOf: schema)
    guard let version = to ?? file.versions.last?.number, file.contains(version: version) else {
      throw CommandFailure(
        .notFound, to.map { "\(schema) has no version \($0)." } ?? "\(schema) has no version.")
    }
    let known = try PersistentStore.inspect(at: store.store, lastCommits: 0, options: store.reading)
    let stored = SchemaLock(known.schemas)
    return try StoreModel(file.completed(by: stored).filter { $0.number <= version })
  }

  func migration(for store: StoreArguments) throws -> Migration {
    try PersistentStore.migration(
      at: store.store, to: try model(for: store), options: store.writing)
  }
}
