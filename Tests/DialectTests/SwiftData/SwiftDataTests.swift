import Cambium
import CambiumSwiftData
import FoundationEssentials
import TestSupport
import Testing

/// Every example of “Model your schema with SwiftData”, run on data of its version and of the one before.
@Suite struct SwiftDataTests {
  private let directory: TemporaryDirectory
  private let url: URL

  init() throws {
    directory = try TemporaryDirectory()
    url = URL(filePath: directory.path + "/trips")
  }

  private func open(_ plan: (any SchemaMigrationPlan.Type)?, allowsSave: Bool = true) throws
    -> ModelContainer
  {
    try ModelContainer(
      for: [], migrationPlan: plan,
      configurations: [ModelConfiguration(url: url, allowsSave: allowsSave)])
  }

  private static let day = Date(timeIntervalSinceReferenceDate: 700_000_000)

  /// Writes trips of version 1, each with two items and a place to stay. Returns the items' titles by trip.
  private func writeTrips(_ names: [String], in container: ModelContainer) throws {
    let context = ModelContext(container)
    for (index, name) in names.enumerated() {
      let items = (0..<2).map { TripsV1.BucketListItem(title: "\(index).\($0)") }
      let place = TripsV1.LivingAccommodation(address: "\(index)")
      for item in items { context.insert(item) }
      context.insert(place)
      context.insert(
        TripsV1.Trip(
          name: name, destination: "to \(name)", start_date: Self.day,
          end_date: Self.day.addingTimeInterval(Double(index)), bucketList: items.map(\.reference),
          livingAccommodation: place.reference))
    }
    try context.save()
  }

  // MARK: The examples

  @Test func `the first example keeps trips with what they lead to`() throws {
    let container = try ModelContainer(
      for: TripsV1.Trip.self, TripsV1.BucketListItem.self, TripsV1.LivingAccommodation.self,
      configurations: ModelConfiguration(url: url))
    try writeTrips(["Ulm", "Como", "Como"], in: container)
    try container.close()

    let again = try open(TripsPlan1.self)
    let context = ModelContext(again)
    var descriptor = FetchDescriptor<TripsV1.Trip>(
      predicate: #Predicate { $0.name == "Como" }, sortBy: [.init(\.end_date, order: .reverse)])
    #expect(try context.fetchCount(descriptor) == 2)
    descriptor.fetchLimit = 1
    let trip = try #require(try context.fetch(descriptor).first)
    #expect(trip.end_date == Self.day.addingTimeInterval(2))
    #expect(
      try again.store(for: TripsV1.Trip.self).fetch(trip.bucketList).map(\.title) == ["2.0", "2.1"])
    let place = try #require(trip.livingAccommodation)
    #expect(try context.model(for: place)?.address == "2")
    descriptor.fetchOffset = 1
    #expect(try context.fetch(descriptor).map(\.end_date) == [Self.day.addingTimeInterval(1)])
    try again.close()
  }

  @Test func `a trip of a name that exists updates the first, and leaves its references`() throws {
    let container = try open(TripsPlan2.self)
    let context = ModelContext(container)
    let first = TripsV2.Trip(
      name: "Ulm", destination: "cathedral", start_date: Self.day, end_date: Self.day)
    context.insert(first)
    try context.save()
    context.insert(
      TripsV2.Trip(name: "Ulm", destination: "river", start_date: Self.day, end_date: Self.day))
    try context.save()
    let trips = try context.fetch(FetchDescriptor<TripsV2.Trip>())
    #expect(trips.map(\.id) == [first.id])
    #expect(trips.map(\.destination) == ["river"])
    try container.close()
  }

  @Test func `each example opens the stores of the one before`() throws {
    let first = try open(TripsPlan1.self)
    try writeTrips(["Ulm", "Como"], in: first)
    try first.close()

    let second = try open(TripsPlan2.self)
    #expect(try second.store(for: TripsV2.Trip.self).count(TripsV2.Trip.self) == 2)
    try second.close()

    let third = try open(TripsPlan3.self)
    let trips = try third.store(for: TripsV3.Trip.self).fetch(
      TripsV3.Trip.sorted(by: .ascending(\.endDate)))
    #expect(trips.map(\.endDate) == [Self.day, Self.day.addingTimeInterval(1)])
    #expect(trips.allSatisfy { $0.startDate == Self.day && $0.bucketList?.count == 2 })
    // Without a rule, what a trip leads to stays when it is deleted.
    let context = ModelContext(third)
    context.delete(trips[0])
    try context.save()
    #expect(try context.fetchCount(FetchDescriptor<TripsV1.BucketListItem>()) == 4)
    try third.close()

    let fourth = try open(TripsPlan4.self)
    let later = ModelContext(fourth)
    let rest = try later.fetch(FetchDescriptor<TripsV4.Trip>())
    #expect(rest.map(\.name) == ["Como"])
    later.delete(rest[0])
    // Not saved: the trip is gone with its items and its place, and those of the other are not.
    #expect(try later.fetchCount(FetchDescriptor<TripsV1.BucketListItem>()) == 2)
    #expect(try later.fetchCount(FetchDescriptor<TripsV1.LivingAccommodation>()) == 1)
    later.rollback()
    #expect(try later.fetchCount(FetchDescriptor<TripsV1.BucketListItem>()) == 4)
    try fourth.close()

    let fifth = try open(TripsPlan5.self)
    let last = ModelContext(fifth)
    var trip = try #require(try last.fetch(FetchDescriptor<TripsV5.Trip>()).first)
    #expect(trip.destination == "to Como!")
    #expect(trip.tripViews == 0)
    trip.tripViews = 7
    last.insert(trip)
    try last.save()
    #expect(try last.fetch(FetchDescriptor<TripsV5.Trip>()).map(\.tripViews) == [0])
    try fifth.close()
  }

  @Test func `the sample's plan takes trips from the first version to the third, without doubles`()
    throws
  {
    let first = try ModelContainer(
      for: SampleTripsSchemaV1.Trip.self, TripsV1.BucketListItem.self,
      TripsV1.LivingAccommodation.self, configurations: ModelConfiguration(url: url))
    try writeSampleTrips(["Ulm", "Como", "Ulm"], in: first)
    try first.close()

    let app = try TripsApp(at: url)
    let context = ModelContext(app.container)
    let trips = try context.fetch(
      FetchDescriptor<TripsApp.Trip>(sortBy: [.init(\.name, order: .reverse)]))
    #expect(trips.map(\.name) == ["Ulm", "Como"])
    #expect(trips.allSatisfy { $0.startDate == Self.day })
    let stored = try PersistentStore.inspect(at: url.path()).schemas
    #expect(stored.map(\.label) == [nil, "SampleTripsSchemaV2", "SampleTripsSchemaV3"])
    try app.container.close()
    // A version 3 store opens again, and has nothing to do.
    try TripsApp(at: url).container.close()
  }

  private func writeSampleTrips(_ names: [String], in container: ModelContainer) throws {
    let context = ModelContext(container)
    for name in names {
      context.insert(
        SampleTripsSchemaV1.Trip(
          name: name, destination: "to \(name)", start_date: Self.day, end_date: Self.day))
    }
    try context.save()
  }

  // MARK: What is refused

  @Test func `a lightweight stage that would refuse records is named, and nothing has changed`()
    throws
  {
    let first = try open(TripsPlan1.self)
    try writeTrips(["Ulm", "Ulm"], in: first)
    try first.close()
    let error = #expect(throws: SwiftDataError.self) { try open(TripsPlan3.self) }
    guard case .lightweightStage(let stage, let reasons)? = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(stage == "TripsV1 → TripsV2")
    #expect(reasons.count == 1)
    try open(TripsPlan1.self).close()
  }

  @Test func `stores that are newer, or described differently, are refused by SwiftData's names`()
    throws
  {
    let container = try open(TripsPlan3.self)
    try container.close()
    #expect(throws: SwiftDataError.backwardMigration(found: 3, supported: 2)) {
      try open(TripsPlan2.self)
    }
    enum Other: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [TripsV1.self, TripsV2.self, TripsV2.self] }
      static var stages: [MigrationStage] { [] }
    }
    let error = #expect(throws: SwiftDataError.self) { try open(Other.self) }
    guard case .unknownDataStoreSchema(3, let differences)? = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(differences.contains { $0.field == "start_date" || $0.field == "startDate" })
  }

  @Test func `stages and containers of what the plan does not have are refused`() throws {
    enum Plan: SchemaMigrationPlan {
      static var schemas: [any VersionedSchema.Type] { [TripsV1.self] }
      static var stages: [MigrationStage] {
        [.lightweight(fromVersion: TripsV1.self, toVersion: TripsV2.self)]
      }
    }
    #expect(throws: SwiftDataError.unknownSchema("TripsV2")) { try open(Plan.self) }
    #expect(throws: SwiftDataError.unknownSchema("Trip")) {
      try ModelContainer(
        for: TripsV1.Trip.self, migrationPlan: TripsPlan2.self,
        configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    }
    #expect(throws: SwiftDataError.duplicateConfiguration("a")) {
      try ModelContainer(
        for: TripsV1.BucketListItem.self,
        configurations: ModelConfiguration("a", isStoredInMemoryOnly: true),
        ModelConfiguration("a", isStoredInMemoryOnly: true))
    }
    for name in ["", "a/b", "a\0b"] {
      #expect(throws: SwiftDataError.configurationFileNameContainsInvalidCharacters(name)) {
        try ModelContainer(
          for: TripsV1.BucketListItem.self, configurations: ModelConfiguration(name))
      }
    }
    #expect(
      throws: SwiftDataError.configurationSchemaNotFoundInContainerSchema(
        configuration: "a", model: "Trip")
    ) {
      try ModelContainer(
        for: TripsV1.BucketListItem.self,
        configurations: ModelConfiguration(
          "a", schema: [TripsV1.Trip.self], isStoredInMemoryOnly: true))
    }
  }

  // MARK: Contexts

  @Test func `a context sees what it has not saved, and forgets or commits it as a whole`() throws {
    let container = try ModelContainer(
      for: TripsV1.BucketListItem.self,
      configurations: ModelConfiguration(isStoredInMemoryOnly: true))
    let context = ModelContext(container)
    let all = FetchDescriptor<TripsV1.BucketListItem>()
    var saved = all
    saved.includePendingChanges = false
    let item = TripsV1.BucketListItem(title: "swim")
    context.insert(item)
    #expect(context.hasChanges)
    #expect(try context.fetch(all) == [item])
    #expect(try context.fetchIdentifiers(all) == [item.reference])
    #expect(try context.fetch(saved).isEmpty)
    context.rollback()
    #expect(try context.fetch(all).isEmpty)

    struct Refusal: Error {}
    context.insert(item)
    #expect(throws: Refusal.self) {
      try context.transaction {
        context.insert(TripsV1.BucketListItem(title: "sail"))
        throw Refusal()
      }
    }
    #expect(try context.fetch(all) == [item])
    try context.transaction { context.insert(TripsV1.BucketListItem(title: "sail")) }
    #expect(!context.hasChanges)
    var titles: Set<String> = []
    try context.enumerate(all, batchSize: 1) { titles.insert($0.title) }
    #expect(titles == ["swim", "sail"])
    let swimming = FetchDescriptor<TripsV1.BucketListItem>(
      predicate: #Predicate { $0.title == "swim" })
    try context.delete(swimming)
    #expect(try context.fetch(all).map(\.title) == ["sail"])
    try context.save()
    #expect(try context.fetchCount(saved) == 1)

    // A type that the container does not have is noticed when it is saved.
    context.insert(TripsV1.LivingAccommodation(address: "x"))
    #expect(throws: SwiftDataError.unknownSchema("LivingAccommodation")) { try context.save() }
    for number in [Int.min, -1, 0, Int.max] {
      var descriptor = all
      (descriptor.fetchLimit, descriptor.fetchOffset) = (number, number)
      if number < 0 {
        let error = storeError { try context.fetch(descriptor) }
        guard case .invalidQuery = error else {
          Issue.record("\(number): \(String(describing: error))")
          continue
        }
      } else {
        _ = try context.fetch(descriptor)
      }
      try context.enumerate(all, batchSize: number) { _ in }
    }
    try container.close()
  }

  @Test func `a container that may not save reads, and refuses to write`() throws {
    let container = try open(TripsPlan1.self)
    try writeTrips(["Ulm"], in: container)
    try container.close()
    let reading = try open(TripsPlan1.self, allowsSave: false)
    let context = ModelContext(reading)
    #expect(try context.fetchCount(FetchDescriptor<TripsV1.Trip>()) == 1)
    context.insert(TripsV1.BucketListItem(title: "x"))
    #expect(throws: StoreError.self) { try context.save() }
    try reading.close()
  }

  @Test func `relations are fetched in passes, as by prefetching`() throws {
    let container = try open(TripsPlan1.self)
    try writeTrips(["Ulm", "Como"], in: container)
    let store = try container.store(for: TripsV1.Trip.self)
    let found = try store.fetch(
      FetchDescriptor<TripsV1.Trip>(sortBy: [.init(\.name)]),
      including: .all(\.bucketList), .one(\.livingAccommodation))
    #expect(found.map { $0.0.name } == ["Como", "Ulm"])
    #expect(found.map { $0.1.map(\.title) } == [["1.0", "1.1"], ["0.0", "0.1"]])
    #expect(found.map { $0.2?.address } == ["1", "0"])
    try container.close()
  }

  // MARK: Several configurations

  @Test func `configurations of one schema are stores of their own, migrated together`() throws {
    let other = URL(filePath: directory.path + "/notes")
    func open(_ plan: any SchemaMigrationPlan.Type, _ note: any PersistentModel.Type) throws
      -> ModelContainer
    {
      try ModelContainer(
        for: [], migrationPlan: plan,
        configurations: [
          ModelConfiguration("cities", schema: [City.self], url: url),
          ModelConfiguration("notes", schema: [note, NotesV1.Note.self], url: other),
        ])
    }
    let first = try open(NotesPlan1.self, NotesV1.Note.self)
    let context = ModelContext(first)
    context.insert(City(name: "Ulm"))
    context.insert(NotesV1.Note(id: 1, text: "a"))
    try context.save()
    #expect(try first.store(for: City.self).path != first.store(for: NotesV1.Note.self).path)
    try first.close()
    let second = try open(NotesPlan2.self, NotesV2.Remark.self)
    let later = ModelContext(second)
    #expect(try later.fetch(FetchDescriptor<City>()).map(\.name) == ["Ulm"])
    #expect(try later.fetch(FetchDescriptor<NotesV2.Remark>()).map(\.text) == ["a."])
    #expect(try PersistentStore.inspect(at: other.path()).label == "2.0.0")
    try second.close()
  }
}

private struct City: PersistentModel, Identifiable {
  var id = UUID()
  var name: String

  static func recordDescription(for version: Int) -> RecordDescription {
    Field(primaryKey: true, name: "id", type: .uuid)
    Field(name: "name", type: .string)
  }
}

private enum NotesV1: VersionedSchema {
  static let versionIdentifier = Schema.Version(1, 0, 0)
  static var models: [any PersistentModel.Type] { [City.self, Note.self] }

  struct Note: PersistentModel, Identifiable {
    var id: Int
    var text: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "text", type: .string)
    }
  }
}

private enum NotesV2: VersionedSchema {
  static let versionIdentifier = Schema.Version(2, 0, 0)
  static var models: [any PersistentModel.Type] { [City.self, Remark.self] }

  struct Remark: PersistentModel, Identifiable {
    var id: Int
    var text: String

    static func recordDescription(for version: Int) -> RecordDescription {
      RecordName("Remark", renamingID: "Note")
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "text", type: .string)
    }
  }
}

private enum NotesPlan1: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [NotesV1.self] }
  static var stages: [MigrationStage] { [] }
}

private enum NotesPlan2: SchemaMigrationPlan {
  static var schemas: [any VersionedSchema.Type] { [NotesV1.self, NotesV2.self] }
  static var stages: [MigrationStage] {
    [
      .custom(
        fromVersion: NotesV1.self, toVersion: NotesV2.self, willMigrate: nil,
        didMigrate: { context in
          // It runs in both stores; only one has notes.
          guard context.schema.record(named: "Remark") != nil else { return }
          try context.update(NotesV2.Remark.where(.always)) { $0.text = $0.text + "." }
        })
    ]
  }
}
