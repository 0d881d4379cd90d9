public import Cambium
internal import Logging

/// The entities of a program, under the name of the version that they describe.
///
/// Entities are `Record` types. Versions are known by their names; their numbers are those of the store, and descriptions do
/// not depend on them.
public struct DataModel: Sendable {
  public let name: String
  public let entities: [any Record.Type]
  /// The entities of each configuration.
  public let configurations: [String: [any Record.Type]]
  /// The entities with the modifiers of a map; none if the types were listed.
  private let modified: [ModifiedEntity]

  /// - Parameters:
  ///   - name: The name of the version, which a store keeps as its label.
  ///   - entities: All types of the program.
  ///   - configurations: The types of each configuration: for a storage that has only those.
  public init(
    _ name: String, _ entities: [any Record.Type],
    configurations: [String: [any Record.Type]] = [:]
  ) {
    self.init(name, entities, configurations, modified: [])
  }

  /// Creates a data model of the entities that are properties of a map.
  ///
  /// ```swift
  /// let model = try DataModel("V1", CurrentEntityMap())
  /// ```
  ///
  /// - Parameters:
  ///   - name: The name of the version, which a store keeps as its label.
  ///   - map: The entities with their modifiers. Their values are not kept.
  /// - Throws: `StoreError.invalidDescription` for a property that is not a record, and for a map without properties.
  /// - Complexity: O(properties), by reflection.
  public init(_ name: String, _ map: EntityMap) throws(StoreError) {
    let entities = try map.entities
    var configurations: [String: [any Record.Type]] = [:]
    for entity in entities {
      for name in entity.configurations { configurations[name, default: []].append(entity.type) }
    }
    self.init(name, entities.map(\.type), configurations, modified: entities)
  }

  private init(
    _ name: String, _ entities: [any Record.Type], _ configurations: [String: [any Record.Type]],
    modified: [ModifiedEntity]
  ) {
    self.name = name
    self.entities = entities
    self.configurations = configurations
    self.modified = modified
  }
}

extension DataModel: CustomStringConvertible {
  public var description: String {
    "\(name): \(entities.map { "\($0)" }.joined(separator: ", "))"
  }
}

// MARK: - Modifiers of a map

extension DataModel {
  /// Refuses modifiers that say something else of how entities are stored than their descriptions.
  ///
  /// - Throws: `StoreError.invalidDescription`.
  fileprivate func checkModifiers() throws(StoreError) {
    if modified.isEmpty { return }
    let schema = try schema(in: nil)
    for entity in modified { try schema.check(entity) }
  }

  fileprivate func warnOfIgnoredModifiers(_ logger: Logger?) {
    for entity in modified {
      guard let first = entity.storages.first else { continue }
      for ignored in entity.storages.dropFirst() {
        logger?.warning(
          "\(entity.type) is stored as \(first) says; the modifier \(ignored) is ignored. Remove it.",
          metadata: ["model": "\(name)"])
      }
    }
  }
}

// MARK: - As a version

extension DataModel {
  /// Returns the version with a number.
  ///
  /// - Parameter origins: The origins of entities in the version before.
  func version(
    _ number: Int, origins: [String: RecordDescription] = [:]
  ) -> ModelVersion {
    ModelVersion(
      number, label: name, records: entities, describing: origins, configurations: configurations)
  }

  /// Returns the schema of the entities, or of those of a configuration.
  ///
  /// - Throws: `StoreError.invalidDescription`.
  func schema(in configuration: String?) throws(StoreError) -> Schema {
    let schemas = try StoreModel([version(1)]).part(configuration).schemas()
    return schemas[schemas.count - 1]
  }
}

extension StoreModel {
  func part(_ configuration: String?) throws(StoreError) -> StoreModel {
    guard let configuration else { return self }
    return try self.configuration(configuration)
  }
}

/// The place of a store.
public struct Storage: Hashable, Sendable {
  /// The path of its directory; nil in memory.
  public let path: String?
  /// The configuration whose entities it has; nil for all entities.
  public let configuration: String?

  /// A store in the directory at `path`.
  public static func file(_ path: String, configuration: String? = nil) -> Storage {
    Storage(path: path, configuration: configuration)
  }

  /// A store in memory.
  public static func inMemory(configuration: String? = nil) -> Storage {
    Storage(path: nil, configuration: configuration)
  }
}

extension Storage: CustomStringConvertible {
  public var description: String {
    let configuration = self.configuration.map { "configuration: \"\($0)\"" }
    guard let path else { return ".inMemory(\(configuration ?? ""))" }
    return ".file(\"\(path)\"\(configuration.map { ", \($0)" } ?? ""))"
  }
}

/// How a store is opened, as a policy may set it.
public struct StoreDescription: Sendable {
  public let storage: Storage
  public var options = StoreOptions()
  /// When a migration rewrites records; with `.refuse`, a store that is incompatible is never migrated.
  public var migration = MigrationMode.automatic
  /// The versions before the data model's that a new store counts.
  public var earlierVersions: [ModelVersion] = []
  /// Writes into a store that was just created.
  public var prepareStore: (@Sendable (inout WriteTransaction) throws -> Void)?
}

/// The stores of a data model, migrated by a policy.
///
/// ```swift
/// let container = try DataContainer.load(.file("notes.cambium"), dataModel: model, migrationPolicy: .lightWeight)
/// try container.store.save(note)
/// ```
public final class DataContainer: Sendable {
  /// In the order of the storages.
  public let stores: [PersistentStore]
  /// A report for each store that was opened.
  public let reports: [LoadReport]
  public let store: PersistentStore

  private init(_ first: LoadedStore, _ others: [LoadedStore]) {
    store = first.store
    stores = [first.store] + others.map(\.store)
    reports = [first.report] + others.map(\.report)
  }

  /// Opens the stores of a data model, or creates them. One that has another version is migrated as the policy says.
  ///
  /// - Parameters:
  ///   - storage: The place of the first store.
  ///   - others: The places of further ones.
  ///   - options: How the stores are opened; the policy may change it. Its logger is warned of modifiers of an
  ///     `EntityMap` that are ignored.
  /// - Throws: Errors of the policy; `MigrationError.incompatible` if it does not migrate a store, and `.failed` if
  ///   neither its migration nor the `lightWeightBackup` succeeds; and errors of
  ///   `PersistentStore(at:model:steps:migration:options:)`. The stores before stay migrated, and are closed.
  @discardableResult
  public static func load(
    _ storage: Storage, _ others: Storage..., dataModel: DataModel,
    migrationPolicy: some MigrationPolicy = LightWeightMigrationPolicy(),
    options: StoreOptions = StoreOptions()
  ) throws -> DataContainer {
    try dataModel.checkModifiers()
    var loaded: [LoadedStore] = []
    do {
      let first = try LoadedStore(storage, dataModel, migrationPolicy, options)
      loaded.append(first)
      for storage in others {
        loaded.append(try LoadedStore(storage, dataModel, migrationPolicy, options))
      }
      return DataContainer(first, Array(loaded.dropFirst()))
    } catch {
      for one in loaded { try? one.store.close() }
      throw error
    }
  }

  /// Closes the stores.
  ///
  /// - Throws: As `PersistentStore.close()`; the others are closed nevertheless.
  public func close() throws(StoreError) {
    var failure: StoreError?
    for store in stores {
      do throws(StoreError) { try store.close() } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }
}

/// A report of how a store was opened.
public struct LoadReport: Hashable, Sendable {
  /// The version that the store had; nil if it was created, or had no name.
  public let from: String?
  /// The version that it has.
  public let to: String
  public var isMigrated = false
  /// Why the migration that was written could not be done, if it was inferred instead.
  public var lightWeightBackup: StoreError?
}

extension LoadReport: CustomStringConvertible {
  public var description: String {
    guard isMigrated else {
      return from == nil ? "Created with version \(to)" : "Opened with version \(to)"
    }
    let result = "Migrated from \(from ?? "a version without a name") to \(to)"
    return lightWeightBackup.map { "\(result), as inferred, since its migration failed: \($0)" }
      ?? result
  }
}

/// A store as it was opened.
private struct LoadedStore {
  let store: PersistentStore
  private(set) var report: LoadReport

  init(
    _ storage: Storage, _ dataModel: DataModel, _ policy: some MigrationPolicy,
    _ options: StoreOptions
  ) throws {
    let stored = try StoredModel(storage)
    let isCompatible = try stored.isCompatible(with: dataModel)
    if policy.forceValidateModel || !isCompatible {
      try policy.validateModel(dataModel, in: stored)
    }
    var description = StoreDescription(storage: storage, options: options)
    policy.configureStoreDescription(&description)
    dataModel.warnOfIgnoredModifiers(description.options.logger)
    report = LoadReport(from: stored.name, to: dataModel.name)
    if stored.schemas.isEmpty {
      store = try Self.create(description, dataModel)
    } else if isCompatible {
      store = try Self.open(description, stored, [dataModel.version(stored.version)])
    } else {
      guard let migration = try policy.resolveIncompatible(dataModel: dataModel, in: stored) else {
        throw MigrationError.incompatible(stored: stored.name, model: dataModel.name)
      }
      report.isMigrated = true
      do throws(StoreError) {
        store = try Self.open(description, stored, migration.versions, migration.steps)
      } catch {
        guard migration.lightWeightBackup, error.isOfMigration else { throw error }
        report.lightWeightBackup = error
        store = try Self.openInferred(description, stored, dataModel, after: error)
      }
    }
  }

  /// Opens a store whose migration has failed by one that is inferred.
  private static func openInferred(
    _ description: StoreDescription, _ stored: StoredModel, _ dataModel: DataModel,
    after failure: StoreError
  ) throws(MigrationError) -> PersistentStore {
    do throws(StoreError) {
      return try open(description, stored, [dataModel.version(stored.version + 1)])
    } catch {
      throw .failed(failure, lightWeightBackup: error)
    }
  }

  private static func create(
    _ description: StoreDescription, _ dataModel: DataModel
  ) throws -> PersistentStore {
    let newest = dataModel.version(description.earlierVersions.count + 1)
    let model = try StoreModel(description.earlierVersions + [newest])
      .part(description.storage.configuration)
    let store =
      if let path = description.storage.path {
        try PersistentStore(
          at: path, model: model, migration: description.migration, options: description.options)
      } else {
        try PersistentStore(inMemory: model, options: description.options)
      }
    if let prepare = description.prepareStore { try store.write { try prepare(&$0) } }
    return store
  }

  private static func open(
    _ description: StoreDescription, _ stored: StoredModel, _ versions: [ModelVersion],
    _ steps: [MigrationStep] = []
  ) throws(StoreError) -> PersistentStore {
    try PersistentStore(
      at: stored.path, model: try stored.model(with: versions), steps: steps,
      migration: description.migration, options: description.options)
  }
}

extension StoreError {
  /// True if a store could not be migrated, and is unchanged.
  fileprivate var isOfMigration: Bool {
    switch self {
    case .cannotMigrate, .stepFailed: true
    default: false
    }
  }
}
