// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Cambium
import CambiumSwiftData
import FoundationEssentials

// “스키마 개선하기”: three versions, the plan and the container.

// Theirs:
// | // 각각의 모델을 VersionedSchema로 캡슐화
// | enum SampleTripsSchemaV1: VersionedSchema {
// |     static var models: [any PersistentModel.Type] {
// |         [Trip.self, BucketListItem.self, LivingAccommodation.self]
// |     }
// |
// |     @Model
// |     final class Trip {
// |         var name: String
// |         var destination: String
// |         var start_date: Date
// |         var end_date: Date
// |
// |         var bucketList: [BucketListItem]? = []
// |         var livingAccommodation: LivingAccommodation?
// |     }
// |
// |     // Define the other models in this version...
// | }
// |
// | enum SampleTripsSchemaV2: VersionedSchema {
// |     static var models: [any PersistentModel.Type] {
// |         [Trip.self, BucketListItem.self, LivingAccommodation.self]
// |     }
// |
// |     @Model
// |     final class Trip {
// |         @Attribute(.unique) var name: String
// |         var destination: String
// |         var start_date: Date
// |         var end_date: Date
// |
// |         var bucketList: [BucketListItem]? = []
// |         var livingAccommodation: LivingAccommodation?
// |     }
// |
// |     // Define the other models in this version...
// | }
// |
// | enum SampleTripsSchemaV3: VersionedSchema {
// |     static var models: [any PersistentModel.Type] {
// |         [Trip.self, BucketListItem.self, LivingAccommodation.self]
// |     }
// |
// |     @Model
// |     final class Trip {
// |         @Attribute(.unique) var name: String
// |         var destination: String
// |         @Attribute(originalName: "start_date") var startDate: Date
// |         @Attribute(originalName: "end_date") var endDate: Date
// |
// |         var bucketList: [BucketListItem]? = []
// |         var livingAccommodation: LivingAccommodation?
// |     }
// |
// |     // Define the other models in this version...
// | }
// |
// | // 마이그레이션 플랜 사용
// | enum SampleTripsMigrationPlan: SchemaMigrationPlan {
// |     static var schemas: [any VersionedSchema.Type] {
// |         [SampleTripsSchemaV1.self, SampleTripsSchemaV2.self, SampleTripsSchemaV3.self]
// |     }
// |
// |     static var stages: [MigrationStage] {
// |         [migrateV1toV2, migrateV2toV3]
// |     }
// |
// |     static let migrateV1toV2 = MigrationStage.custom(
// |         fromVersion: SampleTripsSchemaV1.self,
// |         toVersion: SampleTripsSchemaV2.self,
// |         willMigrate: { context in
// |             let trips = try? context.fetch(FetchDescriptor<SampleTripsSchemaV1.Trip>())
// |
// |             // De-duplicate Trip instances here...
// |
// |             try? context.save()
// |         }, didMigrate: nil
// |     )
// |
// |     static let migrateV2toV3 = MigrationStage.lightweight(
// |         fromVersion: SampleTripsSchemaV2.self,
// |         toVersion: SampleTripsSchemaV3.self
// |     )
// | }
// |
// | // 앱 환경에 설정
// | struct TripsApp: App {
// |     let container = ModelContainer(
// |         for: Trip.self,
// |         migrationPlan: SampleTripsMigrationPlan.self
// |     )
// |
// |     var body: some Scene {
// |         WindowGroup {
// |             ContentView()
// |         }
// |         .modelContainer(container)
// |     }
// | }
// Ours:
enum SampleTripsSchemaV1: VersionedSchema {
  static var models: [any PersistentModel.Type] {
    [Trip.self, BucketListItem.self, LivingAccommodation.self]
  }

  struct Trip: DeclaredModel {
    // A trip leads to these: it does not hold them.
    typealias BucketListItem = Reference<TripsV1.BucketListItem>
    typealias LivingAccommodation = Reference<TripsV1.LivingAccommodation>

    var id = UUID()  // theirs is made by the macro
    var name: String
    var destination: String
    var start_date: Date
    var end_date: Date

    var bucketList: [BucketListItem]? = []
    var livingAccommodation: LivingAccommodation?

    init() { self.init(name: "", destination: "", start_date: .now, end_date: .now) }

    init(
      name: String, destination: String, start_date: Date, end_date: Date,
      bucketList: [BucketListItem]? = [], livingAccommodation: LivingAccommodation? = nil
    ) {
      self.destination = destination
      (self.start_date, self.end_date) = (start_date, end_date)
      self.name = name
      (self.bucketList, self.livingAccommodation) = (bucketList, livingAccommodation)
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

  struct Trip: DeclaredModel {
    // A trip leads to these: it does not hold them.
    typealias BucketListItem = Reference<TripsV1.BucketListItem>
    typealias LivingAccommodation = Reference<TripsV1.LivingAccommodation>

    var id = UUID()
    @Attribute(.unique) var name: String
    var destination: String
    var start_date: Date
    var end_date: Date

    var bucketList: [BucketListItem]? = []
    var livingAccommodation: LivingAccommodation?

    init() { self.init(name: "", destination: "", start_date: .now, end_date: .now) }

    init(
      name: String, destination: String, start_date: Date, end_date: Date,
      bucketList: [BucketListItem]? = [], livingAccommodation: LivingAccommodation? = nil
    ) {
      self.destination = destination
      (self.start_date, self.end_date) = (start_date, end_date)
      self.name = name
      (self.bucketList, self.livingAccommodation) = (bucketList, livingAccommodation)
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

  struct Trip: DeclaredModel {
    // A trip leads to these: it does not hold them.
    typealias BucketListItem = Reference<TripsV1.BucketListItem>
    typealias LivingAccommodation = Reference<TripsV1.LivingAccommodation>

    var id = UUID()
    @Attribute(.unique) var name: String
    var destination: String
    @Attribute(originalName: "start_date") var startDate: Date
    @Attribute(originalName: "end_date") var endDate: Date

    var bucketList: [BucketListItem]? = []
    var livingAccommodation: LivingAccommodation?

    init() { self.init(name: "", destination: "", startDate: .now, endDate: .now) }

    init(
      name: String, destination: String, startDate: Date, endDate: Date,
      bucketList: [BucketListItem]? = [], livingAccommodation: LivingAccommodation? = nil
    ) {
      self.destination = destination
      (self.startDate, self.endDate) = (startDate, endDate)
      self.name = name
      (self.bucketList, self.livingAccommodation) = (bucketList, livingAccommodation)
    }
  }

  // Define the other models in this version...
  typealias BucketListItem = TripsV1.BucketListItem
  typealias LivingAccommodation = TripsV1.LivingAccommodation
}

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
      let trips = try? context.fetch(FetchDescriptor<SampleTripsSchemaV1.Trip>())

      // De-duplicate Trip instances here...
      var names: Set<String> = []
      for trip in trips ?? [] where !names.insert(trip.name).inserted { try context.delete(trip) }

      try? context.save()  // nothing is left to do: it is committed with the migration
    }, didMigrate: nil
  )

  static let migrateV2toV3 = MigrationStage.lightweight(
    fromVersion: SampleTripsSchemaV2.self,
    toVersion: SampleTripsSchemaV3.self
  )
}

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
// End of ours.
