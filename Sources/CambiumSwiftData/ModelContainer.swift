public import Cambium

/// The stores of a schema, opened and migrated together.
///
/// ```swift
/// let container = try ModelContainer(for: Trip.self, migrationPlan: TripsMigrationPlan.self)
/// let context = ModelContext(container)
/// context.insert(Trip(name: "Coast"))
/// try context.save()
/// ```
public final class ModelContainer: Sendable {
  public let configurations: [ModelConfiguration]
  public let migrationPlan: (any SchemaMigrationPlan.Type)?
  private let members: [Member]

  /// A store, and the types that it has.
  private struct Member {
    let configuration: ModelConfiguration
    let types: [any PersistentModel.Type]
    let store: PersistentStore
  }

  /// Opens the stores of the configurations, or creates them, and migrates those of older versions.
  ///
  /// All migrations are planned before the first begins: if one of them cannot be done, no store is changed.
  ///
  /// - Parameters:
  ///   - types: Without a plan, all types of the only version. With one, types of its newest version, of which all are
  ///     opened.
  ///   - configurations: The stores; without any, `ModelConfiguration()`.
  /// - Throws: `SwiftDataError`; `StoreError` as `PersistentStore.init(at:model:steps:migration:options:)`. No store is then
  ///   left open.
  public convenience init(
    for types: any PersistentModel.Type..., migrationPlan: (any SchemaMigrationPlan.Type)? = nil,
    configurations: ModelConfiguration...
  ) throws {
    try self.init(for: types, migrationPlan: migrationPlan, configurations: configurations)
  }

  /// Opens the stores of the configurations in an array.
  public init(
    for types: [any PersistentModel.Type],
    migrationPlan: (any SchemaMigrationPlan.Type)? = nil, configurations: [ModelConfiguration]
  ) throws {
    let configurations = configurations.isEmpty ? [ModelConfiguration()] : configurations
    let planned = try PlannedModel(types, migrationPlan, configurations)
    try Self.check(configurations, planned)
    for configuration in configurations
    where !configuration.isStoredInMemoryOnly && configuration.allowsSave {
      try planned.checkMigration(of: configuration)
    }
    var members: [Member] = []
    do {
      for configuration in configurations {
        members.append(
          Member(
            configuration: configuration, types: planned.types(in: configuration),
            store: try Self.open(configuration, planned)))
      }
    } catch {
      for member in members { try? member.store.close() }
      throw SwiftDataError(error) ?? error
    }
    self.configurations = configurations
    self.migrationPlan = migrationPlan
    self.members = members
  }

  private static func open(
    _ configuration: ModelConfiguration, _ planned: PlannedModel
  ) throws(StoreError) -> PersistentStore {
    let model = try planned.model(of: configuration)
    if configuration.isStoredInMemoryOnly {
      return try PersistentStore(inMemory: model, options: configuration.options)
    }
    return try PersistentStore(
      at: configuration.path, model: model, steps: planned.steps(of: configuration),
      options: configuration.storeOptions)
  }

  private static func check(
    _ configurations: [ModelConfiguration], _ planned: PlannedModel
  ) throws(SwiftDataError) {
    var names: Set<String> = []
    let known = Set(
      planned.versions.flatMap { version in
        version.records.map { $0.recordName(in: version.number) }
      })
    for configuration in configurations {
      let name = configuration.name
      guard names.insert(name).inserted else { throw .duplicateConfiguration(name) }
      if name.isEmpty || name.contains(where: { $0 == "/" || $0 == "\0" }) {
        throw .configurationFileNameContainsInvalidCharacters(name)
      }
      for type in configuration.schema ?? []
      where !known.contains(type.recordName(in: planned.versions.count)) {
        throw .configurationSchemaNotFoundInContainerSchema(configuration: name, model: "\(type)")
      }
    }
  }
}

extension ModelContainer {
  /// Returns the core's store that has the records of a type: for everything that a context does not offer.
  ///
  /// - Throws: `SwiftDataError.unknownSchema` if no store has them. If several have, the first configuration's is returned.
  public func store(for type: any PersistentModel.Type) throws(SwiftDataError) -> PersistentStore {
    for member in members where member.types.contains(where: { $0 == type }) {
      return member.store
    }
    throw .unknownSchema("\(type)")
  }

  /// Closes all stores. Nothing is lost without it, but the next opening then takes longer.
  ///
  /// - Throws: The first error; the other stores are closed nevertheless.
  public func close() throws(StoreError) {
    var failure: StoreError?
    for member in members {
      do throws(StoreError) { try member.store.close() } catch { failure = failure ?? error }
    }
    if let failure { throw failure }
  }
}

extension ModelContainer: CustomStringConvertible {
  /// The configurations, each with its types.
  public var description: String {
    let stores = members.map { member in
      "\(member.configuration): "
        + member.types.map { String(describing: $0) }.joined(separator: ", ")
    }
    return "ModelContainer of \(stores.joined(separator: "; "))"
  }
}
