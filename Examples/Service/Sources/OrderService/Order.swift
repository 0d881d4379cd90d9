import Cambium
import FoundationEssentials

/// What a customer has ordered.
///
/// Version 1 had no state and counted in 32 bits. What version 2 changes cannot fail, so that a store of version 1 is
/// opened at once, and its rows are made new while the service runs.
struct Order: Record, Identifiable, Codable {
  enum State: String, Codable, RecordStringEnum {
    case open, paid, sent
  }

  var id = UUID()
  var customer: String
  var cents: Int
  var state = State.open

  static func recordDescription(for version: Int) -> RecordDescription {
    Field("id", primaryKey: true)
    Field("customer", indexed: version >= 2)
    if version < 2 {
      Field("total", type: .int32, property: "cents")
    } else {
      Field("cents", migrationInfo: .init(renamingID: "total"))
      Field("state", migrationInfo: .init(default: "open"))
    }
  }

  static let model = StoreModel(version: 2, records: [Order.self])
}
