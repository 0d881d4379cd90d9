/// The way from a path or a medium to an open store.
struct StoreOpening {
  let model: StoreModel
  /// The model checked for a store without a schema.
  let checked: CheckedModel
  let steps: [MigrationStep]
  let mode: MigrationMode
  let options: StoreOptions

  /// An open store.
  struct Opened {
    let backend: any StoreBackend
    let entities: Entities
    /// The path of the earlier store that was renamed; nil if none was.
    var setAside: String?
  }

  /// - Throws: `.invalidDescription`.
  init(
    _ model: StoreModel, steps: [MigrationStep] = [], _ mode: MigrationMode, _ options: StoreOptions
  ) throws(StoreError) {
    self.model = model
    self.steps = steps
    self.mode = mode
    self.options = options
    checked = try model.checked()
  }

  /// The check of a store before anything is written to it.
  var check: SchemaCheck {
    SchemaCheck(
      model: model, fresh: checked, steps: steps, mode: mode, options: options.migration,
      allowsMigrationAfterRollback: options.allowsMigrationAfterRollback)
  }

  /// Opens the store in a directory; puts it aside where the options say so, and makes another.
  func open(at path: String) throws(StoreError) -> Opened {
    if options.access == .reading {
      let backend = try ReadingBackend(at: path, options)
      let opened = try open(backend)
      backend.refuseOtherVersions(
        than: try StoredSchemas(backend).newest()?.version ?? 0, supporting: model.version)
      return opened
    }
    do throws(StoreError) {
      return try open(try EngineBackend(at: path, options, check: check))
    } catch {
      guard case .schemaMismatch(let version, _) = error, options.access == .writing,
        options.schemaMismatchPolicy.setsAside(version)
      else { throw error }
    }
    let other = try EngineBackend.setAside(path, options)
    var opened = try open(try EngineBackend(at: path, options, check: check))
    opened.setAside = other
    return opened
  }

  /// Compares the model with what the store says of itself, and migrates it where that is due.
  func open(_ backend: any StoreBackend) throws(StoreError) -> Opened {
    do throws(StoreError) {
      let entities = try SchemaOpening(
        backend: backend, model: model, fresh: checked, steps: steps, mode: mode,
        options: options.migration,
        allowsMigrationAfterRollback: options.allowsMigrationAfterRollback,
        trace: MigrationTrace(options.logger)
      ).run()
      return Opened(backend: backend, entities: entities)
    } catch {
      try? backend.close()
      throw error
    }
  }
}
