import CambiumTesting
import TestSupport
import Testing

@testable import Cambium
@testable import InternalTestSupport

/// Migrations that would need more trees than a footer can name.
@Suite struct TreeCountTests {
  /// Of each record the rows are copied to be widened, so that a migration has twice as many trees as the store.
  private static let count = 3_600

  private static func model(_ version: Int) -> StoreModel {
    StoreModel(
      version: version,
      untyped: (0..<count).map { number in
        RemovedRecord("R\(number)") { version in
          Field(primaryKey: true, name: "id", type: .integer)
          Field(name: "size", type: version == 1 ? .int32 : .int64)
        }
      })
  }

  private static func record(_ number: Int, id: Int64) -> DynamicRecord {
    DynamicRecord("R\(number)", ["id": .integer(id), "size": 7])
  }

  @Test func `a migration that makes more trees than a footer names leaves the store as it was`()
    throws
  {
    let image = StoreImage()
    var store = try image.open(Self.model(1))
    try store.write { transaction in
      for number in 0..<Self.count { try transaction.save(Self.record(number, id: 1)) }
    }
    try store.close()
    #expect(throws: StoreError.self) { _ = try image.open(Self.model(2)) }
    // The program of the old version opens the store, writes, folds and closes it.
    store = try image.open(Self.model(1))
    try store.write { transaction in try transaction.save(Self.record(0, id: 2)) }
    #expect(try store.count(record: "R0") == 2)
    #expect(try store.count(record: "R\(Self.count - 1)") == 1)
    try store.expectSound()
    try store.close()
    store = try image.open(Self.model(1))
    #expect(try store.count(record: "R0") == 2)
    try store.close()
  }
}
