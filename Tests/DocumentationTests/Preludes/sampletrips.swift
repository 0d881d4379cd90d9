/// The versions that the examples of the article for users of SwiftData use.
enum SchemaV1: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(1, 0, 0) }
  static var models: [any PersistentModel.Type] { [Trip.self, BucketListItem.self] }

  struct Trip: DeclaredModel {
    typealias BucketListItem = Reference<SchemaV1.BucketListItem>
    typealias Transient = TransientProperty
    var id = UUID()
    var name = ""

    // swift-format-ignore: AlwaysUseLowerCamelCase
    @Attribute var start_date: Date

    @Relationship(.cascade)
    var bucketList: [BucketListItem]? = []

    @Transient
    var views: Int = 0

    init() {}
  }

  struct BucketListItem: PersistentModel, Identifiable {
    var id = UUID()
    var title: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "title", type: .string)
    }
  }
}

enum SchemaV2: VersionedSchema {
  static var versionIdentifier: Schema.Version { Schema.Version(2, 0, 0) }
  static var models: [any PersistentModel.Type] { [Trip.self, SchemaV1.BucketListItem.self] }

  struct Trip: PersistentModel, Identifiable {
    var id = UUID()
    var name: String
    var startDate: Date
    var bucketList: [Reference<SchemaV1.BucketListItem>] = []

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "name", type: .string, unique: true)
      Field(name: "startDate", type: .date, migrationInfo: .init(renamingID: "start_date"))
      Field(
        name: "bucketList",
        type: .references(to: SchemaV1.BucketListItem.self, deleteRule: .cascade))
    }
  }
}

typealias Trip = SchemaV2.Trip

enum TripsMigrationPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [SchemaV1.self, SchemaV2.self] }
  static var stages: [MigrationStage] { [] }
}

static var container: ModelContainer {
  get throws { try ModelContainer(for: Trip.self, migrationPlan: TripsMigrationPlan.self) }
}
