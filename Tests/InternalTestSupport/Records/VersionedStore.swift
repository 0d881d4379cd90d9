import CambiumTesting
import FoundationEssentials
import TestSupport
import Testing

@testable import Cambium

/// A store on disk with several types of records, which are described version by version and have no Swift types. Whatever
/// is tried is tried on a copy.
struct VersionedStore {
  let model: StoreModel
  private let directory: TemporaryDirectory

  /// Creates a store of version 1.
  ///
  /// - Parameters:
  ///   - types: By one of their names; a type is described for each version that has it.
  ///   - records: All records of the store.
  init(
    versions count: Int = 2, _ types: RemovedRecord..., holding records: [DynamicRecord]
  ) throws {
    try self.init(versions: count, types, holding: records)
  }

  init(versions count: Int, _ types: [RemovedRecord], holding records: [DynamicRecord]) throws {
    model = StoreModel(version: count, untyped: types)
    directory = try TemporaryDirectory()
    let store = try PersistentStore(at: original, model: model.dynamic(version: 1))
    try store.write { transaction in
      for record in records { try transaction.save(record) }
    }
    try store.close()
  }

  private var original: String { directory.path + "/original" }

  /// The path of a copy.
  func copy() throws -> String {
    let path = directory.path + "/" + UUID().uuidString
    try FileManager.default.copyItem(atPath: original, toPath: path)
    return path
  }

  func plan(to version: Int? = nil, _ steps: [MigrationStep] = []) throws -> MigrationPlan {
    try PersistentStore.migration(
      at: original, to: model.dynamic(version: version ?? model.version), steps: steps
    ).plan
  }

  /// The reasons why the store cannot be migrated.
  func faults(to version: Int? = nil, _ steps: [MigrationStep] = []) throws -> [String] {
    try plan(to: version, steps).faults.map { "\($0)" }
  }

  /// A copy of the store in the last version, or another, whose relations and indexes are checked. Its files last as long
  /// as it does, also if this value does not.
  func migrated(
    to version: Int? = nil, _ steps: [MigrationStep] = [], _ mode: MigrationMode = .automatic
  ) throws -> PersistentStore {
    var options = StoreOptions()
    // No index has this collation. The store keeps it, and so the directory, without which `close()` throws `.filesGone`.
    options.collations = [
      Collation("directory") { [directory] _ in Array(directory.path.utf8) }
    ]
    let store = try PersistentStore(
      at: try copy(), model: model.dynamic(version: version ?? model.version), steps: steps,
      migration: mode, options: options)
    try store.expectSound()
    return store
  }

  /// The error with which a migration ends; nil if it does not. The store is then as it was.
  func refusal(
    to version: Int? = nil, _ steps: [MigrationStep] = []
  ) throws -> StoreError? {
    let path = try copy()
    var refusal: StoreError?
    do throws(StoreError) {
      let store = try PersistentStore(
        at: path, model: model.dynamic(version: version ?? model.version), steps: steps)
      try store.close()
    } catch { refusal = error }
    if refusal == nil { return nil }
    let before = try PersistentStore(at: try copy(), model: model.dynamic(version: 1))
    let after = try PersistentStore(at: path, model: model.dynamic(version: 1), migration: .refuse)
    #expect(try after.allRecords() == before.allRecords())
    try after.expectSound()
    try after.close()
    try before.close()
    return refusal
  }
}

extension DynamicRecord {
  /// A record with the key `id`.
  static func of(
    _ name: String, _ id: Int64, _ fields: [String: FieldValue] = [:]
  ) -> DynamicRecord {
    DynamicRecord(
      name, RecordFields(fields.merging(["id": .integer(id)]) { one, _ in one }))
  }
}

extension PersistentStore {
  /// The records of all types.
  func allRecords() throws -> [DynamicRecord] {
    var records: [DynamicRecord] = []
    for record in schema.records { try forEach(record: record.name) { records.append($0) } }
    return records
  }

  /// Deletes the record with a key.
  func remove(_ name: String, _ key: FieldValue) throws {
    try write { transaction in _ = try transaction.delete(record: name, key: key) }
  }
}
