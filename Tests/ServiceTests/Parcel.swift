#if Service
  import Cambium
  import CambiumService
  import CoreMetrics
  import TestSupport

  /// A record of two versions: the second can be reached while the store is used.
  struct Parcel: Record, Identifiable {
    var id: Int
    var address = ""
    var weight = 1

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "address", type: .string, indexed: version >= 2)
      if version >= 2 {
        Field(name: "weight", type: .integer, migrationInfo: .init(default: 1))
      }
    }

    static func model(_ version: Int) -> StoreModel {
      StoreModel(version: version, records: [Parcel.self])
    }

    /// The first version has no weight.
    struct First: Record {
      var id: Int
      var address = ""

      static func recordDescription(for version: Int) -> RecordDescription {
        RecordName("Parcel")
        Field(primaryKey: true, name: "id", type: .integer)
        Field(name: "address", type: .string)
      }
    }

    /// Makes a store of version 1.
    static func seed(at path: String, count: Int) throws {
      let store = try PersistentStore(at: path, model: StoreModel(records: [First.self]))
      try store.write { transaction in
        for id in 0..<count { try transaction.insert(First(id: id, address: "\(id)")) }
      }
      try store.close()
    }
  }

  /// True if `condition` comes true in time. Suspends meanwhile.
  func comesTrue(
    within limit: Duration = .seconds(600), _ condition: () throws -> Bool
  ) async rethrows -> Bool {
    let deadline = ContinuousClock.now + limit
    while try !condition() {
      if ContinuousClock.now >= deadline { return false }
      try? await Task.sleep(for: .milliseconds(1))
    }
    return true
  }
#endif
