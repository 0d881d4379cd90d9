public import Cambium

/// All versions of a model, and the chain in which stores are migrated.
public struct SchemaHistory: Sendable, ExpressibleByArrayLiteral {
  private let schemas: [CoreStoreSchema]
  public let migrationChain: MigrationChain
  private let exactCurrentModelVersion: String?

  /// Creates a history.
  ///
  /// - Parameters:
  ///   - allSchema: All versions that stores may have, oldest first. Never remove or reorder one: its place is its number.
  ///   - migrationChain: The chain. The version at its end is the current one.
  ///   - exactCurrentModelVersion: The current version, if it is another one. If the chain leads back to it, newer stores are
  ///     migrated back.
  public init(
    allSchema: [CoreStoreSchema], migrationChain: MigrationChain = nil,
    exactCurrentModelVersion: String? = nil
  ) {
    schemas = allSchema
    self.migrationChain = migrationChain
    self.exactCurrentModelVersion = exactCurrentModelVersion
  }

  public init(arrayLiteral schemas: CoreStoreSchema...) { self.init(allSchema: schemas) }
}

extension SchemaHistory {
  /// The name of the current version.
  ///
  /// - Throws: `CoreStoreError.invalidHistory` if there is not exactly one.
  public var currentModelVersion: String {
    get throws(CoreStoreError) {
      if let exactCurrentModelVersion { return exactCurrentModelVersion }
      let leaves =
        migrationChain.versions.isEmpty ? schemas.map(\.modelVersion) : migrationChain.leaves
      guard let leaf = leaves.first, leaves.count == 1 else {
        throw .invalidHistory(
          "the chain has to end with one version, and these are not followed by another: \(leaves.joined(separator: ", "))"
        )
      }
      return leaf
    }
  }

  /// Returns the number under which stores count a version: its place.
  ///
  /// - Throws: `CoreStoreError.invalidHistory` if there is no such version.
  public func number(of modelVersion: String) throws(CoreStoreError) -> Int {
    guard let index = schemas.firstIndex(where: { $0.modelVersion == modelVersion }) else {
      throw .invalidHistory("there is no schema for the version \(modelVersion)")
    }
    return index + 1
  }

  /// Returns the name of the version that stores count under a number.
  func name(of number: Int) -> String {
    schemas.indices.contains(number - 1) ? schemas[number - 1].modelVersion : "\(number)"
  }

  /// The model of all versions, also those after the current one.
  private var wholeModel: StoreModel {
    get throws(CoreStoreError) { StoreModel(try versions()) }
  }

  private func versions() throws(CoreStoreError) -> [ModelVersion] {
    var versions: [ModelVersion] = []
    for (index, schema) in schemas.enumerated() { versions.append(try schema.version(index + 1)) }
    return versions
  }

  /// Returns the core's model, up to the current version.
  ///
  /// - Throws: `CoreStoreError.invalidHistory` if versions, entities or chain are wrong; `.versionLockMismatch`;
  ///   `StoreError.invalidDescription`.
  public func model() throws -> StoreModel {
    try check()
    let current = try number(of: try currentModelVersion)
    return StoreModel(Array(try versions().prefix(current)))
  }

  /// Returns how the store describes a version.
  ///
  /// - Throws: As `model()`.
  public func schema(of modelVersion: String) throws -> Schema {
    let schemas = try wholeModel.schemas()
    return schemas[try number(of: modelVersion) - 1]
  }

  /// Returns the fields and records that were renamed between two versions.
  func differences(from old: String, to new: String) throws -> [SchemaDifference] {
    let (old, new) = (try number(of: old), try number(of: new))
    return old < new ? try wholeModel.changes(from: old, to: new) : []
  }
}

extension SchemaHistory {
  /// Returns the lock of the current version if its schema has none; nil if it has one.
  ///
  /// - Throws: As `model()`.
  func missingLock() throws -> VersionLock? {
    let current = try currentModelVersion
    guard schemas[try number(of: current) - 1].versionLock == nil else { return nil }
    return VersionLock(try schema(of: current))
  }
}

extension SchemaHistory: CustomStringConvertible {
  /// The versions, and the chain if there is one: `"V1", "V2", migrated by ["V1", "V2"]`.
  public var description: String {
    let names = schemas.map { "\"\($0.modelVersion)\"" }.joined(separator: ", ")
    return migrationChain.versions.isEmpty ? names : "\(names), migrated by \(migrationChain)"
  }
}

// MARK: - Checking

extension SchemaHistory {
  /// Refuses versions, a chain or locks that cannot be meant so.
  private func check() throws {
    var names: Set<String> = []
    for schema in schemas where !names.insert(schema.modelVersion).inserted {
      throw CoreStoreError.invalidHistory("two schemas are named \(schema.modelVersion)")
    }
    if let fault = migrationChain.fault { throw CoreStoreError.invalidHistory(fault) }
    for edge in try edges() where exactCurrentModelVersion == nil {
      if try number(of: edge.from) > number(of: edge.to) {
        throw CoreStoreError.invalidHistory(
          "\(edge.from) → \(edge.to) leads back: name the schemas oldest first, or state exactCurrentModelVersion"
        )
      }
    }
    if schemas.contains(where: { $0.versionLock != nil }) { try checkLocks() }
  }

  private func checkLocks() throws {
    for (locked, schema) in zip(schemas, try wholeModel.schemas()) {
      let now = VersionLock(schema)
      guard let lock = locked.versionLock, lock != now else { continue }
      throw CoreStoreError.versionLockMismatch(modelVersion: locked.modelVersion, versionLock: now)
    }
  }

  /// The edges of the chain over which the current version is reached.
  func edges() throws(CoreStoreError) -> [(from: String, to: String)] {
    migrationChain.edges(to: try currentModelVersion)
  }

  /// Returns the steps of the chain that are not inferred from one version to the next.
  ///
  /// - Throws: Errors of a provider.
  func steps(_ providers: [any SchemaMappingProvider]) throws -> [MigrationStep] {
    var steps: [MigrationStep] = []
    for provider in providers {
      if let step = try provider.migrationStep(in: self) { steps.append(step) }
    }
    for edge in try edges() {
      let (from, to) = (try number(of: edge.from), try number(of: edge.to))
      let isGiven = providers.contains { $0.leads(from: edge.from, to: edge.to, in: self) }
      if !isGiven, to != from + 1 { steps.append(MigrationStep(from: from, to: to)) }
    }
    return steps
  }
}
