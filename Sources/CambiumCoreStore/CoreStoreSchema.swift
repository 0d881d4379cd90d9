public import Cambium

/// A type of a version, under its stored name.
public protocol DynamicEntity: Sendable {
  var entityName: String { get }
  var type: any Record.Type { get }
}

/// A type of a version, under its stored name.
///
/// The name is that of the type's description: its `RecordName`, or else the type's. Indexes, unique constraints and whether it is
/// abstract are in the description, too.
public struct Entity<Subject: Record>: DynamicEntity {
  public let entityName: String

  public var type: any Record.Type { Subject.self }

  public init(_ entityName: String) {
    self.entityName = entityName
  }
}

/// One version of a model, with types of its own.
///
/// ```swift
/// CoreStoreSchema(
///   modelVersion: "V1", entities: [Entity<V1.Laundry>("Laundry")],
///   versionLock: ["Laundry": [0x19d4…, 0x70b1…]])
/// ```
public struct CoreStoreSchema: Sendable {
  /// The name of the version, which stores keep as a label.
  public let modelVersion: String
  let entities: [any DynamicEntity]
  /// The entities of each configuration.
  let configurations: [String: [String]]
  let versionLock: VersionLock?

  /// Creates a version.
  ///
  /// - Parameter versionLock: The fingerprints that its entities must have; nil to have none checked. If one differs, adding a
  ///   storage throws the right ones.
  public init(
    modelVersion: String, entities: [any DynamicEntity], versionLock: VersionLock? = nil
  ) {
    self.init(modelVersion, entities, [:], versionLock)
  }

  /// Creates a version whose entities are in several stores.
  ///
  /// - Parameter entityConfigurations: The entities of each configuration.
  public init(
    modelVersion: String, entityConfigurations: [String: [any DynamicEntity]],
    versionLock: VersionLock? = nil
  ) {
    var entities: [String: any DynamicEntity] = [:]
    for entity in entityConfigurations.values.joined() { entities[entity.entityName] = entity }
    self.init(
      modelVersion, entities.sorted { $0.key < $1.key }.map(\.value),
      entityConfigurations.mapValues { $0.map(\.entityName) }, versionLock)
  }

  private init(
    _ modelVersion: String, _ entities: [any DynamicEntity], _ configurations: [String: [String]],
    _ versionLock: VersionLock?
  ) {
    self.modelVersion = modelVersion
    self.entities = entities
    self.configurations = configurations
    self.versionLock = versionLock
  }

  /// Returns the core's version.
  ///
  /// - Throws: `CoreStoreError.invalidHistory` if an entity's name is not that of its type's records.
  func version(_ number: Int) throws(CoreStoreError) -> ModelVersion {
    for entity in entities {
      let name = entity.type.recordName(in: number)
      guard name == entity.entityName else {
        throw .invalidHistory(
          "\(modelVersion): \(entity.type) is stored as “\(name)”, not as “\(entity.entityName)”; its description may say RecordName(\"\(entity.entityName)\")"
        )
      }
    }
    let types = Dictionary(entities.map { ($0.entityName, $0.type) }) { one, _ in one }
    return ModelVersion(
      number, label: modelVersion, records: entities.map(\.type),
      configurations: configurations.mapValues { $0.compactMap { types[$0] } })
  }
}

extension CoreStoreSchema: CustomStringConvertible {
  /// The version and its entities: `CoreStoreSchema "V1": Laundry, LaundryData`.
  public var description: String {
    "CoreStoreSchema \"\(modelVersion)\": "
      + entities.map(\.entityName).joined(separator: ", ")
  }
}
