import FoundationEssentials
import Glibc
import TestSupport

@testable import Cambium
@testable import InternalTestSupport

/// The small stores that are changed.
enum MutatedStores {
  /// Where the sound ones are to be written as seeds of the fuzzer.
  static let seedPath = unsafe getenv("CAMBIUM_WRITE_SEEDS").map { unsafe String(cString: $0) }

  /// Stores as programs write them, and hostile ones.
  static func bases(in folder: String) throws -> [(String, StoreFiles)] {
    var bases = try sound(in: folder)
    // Those that take long to read are read once, elsewhere.
    for name in HostileStores.names
    where !["blob-of-2-gib", "schema-of-20000-fields"].contains(name) {
      bases.append((name, try HostileStores.files(name)))
    }
    return bases
  }

  static func sound(in folder: String) throws -> [(String, StoreFiles)] {
    let makers: [(String, (String) throws -> Void)] = [
      ("accounts", makeAccounts), ("photos", makePhotos), ("history", makeHistory),
      ("unfolded", makeUnfolded), ("migrated", makeMigrated), ("deferred", makeDeferred),
      ("related", makeRelated),
    ]
    return try makers.map { name, make in
      let path = "\(folder)/\(name)"
      try make(path)
      return (name, try StoreFiles(at: path))
    }
  }

  private static func makeAccounts(at path: String) throws {
    let store = try PersistentStore(at: path, model: .samples)
    try store.write { transaction in
      for account in Account.some(700) { try transaction.save(account) }
      for number in 0..<20 { try transaction.save(Seat(row: "R\(number % 3)", number: number)) }
      try transaction.save(Note(key: "long", text: PhotoContent.text(30_000)))
      try transaction.save(Note(key: "in parts", text: PhotoContent.text(300_000)))
    }
    try store.write { transaction in
      try transaction.setMetadata(["a": 1], for: "meta")
      for id in 0..<50 { _ = try transaction.delete(Account.self, key: id * 3) }
    }
    try store.close()
  }

  private static func makePhotos(at path: String) throws {
    let store = try PersistentStore(at: path, model: Photo.model)
    for id in 1...8 { try store.save(Photo(id, image: id * 700, preview: id % 3 * 90, notes: 250)) }
    try store.close()
  }

  private static func makeHistory(at path: String) throws {
    var options = StoreOptions()
    options.history = .keptCommits(20)
    let store = try PersistentStore(at: path, model: .samples, options: options)
    for id in 0..<30 { try store.save(Note(key: "\(id % 9)", text: PhotoContent.text(id * 20))) }
    try store.close()
  }

  /// One that was not closed: its commits are in the log alone.
  private static func makeUnfolded(at path: String) throws {
    let store = try PersistentStore(at: path + ".open", model: .samples)
    for account in Account.some(20) { try store.save(account) }
    try store.save(Note(key: "a", text: "b"))
    try StoreFiles(at: path + ".open").write(to: path)
    try store.close()
  }

  /// One whose records lead to each other.
  private static func makeRelated(at path: String) throws {
    let store = try PersistentStore(at: path, model: StoreModel(records: [Folder.self]))
    try store.write { transaction in
      for id in 0..<60 {
        try transaction.save(
          Folder(
            id: id, parent: id == 0 ? nil : Reference(id / 3),
            links: [Reference(id * 7 % 60), Reference((id * 7 + 1) % 60)]))
      }
    }
    try store.close()
  }

  /// One that keeps the state that it had before a migration.
  private static func makeMigrated(at path: String) throws { try migrate(at: path, .automatic) }

  /// One whose rows are of the older version.
  private static func makeDeferred(at path: String) throws { try migrate(at: path, .deferred) }

  private static func migrate(at path: String, _ migration: MigrationMode) throws {
    for version in 1...2 {
      let record = version == 1 ? Moved.First.self : Moved.Second.self as any Record.Type
      let store = try PersistentStore(
        at: path, model: StoreModel(version: version, records: [record]), migration: migration)
      for id in 0..<40 where version == 1 {
        try store.save(Moved.First(id: id, title: "\(id % 7)", size: Int32(id)))
      }
      try store.close()
    }
  }
}

/// A record that is deleted with the one above it, and leads to others.
private struct Folder: Record, Identifiable {
  var id: Int
  var parent: Reference<Folder>?
  var links: [Reference<Folder>]

  static let folders = Inverse("folders", of: \Folder.parent, deleteRule: .cascade)

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "parent", type: .reference(to: Folder.self), optional: true)
    Field(name: "links", type: .references(to: Folder.self, count: 0...2))
    folders
  }
}

/// A record in two versions.
private enum Moved {
  struct First: Record {
    var id: Int
    var title: String
    var size: Int32
    static func recordDescription(for version: Int) -> RecordDescription { Moved.thing(version) }
  }

  struct Second: Record {
    var id: Int
    var name: String
    var size: Int
    static func recordDescription(for version: Int) -> RecordDescription { Moved.thing(version) }
  }

  @RecordDescription.ResultBuilder
  static func thing(_ version: Int) -> RecordDescription {
    RecordName("Thing")
    Field(primaryKey: true, name: "id", type: .integer)
    if version == 1 {
      Field(name: "title", type: .string, indexed: true)
      Field(name: "size", type: .int32)
    } else {
      Field(name: "name", type: .string, indexed: true, migrationInfo: .init(renamingID: "title"))
      Field(name: "size", type: .integer)
    }
  }
}
