import Glibc
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// A price that becomes a number.
enum Priced {
  enum V1 {
    struct Item: Record {
      var id: Int
      var price: String
      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "price", type: .string)
      }
    }
  }

  enum V2 {
    struct Item: Record {
      var id: Int
      var price: Int
      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "price", type: version < 2 ? .string : .integer)
      }
    }
  }

  static let first = StoreModel(version: 1, records: [V1.Item.self])
  static let second = StoreModel(version: 2, records: [V2.Item.self])

  /// Makes a store of the first version.
  static func make(at path: String, count: Int) throws {
    let store = try PersistentStore(at: path, model: first)
    try store.write { transaction in
      for id in 0..<count { try transaction.insert(V1.Item(id: id, price: "\(id)")) }
    }
    try store.close()
  }
}

@Suite struct MigrationCancellingTests {
  @Test func `a run that was cancelled does not end the next one of the same migration`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    try Priced.make(at: path, count: 400)
    let box = Guarded<Migration?>(nil)
    let steps = [
      MigrationStep(to: 2) {
        UpdateRecord("Item") {
          UpdateField(
            "price",
            by: { _ in
              box.withLock { $0 }?.cancel()
              return 1
            })
        }
      }
    ]
    var options = StoreOptions()
    options.migration.sliceCount = 10
    let migration = try PersistentStore.migration(
      at: path, to: Priced.second, steps: steps, options: options)
    box.withLock { $0 = migration }
    let error = storeError { try migration.run() }
    #expect(error == .migrationCancelled(from: 1, to: 2), "\(String(describing: error))")
    box.withLock { $0 = nil }
    // While none is under way there is nothing to cancel.
    migration.cancel()
    try migration.rehearse()
    #expect(try migration.run().to == 2)
    try PersistentStore(at: path, model: Priced.second).close()
  }

  @Test(.timeLimit(.minutes(60)))
  func `a run ends when its task is cancelled, and the next resumes`() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path + "/store"
    try Priced.make(at: path, count: 400)
    let (begins, mayCancel) = (Guarded(false), Guarded(true))
    let step = MigrationStep(to: 2) {
      UpdateRecord("Item") {
        UpdateField(
          "price",
          by: { old in
            begins.withLock { $0 = true }
            while mayCancel.withLock({ $0 }) { usleep(100) }
            return Int(try old.as(String.self) ?? "") ?? 0
          })
      }
    }
    var options = StoreOptions()
    options.migration.sliceCount = 10
    let migration = try await PersistentStore.migration(
      at: path, to: Priced.second, steps: [step], options: options)
    let task = Task { try await migration.run() }
    while !begins.withLock({ $0 }) { try await Task.sleep(for: .milliseconds(1)) }
    task.cancel()
    mayCancel.withLock { $0 = false }
    await #expect(throws: StoreError.migrationCancelled(from: 1, to: 2)) {
      _ = try await task.value
    }
    #expect(try await migration.run().to == 2)
    let store = try await PersistentStore(at: path, model: Priced.second)
    #expect(try store.count(Priced.V2.Item.self) == 400)
    try await store.close()
  }
}
