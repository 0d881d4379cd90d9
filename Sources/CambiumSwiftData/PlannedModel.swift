internal import Cambium

/// The versions and stages of a container, as the core has them.
struct PlannedModel {
  let versions: [ModelVersion]
  private let stages: [(stage: MigrationStage, from: Int, to: Int)]
  /// The names of the configurations of which each version has a part.
  private let parts: [ModelConfiguration]

  /// - Throws: `SwiftDataError`.
  init(
    _ types: [any PersistentModel.Type], _ plan: (any SchemaMigrationPlan.Type)?,
    _ configurations: [ModelConfiguration]
  ) throws {
    let schemas: [(label: String?, models: [any PersistentModel.Type])] =
      plan?.schemas.map { ($0.label, $0.models) } ?? [(nil, types)]
    let newest = schemas.last?.models ?? []
    for type in types where !newest.contains(where: { $0 == type }) {
      throw SwiftDataError.unknownSchema("\(type)")
    }
    let count = schemas.count
    let parts = configurations.filter { $0.schema != nil }
    versions = schemas.enumerated().map { index, schema in
      let members = parts.map { part in
        (part.name, schema.models.filter { part.contains($0, in: index + 1, newest: count) })
      }
      return ModelVersion(
        index + 1, label: schema.label, records: schema.models,
        configurations: Dictionary(members) { one, _ in one })
    }
    stages = try plan.map { try Self.stages(of: $0) } ?? []
    self.parts = parts
  }

  private static func stages(
    of plan: any SchemaMigrationPlan.Type
  ) throws -> [(stage: MigrationStage, from: Int, to: Int)] {
    let schemas = plan.schemas
    func place(of schema: any VersionedSchema.Type) throws -> Int {
      guard let index = schemas.firstIndex(where: { $0 == schema }) else {
        throw SwiftDataError.unknownSchema("\(schema)")
      }
      return index
    }
    return try plan.stages.map { ($0, try place(of: $0.from), try place(of: $0.to)) }
  }

  /// The types of the newest version in a configuration.
  func types(in configuration: ModelConfiguration) -> [any PersistentModel.Type] {
    versions.last.map { types(of: $0, in: configuration) } ?? []
  }

  private func types(
    of version: ModelVersion, in configuration: ModelConfiguration
  ) -> [any PersistentModel.Type] {
    version.configurations[configuration.name] ?? version.records
  }

  /// The model of a configuration, up to a version.
  func model(
    of configuration: ModelConfiguration, upTo version: Int? = nil
  ) throws(StoreError) -> StoreModel {
    let model = StoreModel(Array(versions.prefix(version ?? versions.count)))
    return configuration.schema == nil ? model : try model.configuration(configuration.name)
  }

  /// The steps of a configuration, up to a version.
  func steps(of configuration: ModelConfiguration, upTo version: Int? = nil) -> [MigrationStep] {
    stages.filter { max($0.from, $0.to) < version ?? versions.count }.compactMap { stage in
      func part(_ index: Int) -> ModelVersion {
        let version = versions[index]
        return ModelVersion(version.number, records: types(of: version, in: configuration))
      }
      return stage.stage.step(from: part(stage.from), to: part(stage.to))
    }
  }

  /// The stage that leads to a version, if it is lightweight or not stated.
  func inferredStage(to version: Int) -> String? {
    let leading = stages.filter { $0.to == version - 1 }
    if leading.contains(where: { $0.stage.isCustom }) { return nil }
    return leading.first?.stage.label ?? "\(version - 1) → \(version)"
  }
}

extension PlannedModel {
  /// Throws the error that prevents the migration of a configuration's store, with the name of the stage. A store that
  /// does not exist is skipped.
  ///
  /// - Throws: `SwiftDataError`, `StoreError`.
  func checkMigration(of configuration: ModelConfiguration) throws {
    func plan(upTo version: Int?) throws(StoreError) -> MigrationPlan {
      try PersistentStore.migration(
        at: configuration.path, to: try model(of: configuration, upTo: version),
        steps: steps(of: configuration, upTo: version), options: configuration.storeOptions
      ).plan
    }
    let whole: MigrationPlan
    do {
      whole = try plan(upTo: nil)
    } catch .missing {
      return
    } catch {
      throw SwiftDataError(error) ?? error
    }
    guard !whole.faults.isEmpty else { return }
    for version in whole.from..<whole.to {
      let faults = try plan(upTo: version + 1).faults
      guard !faults.isEmpty else { continue }
      guard let stage = inferredStage(to: version + 1) else { break }
      throw SwiftDataError.lightweightStage(stage, reasons: faults.map(\.description))
    }
    throw StoreError.cannotMigrate(
      from: whole.from, to: whole.to, reasons: whole.faults.map(\.description))
  }
}
