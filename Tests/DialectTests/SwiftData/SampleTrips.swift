import Cambium
import CambiumSwiftData
import FoundationEssentials

// “스키마 개선하기”: three versions, the plan and the container, line by line.

// 각각의 모델을 VersionedSchema로 캡슐화
enum SampleTripsSchemaV1: VersionedSchema {
  static var models: [any PersistentModel.Type] {
    [Trip.self, BucketListItem.self, LivingAccommodation.self]
  }

  // @Model
  // final class Trip {
  struct Trip: PersistentModel, Identifiable {
    var id = UUID()
    var name: String
    var destination: String
    // swift-format-ignore: AlwaysUseLowerCamelCase
    var start_date: Date
    // swift-format-ignore: AlwaysUseLowerCamelCase
    var end_date: Date

    var bucketList: [Reference<BucketListItem>] = []  // [BucketListItem]? = []
    var livingAccommodation: Reference<LivingAccommodation>?  // LivingAccommodation?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "name", type: .string)
      Field(name: "destination", type: .string)
      Field(name: "start_date", type: .date)
      Field(name: "end_date", type: .date)
      Field(name: "bucketList", type: .references(to: BucketListItem.self))
      Field(
        name: "livingAccommodation", type: .reference(to: LivingAccommodation.self), optional: true)
    }
  }

  // Define the other models in this version...
  typealias BucketListItem = TripsV1.BucketListItem
  typealias LivingAccommodation = TripsV1.LivingAccommodation
}

enum SampleTripsSchemaV2: VersionedSchema {
  static var models: [any PersistentModel.Type] {
    [Trip.self, BucketListItem.self, LivingAccommodation.self]
  }

  struct Trip: PersistentModel, Identifiable {
    var id = UUID()
    var name: String  // @Attribute(.unique): in the description
    var destination: String
    // swift-format-ignore: AlwaysUseLowerCamelCase
    var start_date: Date
    // swift-format-ignore: AlwaysUseLowerCamelCase
    var end_date: Date

    var bucketList: [Reference<BucketListItem>] = []
    var livingAccommodation: Reference<LivingAccommodation>?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "name", type: .string, unique: true)  // @Attribute(.unique) var name: String
      Field(name: "destination", type: .string)
      Field(name: "start_date", type: .date)
      Field(name: "end_date", type: .date)
      Field(name: "bucketList", type: .references(to: BucketListItem.self))
      Field(
        name: "livingAccommodation", type: .reference(to: LivingAccommodation.self), optional: true)
    }
  }

  // Define the other models in this version...
  typealias BucketListItem = TripsV1.BucketListItem
  typealias LivingAccommodation = TripsV1.LivingAccommodation
}

enum SampleTripsSchemaV3: VersionedSchema {
  static var models: [any PersistentModel.Type] {
    [Trip.self, BucketListItem.self, LivingAccommodation.self]
  }

  struct Trip: PersistentModel, Identifiable {
    var id = UUID()
    var name: String
    var destination: String
    var startDate: Date  // @Attribute(originalName: "start_date"): in the description
    var endDate: Date  // @Attribute(originalName: "end_date")

    var bucketList: [Reference<BucketListItem>] = []
    var livingAccommodation: Reference<LivingAccommodation>?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "name", type: .string, unique: true)
      Field(name: "destination", type: .string)
      Field(name: "startDate", type: .date, migrationInfo: .init(renamingID: "start_date"))
      Field(name: "endDate", type: .date, migrationInfo: .init(renamingID: "end_date"))
      Field(name: "bucketList", type: .references(to: BucketListItem.self))
      Field(
        name: "livingAccommodation", type: .reference(to: LivingAccommodation.self), optional: true)
    }
  }

  // Define the other models in this version...
  typealias BucketListItem = TripsV1.BucketListItem
  typealias LivingAccommodation = TripsV1.LivingAccommodation
}

// 마이그레이션 플랜 사용
enum SampleTripsMigrationPlan: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] {
    [SampleTripsSchemaV1.self, SampleTripsSchemaV2.self, SampleTripsSchemaV3.self]
  }

  static var stages: [MigrationStage] {
    [migrateV1toV2, migrateV2toV3]
  }

  static let migrateV1toV2 = MigrationStage.custom(
    fromVersion: SampleTripsSchemaV1.self,
    toVersion: SampleTripsSchemaV2.self,
    willMigrate: { context in
      // `try?` would hide what keeps the migration from being right: here it fails, and nothing has changed.
      let trips = try context.fetch(FetchDescriptor<SampleTripsSchemaV1.Trip>())

      // De-duplicate Trip instances here...
      var names: Set<String> = []
      for trip in trips where !names.insert(trip.name).inserted { try context.delete(trip) }

      try context.save()  // nothing is left to do: it is committed with the migration
    }, didMigrate: nil
  )

  static let migrateV2toV3 = MigrationStage.lightweight(
    fromVersion: SampleTripsSchemaV2.self,
    toVersion: SampleTripsSchemaV3.self
  )
}

// 앱 환경에 설정
struct TripsApp {  // : App — there is no user interface
  typealias Trip = SampleTripsSchemaV3.Trip

  let container: ModelContainer

  init(at url: URL) throws {
    container = try ModelContainer(
      for: Trip.self,
      migrationPlan: SampleTripsMigrationPlan.self,
      configurations: ModelConfiguration(url: url)  // theirs is in the app's own directory
    )
  }
}
