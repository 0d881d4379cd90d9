import Cambium
import CambiumTesting
import FoundationEssentials
import Logging
import TestSupport
import Testing

/// The examples of Core Data's guide to schema migration, in its order, each on data of its version and of the one after.
/// What is an editor's or an Objective-C object's there is its effect here.
@Suite struct CoreDataExampleTests {
  private let directory: TemporaryDirectory
  private var storeURL: String { directory.path + "/store" }

  init() throws {
    directory = try TemporaryDirectory()
  }

  // MARK: When Migration is Required, Enabling Lightweight Migration

  /// The renaming identifiers of the guide, in all three versions of the model.
  private struct Car: Record, Identifiable, Equatable {
    var id: Int
    var primaryColor: String

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      switch version {
      // V1: `color`
      case 1: Field(name: "color", type: .string, property: "primaryColor")
      // V2: `paintColor` (renaming ID: `color`)
      case 2:
        Field(
          name: "paintColor", type: .string, property: "primaryColor",
          migrationInfo: .init(renamingID: "color"))
      // V3: `primaryColor` (renaming ID: `paintColor`)
      default:
        Field(
          name: "primaryColor", type: .string, migrationInfo: .init(renamingID: "paintColor"))
      }
    }
  }

  private let car = Car(id: 1, primaryColor: "red")

  private func makeCars(_ version: Int, at path: String? = nil) throws {
    let store = try PersistentStore(
      at: path ?? storeURL, model: StoreModel(version: version, records: [Car.self]))
    try store.save(car)
    try store.close()
  }

  @Test func `Core Data, When Migration is Required: a store of another version is refused`() throws
  {
    try makeCars(1)
    // Error: NSPersistentStoreIncompatibleVersionHashError
    let error = storeError {
      try PersistentStore(
        at: storeURL, model: StoreModel(version: 2, records: [Car.self]), migration: .refuse)
    }
    #expect(error == .needsMigration(found: 1, wanted: 2))
  }

  @Test func `Core Data, Enabling Lightweight Migration: it is the default`() throws {
    try makeCars(1)
    // let container = NSPersistentContainer(name: "Model")
    // let options = [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
    // try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: storeURL, options: options)
    let store = try PersistentStore(
      at: storeURL, model: StoreModel(version: 2, records: [Car.self]))
    #expect(try store.fetch(Car.self) == [car])
    try store.close()
  }

  // MARK: Renaming, Testing Lightweight Migration

  @Test func `Core Data, Renaming: V1 to V2, V2 to V3, and V1 to V3`() throws {
    for (old, new) in [(1, 2), (2, 3), (1, 3)] {
      let path = storeURL + "\(old)\(new)"
      try makeCars(old, at: path)
      let store = try PersistentStore(
        at: path, model: StoreModel(version: new, records: [Car.self]))
      #expect(try store.fetch(Car.self) == [car], "\(old) to \(new)")
      #expect(store.schema.record(named: "Car")?.fields.count == 2)
      try store.close()
    }
  }

  @Test func `Core Data, Testing Lightweight Migration: a plan says whether it is inferred`() throws
  {
    try makeCars(1)
    // if let mappingModel = try? NSMappingModel.inferredMappingModel(forSourceModel: sourceModel, destinationModel: …)
    let model = StoreModel(version: 3, records: [Car.self])
    let plan = try PersistentStore.migration(at: storeURL, to: model).plan
    #expect(plan.isInferred && plan.canRun)
    let required = StoreModel([
      ModelVersion(1, describing: ["Car": Car.recordDescription(for: 1)]),
      ModelVersion(2, describing: ["Car": Self.required]),
    ])
    #expect(try !PersistentStore.migration(at: storeURL, to: required).plan.canRun)
    // Of two models alone, as theirs is.
    try model.check([])
    let error = #expect(throws: StoreError.self) { try required.check([]) }
    guard case .cannotMigrate(1, 2, let reasons)? = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(reasons.count == 1 && reasons[0].contains("doors"), "\(reasons)")
  }

  @RecordDescription.ResultBuilder private static var required: RecordDescription {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "doors", type: .integer)
  }

  // MARK: Composite Attributes

  // Add Composite Attribute, add elements, nest them
  private struct ColorScheme: Codable, Equatable {
    var primary: String
    var secondary: String
    var tertiary: Tone
  }

  private struct Tone: Codable, Equatable {
    var name: String
    var lightness: Int
  }

  private struct PaintedAircraft: Record, Identifiable, Equatable {
    var id: Int
    // @NSManaged var colorScheme: [String: Any]
    var colorScheme: ColorScheme

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(
        name: "colorScheme",
        type: .composite {
          Field(name: "primary", type: .string, indexed: version > 1)
          Field(name: "secondary", type: .string)
          Field(
            name: "tertiary",
            type: .composite {
              Field(name: "name", type: .string)
              if version > 1 {
                Field(name: "lightness", type: .integer, migrationInfo: .init(default: 50))
              } else {
                Transient("lightness", default: 50)
              }
            })
        })
    }
  }

  @Test func `Core Data, Composite Attributes: parts are set, queried, indexed and migrated`()
    throws
  {
    let aircraft = PaintedAircraft(
      id: 1,
      // aircraft.colorScheme = ["primary": "Red", "secondary": "White", "tertiary": "Blue"]
      colorScheme: ColorScheme(
        primary: "Red", secondary: "White", tertiary: Tone(name: "Blue", lightness: 50)))
    for version in [1, 2] {
      let store = try PersistentStore(
        at: storeURL, model: StoreModel(version: version, records: [PaintedAircraft.self]))
      if version == 1 { try store.save(aircraft) }
      // NSPredicate(format: "colorScheme.primary == %@", "Red")
      let red = try FieldCondition(parsing: "colorScheme.primary == ?", arguments: ["Red"])
      #expect(try store.count(record: "PaintedAircraft", where: red) == 1)
      #expect(
        try store.fetch(PaintedAircraft.where { $0.colorScheme.primary == "Red" }) == [aircraft])
      #expect(
        try store.fetch(PaintedAircraft.where { $0.colorScheme.tertiary.name == "Red" }) == [])
      try store.close()
    }
  }

  // MARK: Staged Migration

  /// A part of a record becomes a record of its own, in three versions as in the guide, and in one step.
  private static func aircraft(_ count: Int) -> StoreModel {
    StoreModel(
      version: count,
      untyped: [
        RemovedRecord("Aircraft") { version in
          Field(primaryKey: true, name: "id", type: .integer)
          // Stage 3: remove flightData attribute from Aircraft
          if version < count { Field(name: "flightData", type: .binaryData, optional: true) }
          // Stage 1: add flightParameters relationship to Aircraft
          if version > 1 {
            Field(name: "flightParameters", type: .reference(to: "FlightData"), optional: true)
          }
        },
        // Stage 1: add FlightData entity
        RemovedRecord("FlightData") { version in
          if version > 1 {
            Field(primaryKey: true, name: "id", type: .uuid)
            Field(name: "data", type: .binaryData, optional: true)
          }
        },
      ])
  }

  // Stage 2 (Custom): fetch rows using generic types, create new entities and copy data inside the stage handler
  @Sendable private static func copyFlightData(
    in transaction: inout WriteTransaction
  ) throws {
    for var aircraft in try transaction.fetch(record: "Aircraft", where: nil) {
      let id = UUID(of: aircraft["id"], in: "FlightData")
      try transaction.save(
        DynamicRecord(
          "FlightData", ["id": .uuid(id), "data": aircraft["flightData"]]))
      aircraft["flightParameters"] = .uuid(id)
      try transaction.save(aircraft)
    }
  }

  private static let inThree = MigrationStep(to: 3) { RunAfter(body: copyFlightData) }

  @Sendable private static func split(_ old: OldRecord, _ emit: RecordEmitter) throws {
    let id = UUID(of: try old["id"], in: "FlightData")
    try emit(
      DynamicRecord("FlightData", ["id": .uuid(id), "data": try old["flightData"]]))
    var aircraft = old.record
    aircraft.fields["flightData"] = nil
    aircraft["flightParameters"] = .uuid(id)
    try emit(aircraft)
  }

  @Test func `three stages and one step make the same of Aircraft and FlightData`() throws {
    let inOne = MigrationStep(to: 2) {
      TransformRecords("Aircraft", into: "Aircraft", "FlightData", by: Self.split)
    }
    var stages = MigrationCheck(Self.aircraft(4), steps: [Self.inThree], seed: 3)
    var whole = MigrationCheck(Self.aircraft(2), steps: [inOne], seed: 3)
    (stages.count, whole.count) = (50, 50)
    #expect(try stages.everyPath(from: 1) == whole.everyPath(from: 1))
  }

  /// The custom logic is restartable: the migration is interrupted after every slice, and resumed.
  @Test func `Core Data, Staged Migration: an interrupted stage is resumed`() throws {
    let model = Self.aircraft(4)
    let old = try PersistentStore(at: storeURL, model: model.dynamic(version: 1))
    try old.write { transaction in
      for id in 0..<20 {
        try transaction.save(
          DynamicRecord(
            "Aircraft",
            ["id": .integer(Int64(id)), "flightData": .data(Data([UInt8(id)]))]))
      }
    }
    try old.close()
    var options = StoreOptions()
    options.migration.sliceCount = 5
    options.migration.stepwise = true
    let migration = try PersistentStore.migration(
      at: storeURL, to: model, steps: [Self.inThree], options: options)
    #expect(migration.plan.steps.map(\.kind) == [.inferred, .given, .inferred])
    try migration.run()
    let store = try PersistentStore(at: storeURL, model: model, migration: .refuse)
    #expect(try store.count(record: "FlightData") == 20)
    let aircraft = try #require(try store.fetch(record: "Aircraft", key: 7))
    let parameters = try #require(
      try store.fetch(record: "FlightData", key: aircraft["flightParameters"]))
    #expect(parameters["data"] == .data(Data([7])))
    try store.close()
  }

  // MARK: Getting Version Checksum

  @Test func `Core Data, Version Checksum: a stage leads from the version with a checksum`() throws
  {
    let model = Self.aircraft(4)
    let old = try PersistentStore(at: storeURL, model: model.dynamic(version: 1))
    try old.write { transaction in
      try transaction.save(
        DynamicRecord("Aircraft", ["id": 1, "flightData": .data(Data([1]))]))
    }
    try old.close()
    // version checksum: ABC123...
    let checksum = try #require(try PersistentStore.inspect(at: storeURL).fingerprint)
    #expect(try model.version(of: checksum) == 1)
    let text = "\(checksum)"
    let stage = MigrationStep(from: try #require(Fingerprint(text)), to: 3, label: "copy") {
      RunAfter(body: Self.copyFlightData)
    }
    let plan = try PersistentStore.migration(at: storeURL, to: model, steps: [stage]).plan
    #expect(plan.steps.map(\.label) == ["copy", nil])
    let store = try PersistentStore(at: storeURL, model: model, steps: [stage])
    #expect(try store.count(record: "FlightData") == 1)
    try store.close()
  }

  // MARK: Deferred Migration

  private func migrateDeferred(_ count: Int64 = 50) throws -> PersistentStore {
    let model = StoreModel(
      version: 2,
      untyped: [
        RemovedRecord("Note") { version in
          Field(primaryKey: true, name: "id", type: .integer)
          if version == 1 { Field(name: "removed", type: .string) }
        }
      ])
    let old = try PersistentStore(at: storeURL, model: model.dynamic(version: 1))
    try old.write { transaction in
      for id in 0..<count {
        try transaction.save(
          DynamicRecord("Note", ["id": .integer(id), "removed": "x"]))
      }
    }
    try old.close()
    // description.setOption(true as NSNumber, forKey: NSPersistentStoreDeferredLightweightMigrationOptionKey)
    return try PersistentStore(at: storeURL, model: model, migration: .deferred)
  }

  @Test func `Core Data, Deferred Migration: what is left is asked for, and done later`() throws {
    let store = try migrateDeferred()
    // The app uses the latest schema immediately.
    #expect(try store.fetch(record: "Note", key: 7)?.fields == ["id": 7])
    // metadataForPersistentStore(…)[NSPersistentStoreDeferredLightweightMigrationOptionKey] as? Bool
    #expect(try store.pendingMigration != nil)
    try store.close()
    #expect(try PersistentStore.inspect(at: storeURL).pendingMigration?.records == ["Note": 50])
    let again = try PersistentStore(
      untypedAt: storeURL, options: Self.writingExisting)
    // try coordinator.finishDeferredLightweightMigration()
    try again.finishMigration()
    #expect(try again.pendingMigration == nil)
    try again.close()
    #expect(try PersistentStore.inspect(at: storeURL).pendingMigration == nil)
  }

  private static var writingExisting: StoreOptions {
    var options = StoreOptions()
    options.access = .writingExisting
    return options
  }

  /// A task of the system's scheduler does as much as it has time for.
  @Test func `Core Data, Scheduling with Background Tasks: the work is done in slices`() throws {
    let store = try migrateDeferred(5_000)
    // finishDeferredLightweightMigrationTask(), until task.expirationHandler is called
    var slices = 0
    while try store.finishMigration(budget: .records(10)) { slices += 1 }
    #expect(slices > 0)
    #expect(try store.pendingMigration == nil)
    #expect(try store.count(record: "Note") == 5_000)
    try store.close()
  }

  // MARK: Migration Debugging

  @Test func `Core Data, Migration Debugging: a logger is told, and errors say what to do`() throws
  {
    try makeCars(1)
    // -com.apple.CoreData.MigrationDebug 1
    let lines = Calls()
    var options = StoreOptions()
    options.logger = Logger(label: "test") { _ in Lines(calls: lines) }
    let model = StoreModel(version: 2, records: [Car.self])
    try PersistentStore.migration(at: storeURL, to: model, options: options).run()
    // CoreData: annotation: Migration: Migrating from version 1 to version 2
    #expect(lines.all.count == 1)
    // CoreData: annotation: Migration: Completed successfully
    #expect(lines.all.last?.hasPrefix("Migrated from version 1 to 2 by one commit") ?? false)
    // NSMigrationMissingSourceModelError: the source need not be known, since the store describes it itself.
    let schemas = try PersistentStore.inspect(at: storeURL).schemas
    let newer = ModelVersion(3, describing: ["Car": Car.recordDescription(for: 3)])
    let store = try PersistentStore(
      at: storeURL, model: try StoreModel(continuing: schemas, with: [newer]))
    #expect(try store.fetch(record: "Car", key: 1)?["primaryColor"] == "red")
    try store.close()
  }

  // MARK: Testing Migrations

  @Test func `Core Data, Testing Migrations: the old model writes, the new one reads`() throws {
    @Sendable func article(_ version: Int) -> RecordDescription { Self.article(version) }
    let versions = [
      ModelVersion(1, label: "ModelV1", describing: ["Article": article(1)]),
      ModelVersion(2, label: "ModelV2", describing: ["Article": article(2)]),
    ]
    // 1. Create store with old model
    let old = try PersistentStore(at: storeURL, model: StoreModel([versions[0]]))
    // 2. Add test data
    // let entity = NSEntityDescription.insertNewObject(forEntityName: "Article", into: context)
    // entity.setValue("Test", forKey: "name")
    try old.write { transaction in
      try transaction.save(DynamicRecord("Article", ["id": 1, "name": "Test"]))
    }
    // 3. Close store
    try old.close()
    // 4. Migrate with new model
    let new = try PersistentStore(at: storeURL, model: StoreModel(versions))
    // 5. Verify data
    let results = try new.fetch(record: "Article")
    #expect(results.count == 1)
    #expect(results.first?["name"] == "Test")
    try new.close()
  }

  @RecordDescription.ResultBuilder private static func article(_ version: Int) -> RecordDescription
  {
    Field(primaryKey: true, name: "id", type: .integer)
    Field(name: "name", type: .string)
    if version > 1 { Field(name: "body", type: .string, optional: true) }
  }

  // MARK: NSEntityMigrationPolicy

  /// The phases of a custom policy, and where each of them is.
  @Test func `Core Data, NSEntityMigrationPolicy: each phase has its place in a step`() throws {
    let phases = Calls()
    let model = Self.aircraft(2)
    let old = try PersistentStore(at: storeURL, model: model.dynamic(version: 1))
    try old.write { transaction in
      try transaction.save(
        DynamicRecord("Aircraft", ["id": 1, "flightData": .data(Data([1]))]))
    }
    try old.close()
    let step = MigrationStep(to: 2) {
      // begin(_:with:)
      RunBefore { _ in phases.add("begin") }
      // createDestinationInstances(forSource:in:manager:), createRelationships(forDestination:in:manager:): the keys
      // that are emitted are the relationships
      TransformRecords("Aircraft", into: "Aircraft", "FlightData") { old, emit in
        phases.add("createDestinationInstances")
        try Self.split(old, emit)
      }
      // performCustomValidation(forMapping:manager:)
      CheckRecords("each aircraft has its data") { snapshot in
        phases.add("performCustomValidation")
        let count = try snapshot.count(record: "FlightData")
        #expect(count == 1)
      }
      // endInstanceCreation, endRelationshipCreation, end(_:manager:)
      RunAfter { transaction in
        phases.add("end")
        let count = try transaction.count(record: "FlightData")
        #expect(count == 1)
      }
    }
    try PersistentStore(at: storeURL, model: model, steps: [step]).close()
    var order: [String] = []
    for phase in phases.all where order.last != phase { order.append(phase) }
    #expect(
      order == ["begin", "createDestinationInstances", "end", "performCustomValidation"])
  }
}
