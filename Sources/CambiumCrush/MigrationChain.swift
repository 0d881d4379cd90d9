public import Cambium

/// The changes from one version of a model to the next.
public struct ModelMigration: Sendable {
  /// The name of the version that it leads to.
  public let name: String
  let changes: [EntityChange]

  /// - Parameter name: The name of the version that it leads to.
  public init(
    _ name: String, @ListBuilder<any EntityMigration> _ changes: () -> [any EntityMigration]
  ) {
    self.name = name
    self.changes = changes().map(\.change)
  }
}

/// All versions of a model as changes, the first from nothing.
///
/// ```swift
/// let chain = MigrationChain {
///   ModelMigration("V1") { AddEntity("Note") { AddAttribute("text", type: .string) } }
///   ModelMigration("V2") { UpdateEntity("Note") { UpdateAttribute("text", name: "body") } }
/// }
/// ```
public struct MigrationChain: Sendable {
  let migrations: [ModelMigration]

  /// - Parameter migrations: The versions in order.
  public init(@ListBuilder<ModelMigration> _ migrations: () -> [ModelMigration]) {
    self.migrations = migrations()
  }

  /// The names of the versions.
  public var names: [String] { migrations.map(\.name) }
}

/// The changes from one version of a store straight to the data model.
public struct AdHocMigration: Sendable {
  /// The name of the version that it leads from.
  public let sourceName: String
  let changes: [EntityChange]

  /// - Parameter sourceName: The name of the version that it leads from.
  public init(
    _ sourceName: String, @ListBuilder<any EntityMigration> _ changes: () -> [any EntityMigration]
  ) {
    self.sourceName = sourceName
    self.changes = changes().map(\.change)
  }
}

// MARK: - As they are written

extension ModelMigration: CustomStringConvertible {
  public var description: String { "ModelMigration(\"\(name)\")" }
}

extension MigrationChain: CustomStringConvertible {
  /// The names of the versions in order, `V1 → V2`.
  public var description: String { names.joined(separator: " → ") }
}

extension AdHocMigration: CustomStringConvertible {
  public var description: String { "AdHocMigration(\"\(sourceName)\")" }
}

// MARK: - Errors

/// A change that cannot be made to the version before it.
public struct MigrationModelingError: Error, Hashable, Sendable {
  /// The name of the migration.
  public internal(set) var migration: String
  public let reason: String
}

extension MigrationModelingError: CustomStringConvertible {
  public var description: String {
    "The migration “\(migration)” is not valid: \(reason). Change the migration; nothing was changed in the store."
  }
}

/// The last version of a chain is not the data model.
public struct ChainMigratorIncompatibleModelError: Error, Hashable, Sendable {
  /// The name of the data model, and that of the chain's last version.
  public let model: String
  public let chain: String?
  /// The differences from the chain's last version to the data model.
  public let differences: [SchemaDifference]
}

extension ChainMigratorIncompatibleModelError: CustomStringConvertible {
  public var description: String {
    let names =
      chain == model
      ? "" : " It ends with \(chain ?? "nothing"), and the data model is called \(model)."
    return "The chain does not lead to the data model.\(names) "
      + (differences.isEmpty ? "" : differences.map(\.description).joined(separator: "; ") + ". ")
      + "Add a `ModelMigration` with these changes."
  }
}

// MARK: - Versions and steps

extension MigrationChain {
  /// Returns the model of all versions, numbered from 1, with the types of the data model for the last one: for everything
  /// that takes a model, such as `MigrationCheck`, a lock, or `PersistentStore` itself together with `steps()`.
  ///
  /// - Throws: `MigrationModelingError`, `ChainMigratorIncompatibleModelError`, `StoreError.invalidDescription`.
  public func storeModel(for dataModel: DataModel) throws -> StoreModel {
    try validate(dataModel, in: nil)
    return StoreModel(try versions(to: dataModel, after: 0, number: 0, in: nil))
  }

  /// Returns the steps that do not follow from the descriptions.
  ///
  /// - Throws: `MigrationModelingError`.
  public func steps() throws -> [MigrationStep] { try steps(after: 0, number: 0, in: nil) }

  /// Returns the states of all versions, or their parts in a configuration.
  ///
  /// - Throws: `MigrationModelingError`.
  func states(in configuration: String?) throws -> [ModelState] {
    var states: [ModelState] = []
    for migration in migrations {
      if names.count(where: { $0 == migration.name }) > 1 {
        throw MigrationModelingError(
          migration: migration.name, reason: "two versions have this name")
      }
      var state = states.last?.begun ?? ModelState()
      state.name = migration.name
      try state.apply(migration.changes, of: migration.name)
      states.append(state)
    }
    return states.map { $0.part(configuration) }
  }

  /// - Throws: `ChainMigratorIncompatibleModelError` if the last version is not the data model.
  func validate(_ dataModel: DataModel, in configuration: String?) throws {
    let states = try states(in: configuration)
    let versions = states.enumerated().map { $1.version($0 + 1) }
    let wanted = try dataModel.schema(in: configuration)
    let last = versions.isEmpty ? nil : try StoreModel(versions).schemas().last
    guard names.last == dataModel.name, last?.fingerprint == wanted.fingerprint else {
      throw ChainMigratorIncompatibleModelError(
        model: dataModel.name, chain: names.last,
        differences: last?.differences(to: wanted) ?? [])
    }
  }

  /// Returns the migration from one of the chain's versions, which a store has under a number of its own.
  func migration(
    to dataModel: DataModel, from place: Int, in store: StoredModel, _ adHoc: [AdHocMigration],
    lightWeightBackup: Bool
  ) throws -> StoreMigration {
    let configuration = store.configuration
    let states = try states(in: configuration)
    let described = try StoreModel(states.enumerated().map { $1.version($0 + 1) }).schemas()
    if let stored = store.schemas.last, described[place].fingerprint != stored.fingerprint {
      throw StoreError.schemaMismatch(
        version: stored.version, differences: stored.differences(to: described[place]))
    }
    // A chain that has nothing above the store's version has been validated, so that the store is compatible.
    let (count, number) = (place + 1, store.version)
    var steps = try steps(after: count, number: number, in: configuration)
    for migration in adHoc {
      guard let start = names.firstIndex(of: migration.sourceName), start >= place else { continue }
      var state = ModelState(naming: described[start])
      try state.apply(migration.changes, of: migration.sourceName)
      try state.check(against: dataModel.schema(in: configuration), of: migration.sourceName)
      let (from, to) = (start + number - place, names.count + number - count)
      steps.append(state.step(from: from, to: to, label: migration.sourceName))
    }
    return StoreMigration(
      versions: try versions(to: dataModel, after: count, number: number, in: configuration),
      steps: steps, lightWeightBackup: lightWeightBackup)
  }

  /// - Parameters:
  ///   - count: The number of versions that are left out.
  ///   - number: The number of the last one left out.
  private func versions(
    to dataModel: DataModel, after count: Int, number: Int, in configuration: String?
  ) throws -> [ModelVersion] {
    var versions: [ModelVersion] = []
    let states = try states(in: configuration).dropFirst(count)
    for (place, state) in states.enumerated() {
      let number = number + place + 1
      versions.append(
        place + 1 == states.count
          ? dataModel.version(number, origins: state.descriptions) : state.version(number))
    }
    return versions
  }

  private func steps(
    after count: Int, number: Int, in configuration: String?
  ) throws -> [MigrationStep] {
    let states = try states(in: configuration).dropFirst(count)
    return states.enumerated().compactMap { place, state in
      let number = number + place + 1
      return number == 1 || state.isInferred
        ? nil : state.step(from: number - 1, to: number, label: state.name)
    }
  }
}

extension AdHocMigration {
  /// Returns the migration of a store of its version. The store's own description is the source.
  func resolved(
    to dataModel: DataModel, in store: StoredModel, lightWeightBackup: Bool
  ) throws -> StoreMigration {
    let wanted = try dataModel.schema(in: store.configuration)
    var state = ModelState(naming: store.schemas.last)
    try state.apply(changes, of: sourceName)
    try state.check(against: wanted, of: sourceName)
    let number = store.version + 1
    let origins = state.descriptions.filter { state.isTouched($0.key) }
    return StoreMigration(
      versions: [dataModel.version(number, origins: origins)],
      steps: state.isInferred
        ? [] : [state.step(from: number - 1, to: number, label: sourceName)],
      lightWeightBackup: lightWeightBackup)
  }
}
