// swift-format-ignore-file: AlwaysUseLowerCamelCase

import Cambium
import CambiumSwiftData
import FoundationEssentials

// The examples of “Model your schema with SwiftData”, one version each. In all of them:
//
// - `@Model final class Trip` is a struct that is a `DeclaredModel`, and has a primary key.
// - `[BucketListItem]` and `LivingAccommodation` are references in it: a trip holds no items, they are fetched.

/// The first example.
enum TripsV1: VersionedSchema {
  static var models: [any PersistentModel.Type] {
    [Trip.self, BucketListItem.self, LivingAccommodation.self]
  }

  // Theirs:
  // | import SwiftUI
  // | import SwiftData
  // |
  // | @Model
  // | final class Trip {
  // |     var name: String
  // |     var destination: String
  // |     var start_date: Date
  // |     var end_date: Date
  // |
  // |     var bucketList: [BucketListItem]? = []
  // |     var livingAccommodation: LivingAccommodation?
  // | }
  // Ours:
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
  // End of ours.

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

  // Theirs:
  // | @Model
  // | final class Trip {
  // |     @Attribute(.unique) var name: String
  // |     var destination: String
  // |     var start_date: Date
  // |     var end_date: Date
  // |
  // |     var bucketList: [BucketListItem]? = []
  // |     var livingAccommodation: LivingAccommodation?
  // | }
  // Ours:
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
  // End of ours.
}

/// “`originalName`”: properties are renamed, and keep their values.
enum TripsV3: VersionedSchema {
  static var models: [any PersistentModel.Type] {
    [Trip.self, TripsV1.BucketListItem.self, TripsV1.LivingAccommodation.self]
  }

  // Theirs:
  // | @Model
  // | final class Trip {
  // |     @Attribute(.unique) var name: String
  // |     var destination: String
  // |     @Attribute(originalName: "start_date") var startDate: Date
  // |     @Attribute(originalName: "end_date") var endDate: Date
  // |
  // |     var bucketList: [BucketListItem]? = []
  // |     var livingAccommodation: LivingAccommodation?
  // | }
  // Ours:
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
  // End of ours.
}

/// “`@Relationship`”: what a trip leads to is deleted with it.
enum TripsV4: VersionedSchema {
  static var models: [any PersistentModel.Type] {
    [Trip.self, TripsV1.BucketListItem.self, TripsV1.LivingAccommodation.self]
  }

  // Theirs:
  // | @Model
  // | final class Trip {
  // |     @Attribute(.unique) var name: String
  // |     var destination: String
  // |     @Attribute(originalName: "start_date") var startDate: Date
  // |     @Attribute(originalName: "end_date") var endDate: Date
  // |
  // |     @Relationship(.cascade)
  // |     var bucketList: [BucketListItem]? = []
  // |
  // |     @Relationship(.cascade)
  // |     var livingAccommodation: LivingAccommodation?
  // | }
  // Ours:
  struct Trip: DeclaredModel {
    // A trip leads to these: it does not hold them.
    typealias BucketListItem = Reference<TripsV1.BucketListItem>
    typealias LivingAccommodation = Reference<TripsV1.LivingAccommodation>

    var id = UUID()
    @Attribute(.unique) var name: String
    var destination: String
    @Attribute(originalName: "start_date") var startDate: Date
    @Attribute(originalName: "end_date") var endDate: Date

    @Relationship(.cascade)
    var bucketList: [BucketListItem]? = []

    @Relationship(.cascade)
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
  // End of ours.
}

/// “`@Transient`”: views are counted, and not stored.
enum TripsV5: VersionedSchema {
  static var models: [any PersistentModel.Type] {
    [Trip.self, TripsV1.BucketListItem.self, TripsV1.LivingAccommodation.self]
  }

  // Theirs:
  // | @Model
  // | final class Trip {
  // |     @Attribute(.unique) var name: String
  // |     var destination: String
  // |     @Attribute(originalName: "start_date") var startDate: Date
  // |     @Attribute(originalName: "end_date") var endDate: Date
  // |
  // |     @Relationship(.cascade)
  // |     var bucketList: [BucketListItem]? = []
  // |
  // |     @Relationship(.cascade)
  // |     var livingAccommodation: LivingAccommodation?
  // |
  // |     @Transient
  // |     var tripViews: Int = 0
  // | }
  // Ours:
  struct Trip: DeclaredModel {
    // A trip leads to these: it does not hold them.
    typealias BucketListItem = Reference<TripsV1.BucketListItem>
    typealias LivingAccommodation = Reference<TripsV1.LivingAccommodation>
    typealias Transient = TransientProperty

    var id = UUID()
    @Attribute(.unique) var name: String
    var destination: String
    @Attribute(originalName: "start_date") var startDate: Date
    @Attribute(originalName: "end_date") var endDate: Date

    @Relationship(.cascade)
    var bucketList: [BucketListItem]? = []

    @Relationship(.cascade)
    var livingAccommodation: LivingAccommodation?

    @Transient
    var tripViews: Int = 0

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
  // End of ours.
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
