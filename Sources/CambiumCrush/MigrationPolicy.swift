public import Cambium

/// Decides what is done with a store that has another version than the data model.
///
/// Opening a store calls `validateModel`, unless the store is compatible and `forceValidateModel` is false;
/// `configureStoreDescription`; and `resolveIncompatible` if the store is incompatible; in this order. A program may write a
/// policy of its own:
///
/// ```swift
/// struct NewestOnly: MigrationPolicy {
///   func resolveIncompatible(dataModel: DataModel, in store: StoredModel) throws -> StoreMigration? {
///     store.name == "V7" ? StoreMigration(to: dataModel, from: store) : nil
///   }
/// }
/// ```
public protocol MigrationPolicy: Sendable {
  /// False to validate the data model only for a store that is created or migrated; true by default.
  var forceValidateModel: Bool { get }
  /// Refuses a data model that the policy is not made for.
  func validateModel(_ dataModel: DataModel, in store: StoredModel) throws
  /// Sets how the store is opened.
  func configureStoreDescription(_ description: inout StoreDescription)
  /// Returns how a store becomes one of the data model; nil to refuse it.
  func resolveIncompatible(dataModel: DataModel, in store: StoredModel) throws -> StoreMigration?
}

extension MigrationPolicy {
  public var forceValidateModel: Bool { true }
  public func validateModel(_ dataModel: DataModel, in store: StoredModel) throws {}
  public func configureStoreDescription(_ description: inout StoreDescription) {}
}

/// Why a store is not opened.
public enum MigrationError: Error, Hashable, Sendable {
  /// The policy does not migrate a store of this version.
  case incompatible(stored: String?, model: String)
  /// The policy's migration failed, and so did the one that was inferred instead.
  case failed(StoreError, lightWeightBackup: StoreError)
}

extension MigrationError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .incompatible(let stored, let model):
      "The store has the version \(stored ?? "without a name"), which the policy does not migrate to \(model). Add a migration"
        + " from it, or allow `lightWeightBackup`; nothing was changed."
    case .failed(let migration, let backup):
      "The migration of the policy failed, and so did the one that was inferred as its `lightWeightBackup`. The first:"
        + " \(migration) The second: \(backup)"
    }
  }
}

/// The description that a store has of itself, read before it is opened.
public struct StoredModel: Sendable {
  /// The path of the store; empty in memory.
  public let path: String
  /// The configuration whose entities it is opened for; nil for all.
  public let configuration: String?
  /// The versions that it has had, ascending; none if there is no store yet.
  public let schemas: [Schema]

  /// The name of its version.
  public var name: String? { schemas.last?.label }
  /// The number of its version, 0 if there is no store yet.
  public var version: Int { schemas.last?.version ?? 0 }

  init(_ storage: Storage) throws(StoreError) {
    // Opening the store checks whether a network file system is allowed.
    var options = StoreOptions()
    options.allowsNetworkFileSystems = true
    path = storage.path ?? ""
    configuration = storage.configuration
    var schemas: [Schema] = []
    if let path = storage.path {
      do throws(StoreError) {
        schemas = try PersistentStore.inspect(at: path, options: options).schemas
      } catch {
        guard case .missing = error else { throw error }
      }
    }
    self.schemas = schemas
  }

  /// Returns a model of the store's versions and of newer ones.
  func model(with versions: [ModelVersion]) throws(StoreError) -> StoreModel {
    try StoreModel(continuing: schemas, with: versions).part(configuration)
  }

  /// Returns true if the data model describes the store's version, by name and by structure.
  func isCompatible(with dataModel: DataModel) throws(StoreError) -> Bool {
    guard name == dataModel.name else { return false }
    let next = try model(with: [dataModel.version(version + 1)]).schemas()
    return next.last?.fingerprint == schemas.last?.fingerprint
  }
}

extension StoredModel: CustomStringConvertible {
  public var description: String {
    schemas.isEmpty
      ? "no store yet" : "\(name ?? "a version without a name"), version \(version) of the store"
  }
}

/// How a store becomes one of the data model.
public struct StoreMigration: Sendable {
  /// The versions after the store's, in order; the last is the data model's.
  public var versions: [ModelVersion]
  /// The steps that do not follow from the descriptions.
  public var steps: [MigrationStep]
  /// True to infer the migration if its steps cannot be taken, or one fails: then their changes are not made.
  public var lightWeightBackup: Bool

  /// Creates a migration to a data model in one step.
  ///
  /// - Parameters:
  ///   - dataModel: The data model.
  ///   - store: The store.
  ///   - step: The changes that do not follow from the descriptions.
  public init(
    to dataModel: DataModel, from store: StoredModel,
    @ListBuilder<MigrationStep.Part> step: () -> [MigrationStep.Part] = { [] }
  ) {
    let parts = step()
    versions = [dataModel.version(store.version + 1)]
    steps =
      parts.isEmpty
      ? [] : [MigrationStep(to: store.version + 1) { for part in parts { part } }]
    lightWeightBackup = false
  }

  init(versions: [ModelVersion], steps: [MigrationStep], lightWeightBackup: Bool) {
    self.versions = versions
    self.steps = steps
    self.lightWeightBackup = lightWeightBackup
  }
}

// MARK: - The policies

/// Never migrates.
public struct ErrorMigrationPolicy: MigrationPolicy {
  public func configureStoreDescription(_ description: inout StoreDescription) {
    description.migration = .refuse
  }

  public func resolveIncompatible(
    dataModel: DataModel, in store: StoredModel
  ) -> StoreMigration? { nil }
}

/// Infers the changes from the store's version to the data model, whichever version that is.
public struct LightWeightMigrationPolicy: MigrationPolicy {
  public init() {}

  public func resolveIncompatible(
    dataModel: DataModel, in store: StoredModel
  ) -> StoreMigration? { StoreMigration(to: dataModel, from: store) }
}

/// Migrates from each of some versions straight to the data model. Other versions are refused.
public struct AdHocMigrationPolicy: MigrationPolicy {
  let migrations: [AdHocMigration]
  let lightWeightBackup: Bool
  public let forceValidateModel: Bool

  public func resolveIncompatible(
    dataModel: DataModel, in store: StoredModel
  ) throws -> StoreMigration? {
    guard let migration = migrations.first(where: { $0.sourceName == store.name }) else {
      return lightWeightBackup ? StoreMigration(to: dataModel, from: store) : nil
    }
    return try migration.resolved(
      to: dataModel, in: store, lightWeightBackup: lightWeightBackup)
  }
}

/// Migrates through the versions of a chain, from the store's on; where an ad hoc migration leads from one of them to the
/// data model, that is taken instead of the rest of the chain.
public struct ChainMigrationPolicy: MigrationPolicy {
  let chain: MigrationChain
  let adHoc: [AdHocMigration]
  let lightWeightBackup: Bool
  public let forceValidateModel: Bool

  public func validateModel(_ dataModel: DataModel, in store: StoredModel) throws {
    try chain.validate(dataModel, in: store.configuration)
  }

  public func configureStoreDescription(_ description: inout StoreDescription) {
    // Faults of the chain are reported when the model is validated.
    guard let states = try? chain.states(in: description.storage.configuration) else { return }
    description.earlierVersions = states.dropLast().enumerated().map { $1.version($0 + 1) }
    description.prepareStore = states.last?.writeQueries
  }

  public func resolveIncompatible(
    dataModel: DataModel, in store: StoredModel
  ) throws -> StoreMigration? {
    if let place = chain.names.firstIndex(where: { $0 == store.name }) {
      return try chain.migration(
        to: dataModel, from: place, in: store, adHoc, lightWeightBackup: lightWeightBackup)
    }
    return try AdHocMigrationPolicy(
      migrations: adHoc, lightWeightBackup: lightWeightBackup,
      forceValidateModel: forceValidateModel
    ).resolveIncompatible(dataModel: dataModel, in: store)
  }
}

extension ErrorMigrationPolicy: CustomStringConvertible {
  public var description: String { ".error" }
}

extension LightWeightMigrationPolicy: CustomStringConvertible {
  public var description: String { ".lightWeight" }
}

extension AdHocMigrationPolicy: CustomStringConvertible {
  public var description: String { ".adHoc(migrations: \(migrations))" }
}

extension ChainMigrationPolicy: CustomStringConvertible {
  public var description: String {
    adHoc.isEmpty ? ".incremental(\(chain))" : ".composite(adHoc: \(adHoc), chain: \(chain))"
  }
}

// MARK: - By their names

extension MigrationPolicy where Self == ErrorMigrationPolicy {
  /// Never migrates: a store of another version is refused.
  public static var error: Self { ErrorMigrationPolicy() }
}

extension MigrationPolicy where Self == LightWeightMigrationPolicy {
  /// Infers the changes from the store's version to the data model.
  public static var lightWeight: Self { LightWeightMigrationPolicy() }
  /// Infers the changes from the store's version to the data model.
  public static var lightweight: Self { LightWeightMigrationPolicy() }
}

extension MigrationPolicy where Self == AdHocMigrationPolicy {
  /// Migrates from each of some versions straight to the data model.
  ///
  /// - Parameters:
  ///   - migrations: The migrations. The store itself describes the version that each leads from.
  ///   - lightWeightBackup: True to infer the changes if there is no migration from the store's version, or it cannot be done.
  ///   - forceValidateModel: True to validate the data model also for a store that is compatible. There is nothing to
  ///     validate without a chain.
  public static func adHoc(
    migrations: [AdHocMigration], lightWeightBackup: Bool = false, forceValidateModel: Bool = true
  ) -> Self {
    AdHocMigrationPolicy(
      migrations: migrations, lightWeightBackup: lightWeightBackup,
      forceValidateModel: forceValidateModel)
  }
}

extension MigrationPolicy where Self == ChainMigrationPolicy {
  /// Migrates version by version.
  ///
  /// - Parameters:
  ///   - chain: All versions, as changes from nothing. The last is the data model's.
  ///   - lightWeightBackup: True to infer the changes if the store's version is not in the chain, or a step cannot be taken.
  ///   - forceValidateModel: False to compare the chain's last version with the data model only if a store is created or
  ///     migrated, which saves less than a millisecond for one that is compatible.
  public static func incremental(
    _ chain: MigrationChain, lightWeightBackup: Bool = false, forceValidateModel: Bool = true
  ) -> Self {
    ChainMigrationPolicy(
      chain: chain, adHoc: [], lightWeightBackup: lightWeightBackup,
      forceValidateModel: forceValidateModel)
  }

  /// Migrates straight to the data model where an ad hoc migration leads there, and else version by version.
  ///
  /// - Parameters:
  ///   - adHoc: The shortcuts, from versions of the chain or others.
  ///   - chain: All versions, as changes from nothing. The last is the data model's.
  ///   - lightWeightBackup: True to infer the changes if the store's version is in neither, or a step cannot be taken.
  ///   - forceValidateModel: As for `.incremental`.
  public static func composite(
    adHoc: [AdHocMigration], chain: MigrationChain, lightWeightBackup: Bool = false,
    forceValidateModel: Bool = true
  ) -> Self {
    ChainMigrationPolicy(
      chain: chain, adHoc: adHoc, lightWeightBackup: lightWeightBackup,
      forceValidateModel: forceValidateModel)
  }
}
