public import Cambium

/// The errors of containers that are not the core's.
@nonexhaustive public enum SwiftDataError: Error, Hashable, Sendable {
  /// The store has a newer version than the plan.
  case backwardMigration(found: Int, supported: Int)
  /// The store describes its version differently than the plan does.
  case unknownDataStoreSchema(version: Int, differences: [SchemaDifference])
  /// A stage that is declared as lightweight cannot be inferred, or would refuse records that a custom one could change before.
  case lightweightStage(String, reasons: [String])
  /// A stage names a version that the plan does not have, or the container a model that its version does not have.
  case unknownSchema(String)
  /// Two configurations have one name.
  case duplicateConfiguration(String)
  /// A name without a URL would not be a single directory.
  case configurationFileNameContainsInvalidCharacters(String)
  /// A configuration names a model that no version of the container has.
  case configurationSchemaNotFoundInContainerSchema(configuration: String, model: String)
}

extension SwiftDataError {
  /// The name that SwiftData has for an error of the core; nil if it has none.
  init?(_ error: StoreError) {
    switch error {
    case .newerSchema(let found, let supported):
      self = .backwardMigration(found: found, supported: supported)
    case .schemaMismatch(let version, let differences):
      self = .unknownDataStoreSchema(version: version, differences: differences)
    default: return nil
    }
  }
}

extension SwiftDataError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .backwardMigration(let found, let supported):
      "The store has version \(found), and the plan ends with version \(supported). Use a newer release of the program."
    case .unknownDataStoreSchema(let version, let differences):
      "The store describes version \(version) differently than the plan: "
        + differences.map(\.description).joined(separator: "; ")
    case .lightweightStage(let stage, let reasons):
      "The stage \(stage) cannot be lightweight; make it custom: \(reasons.joined(separator: "; "))"
    case .unknownSchema(let name):
      "\(name) is not in the migration plan, or not in its newest version."
    case .duplicateConfiguration(let name): "Two configurations are named “\(name)”."
    case .configurationFileNameContainsInvalidCharacters(let name):
      "“\(name)” is not the name of one directory; give the configuration a URL."
    case .configurationSchemaNotFoundInContainerSchema(let configuration, let model):
      "The configuration “\(configuration)” names \(model), which no version of the container has."
    }
  }
}
