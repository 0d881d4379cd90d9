import Cambium
import CambiumSwiftData
import FoundationEssentials

// The examples of “Model your schema with SwiftData”, one version each. In all of them:
//
// - `@Model final class Trip` is a struct with a primary key, and its macros are its description.
// - `var bucketList: [BucketListItem]? = []` holds references: a trip holds no items, they are fetched.

/// The first example.
enum TripsV1: VersionedSchema {
  static var models: [any PersistentModel.Type] {
    [Trip.self, BucketListItem.self, LivingAccommodation.self]
  }

  // @Model
  // final class Trip {
  struct Trip: PersistentModel, Identifiable {
    var id = UUID()  // theirs is made by the macro
    var name: String
    var destination: String
    // swift-format-ignore: AlwaysUseLowerCamelCase
    var start_date: Date
    // swift-format-ignore: AlwaysUseLowerCamelCase
    var end_date: Date

    var bucketList: [Reference<BucketListItem>] = []  // var bucketList: [BucketListItem]? = []
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

  struct BucketListItem: PersistentModel, Identifiable, Equatable {
    var id = UUID()
    var title: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "title", type: .string)
    }
  }

  struct LivingAccommodation: PersistentModel, Identifiable, Equatable {
    var id = UUID()
    var address: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "address", type: .string)
    }
  }
}

/// “`@Attribute(.unique)`”: a second trip of a name updates the first.
enum TripsV2: VersionedSchema {
  static var models: [any PersistentModel.Type] {
    [Trip.self, TripsV1.BucketListItem.self, TripsV1.LivingAccommodation.self]
  }

  struct Trip: PersistentModel, Identifiable {
    var id = UUID()
    var name: String
    var destination: String
    // swift-format-ignore: AlwaysUseLowerCamelCase
    var start_date: Date
    // swift-format-ignore: AlwaysUseLowerCamelCase
    var end_date: Date

    var bucketList: [Reference<TripsV1.BucketListItem>] = []
    var livingAccommodation: Reference<TripsV1.LivingAccommodation>?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "name", type: .string, unique: true)  // @Attribute(.unique) var name: String
      Field(name: "destination", type: .string)
      Field(name: "start_date", type: .date)
      Field(name: "end_date", type: .date)
      Field(name: "bucketList", type: .references(to: TripsV1.BucketListItem.self))
      Field(
        name: "livingAccommodation", type: .reference(to: TripsV1.LivingAccommodation.self),
        optional: true)
    }
  }
}

/// “`originalName`”: properties are renamed, and keep their values.
enum TripsV3: VersionedSchema {
  static var models: [any PersistentModel.Type] {
    [Trip.self, TripsV1.BucketListItem.self, TripsV1.LivingAccommodation.self]
  }

  struct Trip: PersistentModel, Identifiable {
    var id = UUID()
    var name: String
    var destination: String
    var startDate: Date
    var endDate: Date

    var bucketList: [Reference<TripsV1.BucketListItem>] = []
    var livingAccommodation: Reference<TripsV1.LivingAccommodation>?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "name", type: .string, unique: true)
      Field(name: "destination", type: .string)
      // @Attribute(originalName: "start_date") var startDate: Date
      Field(name: "startDate", type: .date, migrationInfo: .init(renamingID: "start_date"))
      // @Attribute(originalName: "end_date") var endDate: Date
      Field(name: "endDate", type: .date, migrationInfo: .init(renamingID: "end_date"))
      Field(name: "bucketList", type: .references(to: TripsV1.BucketListItem.self))
      Field(
        name: "livingAccommodation", type: .reference(to: TripsV1.LivingAccommodation.self),
        optional: true)
    }
  }
}

/// “`@Relationship`”: what a trip leads to is deleted with it.
enum TripsV4: VersionedSchema {
  static var models: [any PersistentModel.Type] {
    [Trip.self, TripsV1.BucketListItem.self, TripsV1.LivingAccommodation.self]
  }

  struct Trip: PersistentModel, Identifiable {
    var id = UUID()
    var name: String
    var destination: String
    var startDate: Date
    var endDate: Date

    var bucketList: [Reference<TripsV1.BucketListItem>] = []
    var livingAccommodation: Reference<TripsV1.LivingAccommodation>?

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "name", type: .string, unique: true)
      Field(name: "destination", type: .string)
      Field(name: "startDate", type: .date, migrationInfo: .init(renamingID: "start_date"))
      Field(name: "endDate", type: .date, migrationInfo: .init(renamingID: "end_date"))
      // @Relationship(.cascade) var bucketList: [BucketListItem]? = []
      Field(
        name: "bucketList",
        type: .references(to: TripsV1.BucketListItem.self, deleteRule: .cascade))
      // @Relationship(.cascade) var livingAccommodation: LivingAccommodation?
      Field(
        name: "livingAccommodation",
        type: .reference(to: TripsV1.LivingAccommodation.self, deleteRule: .cascade),
        optional: true)
    }
  }
}

/// “`@Transient`”: views are counted, and not stored.
enum TripsV5: VersionedSchema {
  static var models: [any PersistentModel.Type] {
    [Trip.self, TripsV1.BucketListItem.self, TripsV1.LivingAccommodation.self]
  }

  struct Trip: PersistentModel, Identifiable {
    var id = UUID()
    var name: String
    var destination: String
    var startDate: Date
    var endDate: Date

    var bucketList: [Reference<TripsV1.BucketListItem>] = []
    var livingAccommodation: Reference<TripsV1.LivingAccommodation>?

    var tripViews: Int = 0

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .uuid)
      Field(name: "name", type: .string, unique: true)
      Field(name: "destination", type: .string)
      Field(name: "startDate", type: .date, migrationInfo: .init(renamingID: "start_date"))
      Field(name: "endDate", type: .date, migrationInfo: .init(renamingID: "end_date"))
      Field(
        name: "bucketList",
        type: .references(to: TripsV1.BucketListItem.self, deleteRule: .cascade))
      Field(
        name: "livingAccommodation",
        type: .reference(to: TripsV1.LivingAccommodation.self, deleteRule: .cascade),
        optional: true)
      Transient("tripViews", default: 0)  // @Transient var tripViews: Int = 0
    }
  }
}

// One plan an example: each is the program of that version.

enum TripsPlan1: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [TripsV1.self] }
  static var stages: [MigrationStage] { [] }
}

enum TripsPlan2: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { TripsPlan1.schemas + [TripsV2.self] }
  static var stages: [MigrationStage] {
    [.lightweight(fromVersion: TripsV1.self, toVersion: TripsV2.self)]
  }
}

enum TripsPlan3: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { TripsPlan2.schemas + [TripsV3.self] }
  static var stages: [MigrationStage] {
    TripsPlan2.stages + [.lightweight(fromVersion: TripsV2.self, toVersion: TripsV3.self)]
  }
}

enum TripsPlan4: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { TripsPlan3.schemas + [TripsV4.self] }
  static var stages: [MigrationStage] { TripsPlan3.stages }  // V3 → V4 changes a rule: inferred
}

enum TripsPlan5: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { TripsPlan4.schemas + [TripsV5.self] }
  static var stages: [MigrationStage] {
    TripsPlan4.stages + [
      .custom(
        fromVersion: TripsV4.self, toVersion: TripsV5.self, willMigrate: nil,
        didMigrate: { context in
          for var trip in try context.fetch(FetchDescriptor<TripsV5.Trip>()) {
            trip.destination += "!"
            try context.update(trip)
          }
        })
    ]
  }
}
