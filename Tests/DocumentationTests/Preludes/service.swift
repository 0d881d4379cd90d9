/// The prelude of the article about services: the model of a shop.
struct Item: Record {
  var id = UUID()
  var name: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .uuid)
    Field(name: "name", type: .string, indexed: true)
  }
}

static let model = StoreModel(records: [Item.self])
