import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// One record in versions that store its content differently.
private enum Docs {
  struct Inline: Record, Equatable {
    var id: Int
    var body: Data
    static func recordDescription(for version: Int) -> RecordDescription { Docs.doc(version) }
  }

  struct External: Record, Equatable {
    var id: Int
    var body: Blob
    static func recordDescription(for version: Int) -> RecordDescription { Docs.doc(version) }
  }

  struct Renamed: Record, Equatable {
    var id: Int
    var content: Blob
    var extra: Blob?
    static func recordDescription(for version: Int) -> RecordDescription { Docs.doc(version) }
  }

  struct Back: Record, Equatable {
    var id: Int
    var content: Data
    static func recordDescription(for version: Int) -> RecordDescription { Docs.doc(version) }
  }

  struct Gone: Record, Equatable {
    var id: Int
    var note: String?
    static func recordDescription(for version: Int) -> RecordDescription { Docs.doc(version) }
  }

  @RecordDescription.ResultBuilder
  static func doc(_ version: Int) -> RecordDescription {
    RecordName("Doc")
    Field(primaryKey: true, name: "id", type: .integer)
    switch version {
    case 1: Field(name: "body", type: .binaryData)
    case 2: Field(name: "body", type: .binaryData, storage: .external(threshold: 100))
    case 3:
      Field(
        name: "content", type: .binaryData,
        storage: .external(threshold: 5_000, compression: .none),
        migrationInfo: .init(renamingID: "body"))
      Field(
        name: "extra", type: .binaryData, storage: .external(deduplicated: true), optional: true)
    case 4: Field(name: "content", type: .binaryData)
    default: Field(name: "note", type: .string, optional: true)
    }
  }
}

@Suite struct BlobMigrationTests {
  private let directory: TemporaryDirectory
  private var path: String { directory.path + "/store" }
  private static let lengths = [0, 99, 100, 101, 4_000, 70_000, 300_000]

  init() throws {
    directory = try TemporaryDirectory()
  }

  private func model(_ version: Int) -> StoreModel {
    let types: [any Record.Type] = [
      Docs.Inline.self, Docs.External.self, Docs.Renamed.self, Docs.Back.self, Docs.Gone.self,
    ]
    return StoreModel(version: version, records: [types[version - 1]])
  }

  private func open(
    _ version: Int, steps: [MigrationStep] = [], _ migration: MigrationMode = .automatic
  ) throws -> PersistentStore {
    var options = StoreOptions()
    options.allowsMigrationAfterRollback = true
    return try PersistentStore(
      at: path, model: model(version), steps: steps, migration: migration, options: options)
  }

  private static func content(_ id: Int) -> Data {
    PhotoContent.bytes(lengths[id], seed: UInt64(id))
  }

  /// A store of version 2.
  private func make() throws {
    let store = try open(2)
    try store.write { transaction in
      for id in Self.lengths.indices {
        try transaction.save(Docs.External(id: id, body: Blob(Self.content(id))))
      }
    }
    try store.close()
  }

  /// The files of blobs, byte for byte.
  private func files() throws -> [String: Data] {
    var files: [String: Data] = [:]
    for name in try FileManager.default.contentsOfDirectory(atPath: path)
    where name.hasPrefix("blobs-") {
      files[name] = try Data(contentsOf: URL(filePath: path + "/" + name))
    }
    return files
  }

  @Test func `values go out of rows and come back`() throws {
    let store = try open(1)
    try store.write { transaction in
      for id in Self.lengths.indices {
        try transaction.save(Docs.Inline(id: id, body: Self.content(id)))
      }
    }
    try store.close()
    let external = try open(2)
    for id in Self.lengths.indices {
      #expect(try external.fetch(Docs.External.self, key: id)?.body.data() == Self.content(id))
    }
    #expect(try external.blobStatistics().count == 4)
    #expect(try external.faults() == [])
    try external.close()
    try open(3).close()
    let back = try open(4)
    for id in Self.lengths.indices {
      #expect(try back.fetch(Docs.Back.self, key: id)?.content == Self.content(id))
    }
    #expect(try back.faults() == [])
    // Kept states have them.
    #expect(try back.blobStatistics().count == 4)
    try back.dropKeptVersions()
    #expect(try back.blobStatistics() == BlobStatistics())
    #expect(try back.faults() == [])
    try back.close()
    #expect(try files().isEmpty)
  }

  @Test(arguments: [false, true])
  func `values that only a version on the way has outside come through`(stepwise: Bool) throws {
    let store = try open(1)
    try store.write { transaction in
      for id in Self.lengths.indices {
        try transaction.save(Docs.Inline(id: id, body: Self.content(id)))
      }
    }
    try store.close()
    var options = StoreOptions()
    options.migration.stepwise = stepwise
    let migration = try PersistentStore.migration(at: path, to: model(4), options: options)
    #expect(migration.plan.canRun, "\(migration.plan)")
    try migration.rehearse()
    try migration.run()
    let back = try open(4)
    for id in Self.lengths.indices {
      #expect(try back.fetch(Docs.Back.self, key: id)?.content == Self.content(id))
    }
    #expect(try back.faults() == [])
    try back.dropKeptVersions()
    #expect(try back.blobStatistics() == BlobStatistics())
    #expect(try back.faults() == [])
    try back.close()
    #expect(try files().isEmpty)
  }

  @Test(arguments: [MigrationMode.automatic, .deferred])
  func `what renames, adds and says otherwise how writes no blob`(_ mode: MigrationMode) throws {
    try make()
    let before = try files()
    let store = try open(3, mode)
    for id in Self.lengths.indices {
      let record = try #require(try store.fetch(Docs.Renamed.self, key: id))
      #expect(try record.content.data() == Self.content(id))
      #expect(record.extra == nil)
    }
    #expect(try files() == before)
    #expect(try store.faults() == [])
    #expect(try store.blobStatistics().count == 4)
    try store.finishMigration()
    #expect(try files() == before)
    // Written from now on as the new version says.
    try store.save(Docs.Renamed(id: 50, content: Blob(PhotoContent.bytes(4_900))))
    #expect(try store.blobStatistics().count == 4)
    #expect(try store.faults() == [])
    try store.close()
  }

  @Test func `a blob that cannot be read ends what moves it, and is no value that does not fit`()
    throws
  {
    try make()
    try open(3).close()
    let file = try #require(try files().keys.max())
    let whole = try Data(contentsOf: URL(filePath: path + "/" + file))
    var damaged = whole
    damaged[damaged.count - 3] ^= 1
    try damaged.write(to: URL(filePath: path + "/" + file))
    for mode in [MigrationMode.automatic, .deferred] {
      do {
        _ = try open(4, mode)
        Issue.record("it was migrated")
      } catch StoreError.corrupt {}
    }
    let kept = try open(3)
    #expect(try kept.fetch(Docs.Renamed.self, key: 2)?.content.data() == Self.content(2))
    try kept.close()
    try whole.write(to: URL(filePath: path + "/" + file))
    let back = try open(4)
    #expect(try back.fetch(Docs.Back.self).map(\.content) == Self.lengths.indices.map(Self.content))
    #expect(try back.faults() == [])
    try back.close()
  }

  @Test func `plan and report say that no blob is written where none is moved`() throws {
    try make()
    for version in [3, 4, 5] {
      let migration = try PersistentStore.migration(at: path, to: model(version))
      #expect(migration.plan.blobBytesToWrite == 0, "\(version)")
      #expect(!"\(migration.plan)".contains("of blobs"))
      #expect(try migration.rehearse().blobBytesWritten == 0, "\(version)")
      #expect(try migration.run().blobBytesWritten == 0, "\(version)")
    }
  }

  @Test func `plan and report say how much goes out of rows`() throws {
    let store = try open(1)
    try store.write { transaction in
      for id in Self.lengths.indices {
        try transaction.save(Docs.Inline(id: id, body: Self.content(id)))
      }
    }
    try store.close()
    // As long as the values are that are longer than the threshold, and half of that compressed.
    let length = Self.lengths.reduce(0) { $0 + ($1 > 100 ? $1 : 0) }
    for version in [2, 3, 5] {
      let plan = try PersistentStore.migration(at: path, to: model(version)).plan
      #expect(plan.blobBytesToWrite == length)
      #expect("\(plan)".contains("and \(length.byteText) of blobs"), "\(plan)")
      #expect(plan.canRun)
    }
    let migration = try PersistentStore.migration(at: path, to: model(2))
    let rehearsed = try migration.rehearse().blobBytesWritten
    #expect(rehearsed > length / 3 && rehearsed < length)
    #expect(try migration.run().blobBytesWritten == rehearsed)
    let external = try open(2)
    #expect(try external.blobStatistics().storedBytes == rehearsed)
    #expect(try external.faults() == [])
    try external.close()
  }

  @Test func `who opens a store without types counts what is due`() throws {
    try make()
    let store = try open(2)
    let (blobs, names) = (store.entities.blobs, store.backend.names)
    // As after a migration that was broken off: references may be anything.
    var counts: [BlobIdentity: UInt64] = [:]
    try store.backend.commit { trees throws(StoreError) in
      try BlobRecount.markDue(in: trees, names)
      guard let session = trees.blobSession else { return }
      let accounts = BlobAccounts(trees, blobs, session)
      try blobs.forEach(in: .transaction(trees)) { identity, entry throws(StoreError) in
        counts[identity] = entry.references
        return true
      }
      for identity in counts.keys { try accounts.retain(identity, count: 7) }
    }
    try store.close()
    let untyped = try PersistentStore(untypedAt: path)
    #expect(try untyped.blobStatistics().sharedBytes == 0)
    #expect(try untyped.faults() == [])
    #expect(try untyped.write { try $0.delete(record: "Doc", key: 6) })
    #expect(try untyped.blobStatistics().count == counts.count - 1)
    #expect(try untyped.faults() == [])
    try untyped.close()
  }

  @Test func `a field that goes takes its blobs with it, once no state is kept`() throws {
    try make()
    try open(3).close()
    try open(4).close()
    let store = try open(5)
    #expect(try store.fetch(Docs.Gone.self).count == Self.lengths.count)
    #expect(try store.blobStatistics().count == 4)
    #expect(try store.faults() == [])
    try store.dropKeptVersions(before: 3)
    #expect(try store.blobStatistics().count == 4)
    try store.dropKeptVersions()
    #expect(try store.blobStatistics() == BlobStatistics())
    try store.close()
  }

  @Test func `going back finds every blob, also where it was moved`() throws {
    try make()
    let store = try open(3)
    try store.write { transaction in
      for id in Self.lengths.indices { _ = try transaction.delete(Docs.Renamed.self, key: id) }
      try transaction.save(Docs.Renamed(id: 77, content: Blob(PhotoContent.bytes(50_000))))
    }
    try store.collectBlobs(BlobBudget(bytes: .max, garbageShare: 0))
    #expect(try store.faults() == [])
    try store.close()
    try PersistentStore.rollback(at: path, to: 2, discardingCommits: true)
    let back = try open(2)
    for id in Self.lengths.indices {
      #expect(try back.fetch(Docs.External.self, key: id)?.body.data() == Self.content(id))
    }
    #expect(try back.faults() == [])
    #expect(try back.blobStatistics().count == 4)
    try back.close()
  }

  @Test func `counting references after a migration is no commit that going back discards`() throws
  {
    let first = try open(1)
    try first.save(Docs.Inline(id: 1, body: Self.content(6)))
    try first.close()
    for _ in 0..<2 {
      try open(2).close()
      try open(2).close()
      try PersistentStore.rollback(at: path, to: 1)
    }
    let store = try open(2)
    try store.save(Docs.External(id: 2, body: Blob(Self.content(5))))
    try store.close()
    #expect(
      storeError { try PersistentStore.rollback(at: path, to: 1) } == .wouldDiscard(commits: 1))
  }

  @Test func `a closure hands blobs on, and makes some`() throws {
    try make()
    let step = MigrationStep(to: 3) {
      TransformRecords("Doc") { old, emit in
        let id = try old["id", as: Int.self]
        try emit(DynamicRecord("Doc", ["id": old["id"], "content": old["body"]]))
        try emit(
          DynamicRecord(
            "Doc",
            [
              "id": .integer(Int64(id + 100)), "content": old["body"],
              "extra": .data(PhotoContent.bytes(9_000)),
            ]))
      }
    }
    let store = try open(3, steps: [step])
    for id in Self.lengths.indices {
      let one = try #require(try store.fetch(Docs.Renamed.self, key: id))
      let two = try #require(try store.fetch(Docs.Renamed.self, key: id + 100))
      #expect(try one.content.data() == Self.content(id))
      #expect(two.content == one.content)
      #expect(try two.extra?.data() == PhotoContent.bytes(9_000))
    }
    let statistics = try store.blobStatistics()
    #expect(statistics.count == 5)
    #expect(try store.faults() == [])
    try store.close()
  }
}
