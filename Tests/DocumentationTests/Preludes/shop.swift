/// The prelude of articles: a store of items and its model.
struct Item: Record, Codable {
  var id = UUID()
  var name: String
  var price: Double
  var stock = 0
  var tags: [String] = []
  var addedOn = Date()

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .uuid)
    Field(name: "name", type: .string, indexed: true)
    Field(name: "price", type: .double, indexed: true)
    Field(name: "stock", type: .integer)
    Field(name: "tags", type: .array(of: .string))
    Field(name: "addedOn", type: .date)
  }
}

static let model = StoreModel(version: 2, records: [Item.self])
static let steps: [MigrationStep] = []
static var store: PersistentStore {
  get throws { try PersistentStore(at: "shop.cambium", model: model) }
}
