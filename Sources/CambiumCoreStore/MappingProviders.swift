public import Cambium

/// The part of a migration from one version to another that does not follow from their descriptions.
///
/// A `MigrationStep` of the core is one, too: for splits, merges and everything that mappings cannot say.
public protocol SchemaMappingProvider: Sendable {
  /// Returns the step; nil if everything is inferred.
  func migrationStep(in history: SchemaHistory) throws -> MigrationStep?

  /// Returns true if the provider is for an edge of the chain.
  func leads(from old: String, to new: String, in history: SchemaHistory) -> Bool
}

/// A migration that follows from the descriptions: the default.
public struct InferredSchemaMappingProvider: SchemaMappingProvider {
  public init() {}

  public func migrationStep(in history: SchemaHistory) -> MigrationStep? { nil }

  public func leads(from old: String, to new: String, in history: SchemaHistory) -> Bool { false }
}

extension MigrationStep: SchemaMappingProvider {
  public func migrationStep(in history: SchemaHistory) -> MigrationStep? { self }

  public func leads(from old: String, to new: String, in history: SchemaHistory) -> Bool {
    (try? history.number(of: new)) == to
  }
}

/// A migration whose entities are mapped one by one. Those that no mapping names are inferred.
///
/// ```swift
/// CustomSchemaMappingProvider(from: "V1", to: "V2", entityMappings: [
///   .transformEntity(sourceEntity: "Person", destinationEntity: "Person") { source, create in
///     let person = create()
///     person["fullName"] = .string("\(try source["first", as: String.self]) \(try source["last", as: String.self])")
///   }
/// ])
/// ```
public struct CustomSchemaMappingProvider: SchemaMappingProvider {
  private let from: String
  private let to: String
  private let revision: Int
  private let mappings: [CustomMapping]

  /// - Parameters:
  ///   - revision: The revision of the transformers, which cannot be compared: raise it when you change one, so that a migration
  ///     that was interrupted begins again.
  ///   - entityMappings: The mappings. An entity may be the source of several transformations, and the destination, too.
  public init(
    from old: String, to new: String, revision: Int = 0, entityMappings: [CustomMapping] = []
  ) {
    from = old
    to = new
    self.revision = revision
    mappings = entityMappings
  }

  public func leads(from old: String, to new: String, in history: SchemaHistory) -> Bool {
    from == old && to == new
  }

  /// - Throws: `CoreStoreError.invalidMapping` if a mapping names a declaration that the versions do not have, or is
  ///   wrong about an entity.
  public func migrationStep(in history: SchemaHistory) throws -> MigrationStep? {
    let (old, new) = (try history.schema(of: from), try history.schema(of: to))
    let changes = try history.differences(from: from, to: to)
    let versions = MappedVersions(old: old, new: new, changes: changes)
    for mapping in mappings { try mapping.check(versions) }
    let bySource = Dictionary(
      grouping: mappings.compactMap { $0.transformation(versions) }, by: \.source)
    let transforms = bySource.sorted { $0.key < $1.key }.map { source, parts in
      var targets: [String] = []
      for part in parts where !targets.contains(part.destination) {
        targets.append(part.destination)
      }
      return TransformRecords(source, into: targets) { old, emit in
        for part in parts { try part.run(old, emit) }
      }
    }
    return MigrationStep(
      from: old.version, to: new.version, label: "\(from) → \(to)", revision: revision
    ) {
      for transform in transforms { transform }
    }
  }
}
