/// The versions that the examples of the article for users of CoreStore use.
enum V1 {
  struct Item: CoreStoreObject, Identifiable {
    var id = UUID()
    var name: String?
    static let master = Inverse("master", of: \Laundry.items)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "name", type: .string, optional: true)
      master
    }
  }

  struct Laundry: CoreStoreObject, Identifiable {
    var id = UUID()
    var name: String?
    var favorite = false
    var items: [Reference<Item>] = []

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "name", type: .string, optional: true)
      Field(name: "favorite", type: .boolean)
      Field(name: "items", type: .references(to: Item.self), unique: true)
    }
  }
}

enum V2 {
  struct Laundry: CoreStoreObject, Identifiable {
    var id = UUID()
    var title = ""
    var favorite = false
    var items: [Reference<Item>] = []

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "title", type: .string)
      Field(name: "favorite", type: .boolean)
      Field(name: "items", type: .references(to: Item.self), unique: true)
    }
  }

  struct Item: CoreStoreObject, Identifiable {
    var id = UUID()
    var name: String?
    static let master = Inverse("master", of: \Laundry.items)

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "name", type: .string, optional: true)
      master
    }
  }
}

static let dataStack = DataStack(
  CoreStoreSchema(
    modelVersion: "V1", entities: [Entity<V1.Laundry>("Laundry"), Entity<V1.Item>("Item")]),
  CoreStoreSchema(
    modelVersion: "V2", entities: [Entity<V2.Laundry>("Laundry"), Entity<V2.Item>("Item")]),
  migrationChain: ["V1", "V2"])
