/// The prelude of articles: a store of items and its model.
struct Item: Record, Codable {
  var id = UUID()
  var name: String
  var price: Double
  var stock = 0
  var tags: [String] = []
  var addedOn = Date()

  static func recordDescription(for version: Int) -> RecordDescription {
    Field("id", primaryKey: true)
    Field("name", indexed: true)
    Field("price", indexed: true)
    Field("stock")
    Field("tags")
    Field("addedOn")
  }
}

static let model = StoreModel(version: 2, records: [Item.self])
static let steps: [MigrationStep] = []
static var store: PersistentStore {
  get throws { try PersistentStore(at: "shop.cambium", model: model) }
}
