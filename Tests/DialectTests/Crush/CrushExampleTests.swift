import Cambium
import CambiumCrush
import FoundationEssentials
import Logging
import TestSupport
import Testing

/// The code of Crush's article “Versioning and Migration”, in its order, each block beside the one that runs, on data of its
/// version and of the one after. `Scripts/kept-lines` counts the lines of theirs that are kept.
@Suite struct CrushExampleTests {
  private let directory: TemporaryDirectory
  private var file: Storage { .file(directory.path + "/store") }

  init() throws {
    directory = try TemporaryDirectory()
  }

  // MARK: Model Declaration

  struct AbstractEntity: Record, Identifiable, Equatable {
    var id = 0
    var name = ""

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Field(name: "name", type: .string)
      Abstract()
    }
  }

  struct EmbeddedEntity: Record, Identifiable, Equatable {
    var id = 0

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
      Abstract()
    }
  }

  struct ConcreteEntity: Record, Identifiable, Equatable {
    var id = 0

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
    }
  }

  struct Kind: Record, Equatable {
    var base = AbstractEntity()
    var size = 0

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(AbstractEntity.self, property: "base")
      Field(name: "size", type: .integer)
    }
  }

  struct EmbeddedKind: Record, Equatable {
    var base = EmbeddedEntity()

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(EmbeddedEntity.self, property: "base")
    }
  }

  // Theirs:
  // | class CurrentEntityMap: EntityMap {
  // |     @Abstract(inheritance: .singleTable)
  // |     var abstractEntity = AbstractEntity()
  // |
  // |     @Configuration("CONF")
  // |     @Configuration("ANOTHER CONF")
  // |     @Abstract(inheritance: .singleTable)
  // |     @Abstract(inheritance: .multiTable) // This modifier will be ignored
  // |     var embeddedEntity = EmbeddedEntity()
  // |
  // |     @Concrete
  // |     @Configuration("CONF")
  // |     var concreteEntity = ConcreteEntity()
  // | }
  // Ours:
  class CurrentEntityMap: EntityMap {
    @Abstract(inheritance: .singleTable)
    var abstractEntity = AbstractEntity()

    @Configuration("CONF")
    @Configuration("ANOTHER CONF")
    @Abstract(inheritance: .singleTable)
    @Abstract(inheritance: .multiTable)  // This modifier will be ignored
    var embeddedEntity = EmbeddedEntity()

    @Concrete
    @Configuration("CONF")
    var concreteEntity = ConcreteEntity()

    // An abstract entity has a kind in the model, or nothing could be stored.
    var kind = Kind()

    @Configuration("CONF")
    @Configuration("ANOTHER CONF")
    var embeddedKind = EmbeddedKind()
  }
  // End of ours.

  // "CONF" includes EmbeddedEntity and ConcreteEntity.
  // "ANOTHER CONF" includes noly EmbeddedEntity.
  @Test func `Crush, Model Declaration: entities are abstract or concrete, and in configurations`()
    throws
  {
    let container = try DataContainer.load(
      file, .file(directory.path + "/conf", configuration: "CONF"),
      .inMemory(configuration: "ANOTHER CONF"), dataModel: DataModel("V1", CurrentEntityMap()))
    let kind = Kind(base: AbstractEntity(id: 1, name: "one"), size: 2)
    try container.store.save(kind)
    #expect(try container.store.fetch(AbstractEntity.self) == [kind.base])
    #expect(storeError { try container.store.save(AbstractEntity(id: 2, name: "two")) } != nil)
    let conf = container.stores[1]
    #expect(conf.schema.records.map(\.name) == ["ConcreteEntity", "EmbeddedEntity"])
    try conf.save(ConcreteEntity(id: 3))
    #expect(container.stores[2].schema.records.map(\.name) == ["EmbeddedEntity"])
    try container.close()
    // At the next version each has what it had.
    let again = try DataContainer.load(
      file, .file(directory.path + "/conf", configuration: "CONF"),
      dataModel: DataModel("V2", CurrentEntityMap()))
    #expect(again.reports.map(\.isMigrated) == [true, true])
    #expect(try again.store.fetch(Kind.self) == [kind])
    #expect(try again.stores[1].fetch(ConcreteEntity.self) == [ConcreteEntity(id: 3)])
    try again.close()
  }

  @Test func `Crush, Model Declaration: a second storage modifier is ignored, with a warning`()
    throws
  {
    let lines = Calls()
    var options = StoreOptions()
    options.logger = Logger(label: "test") { _ in
      var log = Lines(calls: lines)
      log.logLevel = .warning
      return log
    }
    let container = try DataContainer.load(
      file, dataModel: DataModel("V1", CurrentEntityMap()), options: options)
    // The first one holds: the kinds of the entity share its table.
    #expect(
      container.store.schema.records.map(\.name)
        == ["AbstractEntity", "ConcreteEntity", "EmbeddedEntity"])
    try container.close()
    #expect(
      lines.all == [
        "EmbeddedEntity is stored as @Abstract(inheritance: .singleTable) says; the modifier"
          + " @Abstract(inheritance: .multiTable) is ignored. Remove it."
      ])
  }

  private struct CopiedKind: Record {
    var base = AbstractEntity()

    static func recordDescription(for version: Int) -> RecordDescription {
      Parent(AbstractEntity.self, property: "base", storage: .copied)
    }
  }

  private final class SharedAbstract: EntityMap {
    @Abstract(inheritance: .singleTable) private var entity = AbstractEntity()
    private var kind = CopiedKind()
  }

  private final class CopiedAbstract: EntityMap {
    @Abstract(inheritance: .multiTable) private var entity = AbstractEntity()
    private var kind = Kind()
  }

  private final class AbstractConcrete: EntityMap {
    @Abstract(inheritance: .singleTable) private var entity = ConcreteEntity()
  }

  private final class ConcreteAbstract: EntityMap {
    @Concrete private var entity = AbstractEntity()
    private var kind = Kind()
  }

  private final class NoRecord: EntityMap {
    private var number = 7
  }

  private final class Copies: EntityMap {
    @Abstract(inheritance: .multiTable) private var entity = AbstractEntity()
    private var kind = CopiedKind()
  }

  private class Base: EntityMap {
    private var concrete = ConcreteEntity()
  }

  private final class Derived: Base {
    private var abstract = AbstractEntity()
    @Concrete private var kind = Kind()
  }

  @Test func `a map says of its entities what their descriptions say, or it is refused`() throws {
    func refusal(_ map: EntityMap) -> String {
      let error = storeError {
        try DataContainer.load(.inMemory(), dataModel: DataModel("V1", map)).close()
      }
      return error.map { "\($0)" } ?? "none"
    }
    #expect(refusal(Copies()) == "none")
    #expect(refusal(SharedAbstract()).contains("leave that out of their `Parent`"))
    #expect(refusal(CopiedAbstract()).contains("add storage: .copied to their `Parent`"))
    #expect(refusal(AbstractConcrete()).contains("add `Abstract()` to it"))
    #expect(refusal(ConcreteAbstract()).contains("leave `Abstract()` out of it"))
    #expect(refusal(NoRecord()).contains("NoRecord.number"))
    #expect(refusal(EntityMap()).contains("it has no properties that can be found"))
    // The entities of a superclass are in the map, too.
    #expect(refusal(Derived()) == "none")
    let model = try DataModel("V1", Derived())
    #expect("\(model)" == "V1: ConcreteEntity, AbstractEntity, Kind")
  }

  // MARK: Lightweight Migration

  private enum V1 {
    struct NewEntity: Record, Identifiable, Equatable {
      var objectID = UUID()
      var newProperty: String?
      var anotherProperty: String?
      var id: UUID { objectID }

      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "objectID", type: .uuid)
        Field(name: "newProperty", type: .string, optional: true)
        Field(name: "anotherProperty", type: .string, optional: true)
      }
    }
  }

  private enum V2 {
    struct NewEntity: Record, Identifiable, Equatable {
      var objectID = UUID()
      var newProperty: String?
      var id: UUID { objectID }

      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "objectID", type: .uuid)
        Field(name: "newProperty", type: .string, optional: true)
      }
    }
  }

  private static let v1 = DataModel("V1", [V1.NewEntity.self])
  private static let v2 = DataModel("V2", [V2.NewEntity.self])
  private let old = V1.NewEntity(newProperty: "new", anotherProperty: "another")
  private var new: V2.NewEntity { V2.NewEntity(objectID: old.objectID, newProperty: "new") }

  /// Makes a store of the first version, or of another with the same entities.
  private func makeStore(named name: String = "V1") throws {
    let container = try DataContainer.load(file, dataModel: DataModel(name, Self.v1.entities))
    try container.store.save(old)
    try container.close()
  }

  /// Expects that a container has the one record of the second version, and closes it.
  private func expectNew(
    _ container: DataContainer, version: Int? = nil,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let found = try container.store.fetch(V2.NewEntity.self)
    #expect(found == [new], sourceLocation: sourceLocation)
    #expect(container.store.schema.label == "V2", sourceLocation: sourceLocation)
    if let version {
      #expect(container.store.schema.version == version, sourceLocation: sourceLocation)
    }
    try container.close()
    let faults = try PersistentStore.check(at: container.store.path, .deep).faults
    #expect(faults == [], sourceLocation: sourceLocation)
  }

  @Test func `Crush, Lightweight Migration: the changes are inferred`() throws {
    try makeStore()
    // Theirs:
    // | try DataContainer.load(
    // |     ...
    // |     migrationPolicy: .lightweight
    // | )
    // Ours:
    try DataContainer.load(
      file, dataModel: Self.v2,
      migrationPolicy: .lightweight
    ).close()
    // End of ours.
    let again = try DataContainer.load(file, dataModel: Self.v2, migrationPolicy: .lightweight)
    #expect(!again.reports[0].isMigrated && again.store.schema.version == 2)
    try expectNew(again)
  }

  @Test func `Crush, the policy error migrates nothing`() throws {
    try makeStore()
    #expect(throws: MigrationError.incompatible(stored: "V1", model: "V2")) {
      try DataContainer.load(file, dataModel: Self.v2, migrationPolicy: .error)
    }
    let same = try DataContainer.load(file, dataModel: Self.v1, migrationPolicy: .error)
    #expect(try same.store.fetch(V1.NewEntity.self) == [old])
    try same.close()
  }

  // MARK: Ad-Hoc

  private struct Other: Record, Identifiable, Equatable {
    var id: Int

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "id", type: .integer)
    }
  }

  private static let adHoc = [
    AdHocMigration("OLD_SCHEMA") {
      AddEntity("NewEntity") {
        AddAttribute("newProperty", attributeType: .stringAttributeType)
      }
    }
  ]

  @Test func `Crush, Ad-Hoc: a migration leads from a version by its name`() throws {
    let oldSchema = try DataContainer.load(file, dataModel: DataModel("OLD_SCHEMA", [Other.self]))
    try oldSchema.store.save(Other(id: 7))
    try oldSchema.close()
    let dataModel = DataModel("V2", [Other.self, V2.NewEntity.self])
    // Theirs:
    // | try DataContainer.load(
    // |     ...
    // |     migrationPolicy: .adHoc(
    // |         migrations: [
    // |             AdHocMigration("OLD_SCHEMA") {
    // |                 AddEntity("NewEntity") {
    // |                     AddAttribute("newProperty", attributeType: .stringAttributeType)
    // |                 }
    // |             }
    // |         ]
    // |     )
    // | )
    // Ours:
    try DataContainer.load(
      file, dataModel: dataModel,
      migrationPolicy: .adHoc(
        migrations: [
          AdHocMigration("OLD_SCHEMA") {
            AddEntity("NewEntity") {
              AddAttribute("newProperty", attributeType: .stringAttributeType)
            }
          }
        ]
      )
    ).close()
    // End of ours.
    let container = try DataContainer.load(file, dataModel: dataModel, migrationPolicy: .error)
    #expect(try container.store.fetch(Other.self) == [Other(id: 7)])
    try container.store.save(new)
    #expect(try container.store.fetch(V2.NewEntity.self) == [new])
    try container.close()
  }

  /// Theirs goes on without the transforms, which then are never made.
  @Test func `Crush, Ad-Hoc: a version without a migration is refused`() throws {
    try makeStore(named: "UNKNOWN")
    #expect(throws: MigrationError.incompatible(stored: "UNKNOWN", model: "V2")) {
      try DataContainer.load(
        file, dataModel: Self.v2, migrationPolicy: .adHoc(migrations: Self.adHoc))
    }
    let container = try DataContainer.load(
      file, dataModel: Self.v2,
      migrationPolicy: .adHoc(migrations: Self.adHoc, lightWeightBackup: true))
    try expectNew(container)
  }

  @Test func `Crush, Ad-Hoc: a migration that does not fit the store or the model is refused`()
    throws
  {
    try makeStore()
    func refusal(
      @ListBuilder<any EntityMigration> _ changes: () -> [any EntityMigration]
    ) -> String {
      let migration = AdHocMigration("V1", changes)
      do {
        try DataContainer.load(
          file, dataModel: Self.v2, migrationPolicy: .adHoc(migrations: [migration])
        ).close()
        return "none"
      } catch { return "\(error)" }
    }
    let absent = refusal { UpdateEntity("Gone") {} }
    #expect(absent.contains("there is no entity Gone; there are: NewEntity"), "\(absent)")
    let unknown = refusal { UpdateEntity("NewEntity") { RemoveAttribute("nothing") } }
    #expect(unknown.contains("NewEntity has no property nothing"), "\(unknown)")
    let double = refusal {
      UpdateEntity("NewEntity") { AddAttribute("newProperty", type: .string) }
    }
    #expect(double.contains("has a property newProperty already"), "\(double)")
    let more = refusal { UpdateEntity("NewEntity") { AddAttribute("more", type: .string) } }
    #expect(more.contains("the data model has no property NewEntity.more"), "\(more)")
    let added = refusal { AddEntity("Added") }
    #expect(added.contains("the data model has no entity Added"), "\(added)")
    let removed = refusal { RemoveEntity("NewEntity") }
    #expect(removed.contains("the data model has NewEntity"), "\(removed)")
  }

  // MARK: Incremental

  private static let chain = MigrationChain {
    ModelMigration("V1") {
      AddEntity("NewEntity") {
        AddAttribute("newProperty", attributeType: .stringAttributeType)
        AddAttribute("anotherProperty", attributeType: .stringAttributeType)
      }
    }
    ModelMigration("V2") {
      UpdateEntity("NewEntity") {
        RemoveAttribute("anotherProperty")
      }
    }
  }

  @Test func `Crush, Incremental: a chain leads from version to version`() throws {
    try makeStore()
    // Their `migrationPilocy:` is a misprint.
    // Theirs:
    // | try DataContainer.load(
    // |     migrationPilocy: .incremental(
    // |         MigrationChain {
    // |             ModelMigration("V1") {
    // |                 AddEntity("NewEntity") {
    // |                     AddAttribute("newProperty", attributeType: .stringAttributeType)
    // |                     AddAttribute("anotherProperty", attributeType: .stringAttributeType)
    // |                 }
    // |             }
    // |             ModelMigration("V2") {
    // |                 UpdateEntity("NewEntity") {
    // |                     RemoveAttribute("anotherProperty")
    // |                 }
    // |             }
    // |         }
    // |     )
    // | )
    // Ours:
    try DataContainer.load(
      file, dataModel: Self.v2,
      migrationPolicy: .incremental(
        MigrationChain {
          ModelMigration("V1") {
            AddEntity("NewEntity") {
              AddAttribute("newProperty", attributeType: .stringAttributeType)
              AddAttribute("anotherProperty", attributeType: .stringAttributeType)
            }
          }
          ModelMigration("V2") {
            UpdateEntity("NewEntity") {
              RemoveAttribute("anotherProperty")
            }
          }
        }
      )
    ).close()
    // End of ours.
    let again = try DataContainer.load(
      file, dataModel: Self.v2, migrationPolicy: .incremental(Self.chain))
    #expect(!again.reports[0].isMigrated)
    try expectNew(again, version: 2)
  }

  @Test func `Crush, Incremental: a new store has the last version, under its place in the chain`()
    throws
  {
    let container = try DataContainer.load(
      file, dataModel: Self.v2, migrationPolicy: .incremental(Self.chain))
    try container.store.save(new)
    try expectNew(container, version: 2)
  }

  @Test func `Crush, Incremental: a version that is not in the chain is refused`() throws {
    try makeStore(named: "UNKNOWN")
    #expect(throws: MigrationError.incompatible(stored: "UNKNOWN", model: "V2")) {
      try DataContainer.load(
        file, dataModel: Self.v2, migrationPolicy: .incremental(Self.chain))
    }
  }

  @Test func `Crush, Incremental: a store that is not what the chain says is refused`() throws {
    let container = try DataContainer.load(file, dataModel: DataModel("V1", Self.v2.entities))
    try container.close()
    let error = storeError {
      try DataContainer.load(
        file, dataModel: Self.v2, migrationPolicy: .incremental(Self.chain))
    }
    guard case .schemaMismatch(1, let differences) = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    #expect(differences.map(\.description).joined().contains("anotherProperty"))
  }

  /// The names of versions tell which they are: the numbers are the store's.
  @Test func `Crush, Incremental: a chain goes on with a store that has other numbers`() throws {
    let path = directory.path + "/store"
    let gone = RecordDescription.one(Field(primaryKey: true, name: "id", type: .integer))
    let counted = StoreModel([
      ModelVersion(1, label: "ALPHA", describing: ["Gone": gone]),
      ModelVersion(2, label: "BETA", describing: ["Gone": gone]),
      ModelVersion(3, label: "V1", records: Self.v1.entities),
    ])
    let store = try PersistentStore(at: path, model: counted)
    try store.save(old)
    try store.close()
    let run = Flag()
    try expectNew(
      try DataContainer.load(
        file, dataModel: Self.v2, migrationPolicy: Self.composite(from: "V1", run)), version: 4)
    #expect(run.isSet)
  }

  @Test func `Crush, a chain that does not lead to the data model prints the difference`() throws {
    let error = #expect(throws: ChainMigratorIncompatibleModelError.self) {
      try DataContainer.load(
        file, dataModel: DataModel("V2", Self.v1.entities),
        migrationPolicy: .incremental(Self.chain))
    }
    #expect(error?.differences.map(\.field) == ["anotherProperty"])
    #expect(error.map { "\($0)" }?.contains("NewEntity.anotherProperty") ?? false)
    let unnamed = #expect(throws: ChainMigratorIncompatibleModelError.self) {
      try DataContainer.load(
        file, dataModel: DataModel("V3", Self.v2.entities),
        migrationPolicy: .incremental(Self.chain))
    }
    #expect(unnamed.map { "\($0)" }?.contains("ends with V2") ?? false)
  }

  // MARK: Composite

  private static func composite(from name: String, _ run: Flag = Flag()) -> ChainMigrationPolicy {
    .composite(
      adHoc: [
        AdHocMigration(name) {
          UpdateEntity("NewEntity") {
            RemoveAttribute("anotherProperty")
            UpdateAttribute("newProperty", transform: { run.set(of: $0) })
          }
        }
      ], chain: chain)
  }

  @Test func `Crush, Composite: the ad hoc migration is taken from its version`() throws {
    try makeStore()
    let run = Flag()
    try expectNew(
      try DataContainer.load(
        file, dataModel: Self.v2, migrationPolicy: Self.composite(from: "V1", run)), version: 2)
    #expect(run.isSet)
  }

  /// Theirs stops there, and skips the chain.
  /// The name of an ad hoc migration is that of the version that it leads from, so theirs fits no store.
  @Test func `Crush, Composite: the chain is taken where no ad hoc migration fits`() throws {
    try makeStore()
    // Theirs:
    // | try DataContainer.load(
    // |     migrationPilocy: .composite(
    // |         adHoc: [
    // |             AdHocMigration("V1ToV2") {
    // |                 UpdateEntity("NewEntity") {
    // |                     RemoveAttribute("anotherProperty")
    // |                 }
    // |             }
    // |         ],
    // |         chain: MigrationChain {
    // |             ModelMigration("V1") {
    // |                 AddEntity("NewEntity") {
    // |                     AddAttribute("newProperty", attributeType: .stringAttributeType)
    // |                     AddAttribute("anotherProperty", attributeType: .stringAttributeType)
    // |                 }
    // |             }
    // |             ModelMigration("V2") {
    // |                 UpdateEntity("NewEntity") {
    // |                     RemoveAttribute("anotherProperty")
    // |                 }
    // |             }
    // |         }
    // |     )
    // | )
    // Ours:
    try DataContainer.load(
      file, dataModel: Self.v2,
      migrationPolicy: .composite(
        adHoc: [
          AdHocMigration("V1ToV2") {
            UpdateEntity("NewEntity") {
              RemoveAttribute("anotherProperty")
            }
          }
        ],
        chain: MigrationChain {
          ModelMigration("V1") {
            AddEntity("NewEntity") {
              AddAttribute("newProperty", attributeType: .stringAttributeType)
              AddAttribute("anotherProperty", attributeType: .stringAttributeType)
            }
          }
          ModelMigration("V2") {
            UpdateEntity("NewEntity") {
              RemoveAttribute("anotherProperty")
            }
          }
        }
      )
    ).close()
    // End of ours.
    let run = Flag()
    try expectNew(
      try DataContainer.load(
        file, dataModel: Self.v2, migrationPolicy: Self.composite(from: "V1ToV2", run)), version: 2)
    #expect(!run.isSet)
  }

  @Test func `Crush, Composite: an ad hoc migration leads from a version beside the chain`() throws
  {
    try makeStore(named: "BETA")
    let run = Flag()
    try expectNew(
      try DataContainer.load(
        file, dataModel: Self.v2, migrationPolicy: Self.composite(from: "BETA", run)), version: 2)
    #expect(run.isSet)
    #expect(throws: MigrationError.self) {
      let beside = Storage.file(directory.path + "/other")
      try DataContainer.load(beside, dataModel: DataModel("GAMMA", Self.v1.entities)).close()
      try DataContainer.load(
        beside, dataModel: Self.v2, migrationPolicy: Self.composite(from: "BETA"))
    }
  }

  // MARK: lightWeightBackup

  private struct Fault: Error {}

  private static func failing(lightWeightBackup: Bool) -> AdHocMigrationPolicy {
    .adHoc(
      migrations: [
        AdHocMigration("V1") {
          UpdateEntity("NewEntity") {
            RemoveAttribute("anotherProperty")
            UpdateAttribute(
              "newProperty",
              transform: { (_: FieldValue) throws -> FieldValue in throw Fault() })
          }
        }
      ], lightWeightBackup: lightWeightBackup)
  }

  @Test func `M2: where a step fails, the migration is inferred if that is allowed, and reported`()
    throws
  {
    try makeStore()
    let error = storeError {
      try DataContainer.load(
        file, dataModel: Self.v2, migrationPolicy: Self.failing(lightWeightBackup: false))
    }
    guard case .stepFailed = error else {
      return #expect(Bool(false), "\(String(describing: error))")
    }
    let same = try DataContainer.load(file, dataModel: Self.v1, migrationPolicy: .error)
    #expect(try same.store.fetch(V1.NewEntity.self) == [old])
    try same.close()
    let container = try DataContainer.load(
      file, dataModel: Self.v2, migrationPolicy: Self.failing(lightWeightBackup: true))
    #expect(container.reports[0].lightWeightBackup == error)
    try expectNew(container)
  }

  private enum Sized {
    struct NewEntity: Record, Identifiable {
      var objectID = UUID()
      var newProperty: String?
      var size: Int
      var id: UUID { objectID }

      static func recordDescription(for version: Int) -> RecordDescription {
        Field(primaryKey: true, name: "objectID", type: .uuid)
        Field(name: "newProperty", type: .string, optional: true)
        Field(name: "size", type: .integer)
      }
    }
  }

  @Test
  func `where a migration and the one that is inferred instead both fail, both errors are told`()
    throws
  {
    try makeStore()
    let migration = AdHocMigration("V1") {
      UpdateEntity("NewEntity") {
        RemoveAttribute("anotherProperty")
        AddAttribute("size", type: .integer).valueForExistingObject {
          (_: OldRecord) throws -> Int in throw Fault()
        }
      }
    }
    let error = #expect(throws: MigrationError.self) {
      try DataContainer.load(
        file, dataModel: DataModel("V2", [Sized.NewEntity.self]),
        migrationPolicy: .adHoc(migrations: [migration], lightWeightBackup: true))
    }
    guard case .failed(let first, let second) = error, case .stepFailed = first,
      case .cannotMigrate = second
    else { return #expect(Bool(false), "\(String(describing: error))") }
    let text = error.map { "\($0)" } ?? ""
    #expect(text.contains("\(first)") && text.contains("\(second)"))
    let same = try DataContainer.load(file, dataModel: Self.v1, migrationPolicy: .error)
    #expect(try same.store.fetch(V1.NewEntity.self) == [old])
    try same.close()
  }

  // MARK: forceValidateModel

  @Test func `without forceValidateModel, a chain is compared only for a store that is migrated`()
    throws
  {
    // The chain leads to another V2.
    let model = DataModel("V2", [Other.self])
    func load(_ isForced: Bool) throws {
      try DataContainer.load(
        file, dataModel: model,
        migrationPolicy: .incremental(
          Self.chain, lightWeightBackup: false, forceValidateModel: isForced)
      ).close()
    }
    #expect(throws: ChainMigratorIncompatibleModelError.self) { try load(false) }
    try DataContainer.load(file, dataModel: model).close()
    try load(false)
    #expect(throws: ChainMigratorIncompatibleModelError.self) { try load(true) }
    try DataContainer.load(
      file, dataModel: model,
      migrationPolicy: .composite(adHoc: [], chain: Self.chain, forceValidateModel: false)
    ).close()
    try DataContainer.load(
      file, dataModel: model, migrationPolicy: .adHoc(migrations: [], forceValidateModel: true)
    ).close()
  }

  // MARK: attributeType

  private struct Attributes: Record, Identifiable {
    struct Tag: Codable, Sendable { var text: String }

    var objectID = UUID()
    var int16: Int16?
    var int32: Int32?
    var int64: Int64?
    var decimal: Decimal?
    var double: Double?
    var float: Float?
    var string: String
    var boolean: Bool?
    var date: Date?
    var data: Data?
    var uuid: UUID?
    var url: URL?
    var tag: Tag?
    var id: UUID { objectID }

    static func recordDescription(for version: Int) -> RecordDescription {
      Field(primaryKey: true, name: "objectID", type: .uuid)
      Field(name: "int16", type: .int16, optional: true)
      Field(name: "int32", type: .int32, optional: true)
      Field(name: "int64", type: .int64, optional: true)
      Field(name: "decimal", type: .decimal, optional: true)
      Field(name: "double", type: .double, optional: true)
      Field(name: "float", type: .float, optional: true)
      Field(name: "string", type: .string)
      Field(name: "boolean", type: .boolean, optional: true)
      Field(name: "date", type: .date, optional: true)
      Field(name: "data", type: .binaryData, optional: true)
      Field(name: "uuid", type: .uuid, optional: true)
      Field(name: "url", type: .url, optional: true)
      Field(name: "tag", type: .transformable, optional: true)
    }
  }

  @Test func `types of attributes have Core Data's names, and are optional as theirs are`() throws {
    let chain = MigrationChain {
      ModelMigration("V1") {
        AddEntity("Attributes") {
          AddAttribute("int16", attributeType: .integer16AttributeType)
          AddAttribute("int32", attributeType: .integer32AttributeType)
          AddAttribute("int64", attributeType: .integer64AttributeType)
          AddAttribute("decimal", attributeType: .decimalAttributeType)
          AddAttribute("double", attributeType: .doubleAttributeType)
          AddAttribute("float", attributeType: .floatAttributeType)
          AddAttribute("string", attributeType: .stringAttributeType, isOptional: false)
          AddAttribute("boolean", attributeType: .booleanAttributeType)
          AddAttribute("date", attributeType: .dateAttributeType)
          AddAttribute("data", attributeType: .binaryDataAttributeType)
          AddAttribute("uuid", attributeType: .UUIDAttributeType)
          AddAttribute("url", attributeType: .URIAttributeType)
          AddAttribute("tag", attributeType: .transformableAttributeType)
        }
      }
    }
    // The last version of a chain is the data model, or this throws.
    let model = try chain.storeModel(for: DataModel("V1", [Attributes.self]))
    #expect(model.version == 1)
  }

  // MARK: What is printed

  @Test func `places, models, migrations, policies and reports print as they are written`() throws {
    #expect(
      "\(Storage.file("a/b", configuration: "CONF"))" == ".file(\"a/b\", configuration: \"CONF\")")
    #expect("\(Storage.file("a/b"))" == ".file(\"a/b\")")
    #expect("\(Storage.inMemory())" == ".inMemory()")
    #expect("\(Self.v2)" == "V2: NewEntity")
    #expect("\(Self.chain)" == "V1 → V2")
    #expect("\(ModelMigration("V1") { CopyEntity("Other") })" == "ModelMigration(\"V1\")")
    #expect("\(LightWeightMigrationPolicy())" == ".lightWeight")
    #expect(
      "\(Self.failing(lightWeightBackup: true))" == ".adHoc(migrations: [AdHocMigration(\"V1\")])")
    #expect(
      "\(Self.composite(from: "V1"))"
        == ".composite(adHoc: [AdHocMigration(\"V1\")], chain: V1 → V2)")
    try makeStore()
    func report(_ model: DataModel, _ policy: AdHocMigrationPolicy) throws -> String {
      let container = try DataContainer.load(file, dataModel: model, migrationPolicy: policy)
      defer { try? container.close() }
      return "\(container.reports[0])"
    }
    #expect(
      try report(Self.v1, Self.failing(lightWeightBackup: true)) == "Opened with version V1")
    let migrated = try report(Self.v2, Self.failing(lightWeightBackup: true))
    #expect(migrated.hasPrefix("Migrated from V1 to V2, as inferred, since its migration failed: "))
  }

  // MARK: Custom migration

  /// Subclassing is a conformance here.
  private struct CustomPolicy: MigrationPolicy {
    let calls: Calls

    func validateModel(_ dataModel: DataModel, in store: StoredModel) throws {
      calls.add("validateModel \(dataModel.name) in \(store.name ?? "nothing")")
    }

    func configureStoreDescription(_ description: inout StoreDescription) {
      calls.add("configureStoreDescription")
      description.migration = .deferred
    }

    func resolveIncompatible(
      dataModel: DataModel, in store: StoredModel
    ) throws -> StoreMigration? {
      calls.add("resolveIncompatible \(store.schemas.count)")
      return StoreMigration(to: dataModel, from: store) {
        UpdateRecord("NewEntity") {
          UpdateField("newProperty", by: { old in try old.as(String.self)?.uppercased() })
        }
      }
    }
  }

  @Test func `K18: a policy of the program's own decides what happens to a store`() throws {
    let calls = Calls()
    try makeStore()
    let container = try DataContainer.load(
      file, dataModel: Self.v2, migrationPolicy: CustomPolicy(calls: calls))
    #expect(try container.store.fetch(V2.NewEntity.self).map(\.newProperty) == ["NEW"])
    try container.close()
    #expect(
      calls.all == [
        "validateModel V2 in V1", "configureStoreDescription", "resolveIncompatible 1",
      ])
    try DataContainer.load(file, dataModel: Self.v2, migrationPolicy: CustomPolicy(calls: calls))
      .close()
    #expect(calls.all.count == 5)
  }
}

extension RecordDescription {
  @ResultBuilder static func one(_ field: Field) -> RecordDescription { field }
}

/// Whether a closure ran.
private final class Flag: Sendable {
  private let calls = Calls()
  var isSet: Bool { !calls.all.isEmpty }

  func set(of value: FieldValue) -> FieldValue {
    calls.add("\(value)")
    return value
  }
}
