import Cambium
import FoundationEssentials

/// The order of version 1, to make a store as the service of last year left it.
struct FirstOrder: Record {
  var id = UUID()
  var customer: String
  var total: Int32

  static func recordDescription(for version: Int) -> RecordDescription {
    RecordName("Order")
    Field("id", primaryKey: true)
    Field("customer")
    Field("total")
  }

  /// Makes a store of version 1 with some orders.
  static func seed(_ count: Int, at path: String) throws {
    let store = try PersistentStore(at: path, model: StoreModel(records: [FirstOrder.self]))
    try store.write { transaction in
      for number in 0..<count {
        try transaction.save(
          FirstOrder(customer: "customer \(number % 1000)", total: Int32(number % 10_000)))
      }
    }
    try store.close()
  }
}
